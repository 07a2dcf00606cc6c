// SPDX-License-Identifier: Apache-2.0
// Base64 with padding, RFC 4648 section 4.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "stator/result.h"

namespace stator::wire {

inline constexpr std::size_t base64_length(std::size_t byte_count) {
  return (byte_count + 2) / 3 * 4;
}

// Writes base64_length(bytes.size()) characters and returns their end.
char* write_base64(char* out, std::string_view bytes);
std::string to_base64(std::string_view bytes);

// Errors: kSerialization for invalid characters, missing padding and nonzero trailing bits.
Result<std::string> from_base64(std::string_view text);

}  // namespace stator::wire
