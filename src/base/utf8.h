// SPDX-License-Identifier: Apache-2.0
// Character boundaries in UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace stator {

// Whether the byte is one of a character's bytes after its first.
constexpr bool is_utf8_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

// The longest prefix of at most `max` bytes that ends at a character boundary.
constexpr std::string_view utf8_prefix(std::string_view text, std::size_t max) {
  if (text.size() <= max) return text;
  while (max > 0 && is_utf8_continuation(text[max])) --max;
  return text.substr(0, max);
}

}  // namespace stator
