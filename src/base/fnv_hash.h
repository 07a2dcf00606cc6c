// SPDX-License-Identifier: Apache-2.0
// FNV-1a with 64 bits: the same in every process and release, so it can be stored. It is not
// collision resistant: anybody can choose strings with equal hashes.
#pragma once

#include <cstdint>
#include <string_view>

namespace stator {

inline constexpr uint64_t kFnvStart = 0xcbf29ce484222325;

// Hashes `text`, or continues `hash`, the hash of the preceding part of the string.
constexpr uint64_t fnv_hash(std::string_view text, uint64_t hash = kFnvStart) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace stator
