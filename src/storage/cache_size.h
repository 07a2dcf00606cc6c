// SPDX-License-Identifier: Apache-2.0
// The default size of a store's cache of blocks.
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

}  // namespace stator
