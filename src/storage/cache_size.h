// SPDX-License-Identifier: Apache-2.0
// The sizes of a store's caches.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace stator {

// An eighth of `memory_bytes`, at least 8 MB and at most 8 GB.
constexpr std::size_t cache_bytes_of(uint64_t memory_bytes) {
  constexpr uint64_t kLeast = 8UL << 20;
  constexpr uint64_t kMost = 8UL << 30;
  return std::clamp(memory_bytes / 8, kLeast, kMost);
}

// Bytes of the caches for single rows. The rest is for the blocks of table files.
constexpr std::size_t row_cache_bytes_of(std::size_t cache_bytes) {
  return cache_bytes / 4;
}

}  // namespace stator
