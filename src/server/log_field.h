// SPDX-License-Identifier: Apache-2.0
// Fields of log lines with untrusted text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stator::server {

inline constexpr std::size_t kLogFieldBytesMax = 255;

// The same for text and JSON: truncated, and without quotes, backslashes, equals signs, spaces and
// control characters.
std::string log_field(std::string_view text);

}  // namespace stator::server
