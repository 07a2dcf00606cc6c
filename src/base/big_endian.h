// SPDX-License-Identifier: Apache-2.0
// Unsigned integers as bytes, the most significant one first, so that they sort as the numbers do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stator {

// Overwrites `size` bytes with the lowest bytes of `value`.
inline void put_big_endian(char* to, std::size_t size, uint64_t value) {
  for (std::size_t i = size; i-- > 0; value >>= 8) to[i] = static_cast<char>(value);
}

inline void append_big_endian(std::string& bytes, uint64_t value) {
  for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(value >> shift));
}
inline void append_big_endian(std::string& bytes, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(value >> shift));
}

// `bytes`: up to 8.
inline uint64_t read_big_endian(std::string_view bytes) {
  uint64_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

}  // namespace stator
