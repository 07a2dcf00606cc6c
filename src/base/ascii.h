// SPDX-License-Identifier: Apache-2.0
// Classes and lower case of ASCII characters, in every locale. Other bytes are in no class and are
// returned unchanged.
#pragma once

#include <string>
#include <string_view>

namespace stator {

constexpr bool is_ascii_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_ascii_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
constexpr bool is_ascii_alphanumeric(char c) {
  return is_ascii_letter(c) || is_ascii_digit(c);
}

constexpr char ascii_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
inline std::string ascii_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = ascii_lower(c);
  return lower;
}

}  // namespace stator
