// SPDX-License-Identifier: Apache-2.0
// The memory that a store fills with blocks that it has read, unless its options say.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace stator {

// An eighth of `memory_bytes`, but 64 MB to 8 GB.
constexpr std::size_t cache_bytes_of(uint64_t memory_bytes) {
  constexpr uint64_t kLeast = 64UL << 20;
  constexpr uint64_t kMost = 8UL << 30;
  return std::clamp(memory_bytes / 8, kLeast, kMost);
}

}  // namespace stator
