// SPDX-License-Identifier: Apache-2.0
// Parts of HTTP messages that need no library: header names, the head of an answer.
#pragma once

#include <string>
#include <string_view>

namespace stator::http {

struct Response;

bool equals_ignoring_case(std::string_view text, std::string_view lower_text);

// What the answer says of the connection's future; HTTP/1.0 clients must be told that it stays.
enum class Persistence { kKeepAlive, kStatedKeepAlive, kClose };

// Replaces `out` by status line and headers, up to the empty line.
void write_head(const Response& response, Persistence persistence, std::string& out);

}  // namespace stator::http
