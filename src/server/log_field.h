// SPDX-License-Identifier: Apache-2.0
// Fields of log lines with untrusted text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stator::server {

inline constexpr std::size_t kLogFieldBytesMax = 255;

// Returns the field for text and JSON: truncated, and with `?` for quotes, backslashes, equals
// signs, spaces, control characters and non-ASCII bytes.
std::string log_field(std::string_view text);

}  // namespace stator::server
