// SPDX-License-Identifier: Apache-2.0
// Parts of HTTP messages that need no library: header names, the head of a response.
#pragma once

#include <string>
#include <string_view>

namespace stator::http {

struct Response;

bool equals_ignoring_case(std::string_view text, std::string_view lower_text);

// The response's Connection header; HTTP/1.0 clients need an explicit keep-alive.
enum class Persistence { kKeepAlive, kStatedKeepAlive, kClose };

// Replaces `out` by the status line and headers, up to and including the empty line.
void write_head(const Response& response, Persistence persistence, std::string& out);

}  // namespace stator::http
