// SPDX-License-Identifier: Apache-2.0
// MemoryPlan: the division of a server's usable memory. docs/operations.md lists the parts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace stator::server {

struct MemoryPlan {
  std::size_t cache_bytes = 0;         // of data read from the data directory
  std::size_t vector_cache_bytes = 0;  // of vectors that are searched often
  std::size_t write_buffer_bytes = 0;  // of each of two tables that are not yet in files
  std::size_t queue_bytes_max = 0;     // of writes that wait for the disk
  std::size_t held_bytes_max = 0;      // of requests, responses, and the handling of large ones
  std::size_t connections_max = 0;
};

// The memory of a connection with its buffer, before large requests.
constexpr uint64_t kConnectionBytes = 8UL << 10;
constexpr uint64_t kTlsConnectionBytes = 48UL << 10;

constexpr MemoryPlan plan_memory(uint64_t memory_bytes,
                                 uint64_t connection_bytes = kConnectionBytes) {
  constexpr uint64_t kMegabyte = 1UL << 20;
  const uint64_t sixteenth = std::clamp(memory_bytes / 16, 4 * kMegabyte, 64 * kMegabyte);
  return {
      .cache_bytes = std::clamp(memory_bytes / 8, 8 * kMegabyte, 8192 * kMegabyte),
      .vector_cache_bytes = std::clamp(memory_bytes / 8, 4 * kMegabyte, 8192 * kMegabyte),
      .write_buffer_bytes = sixteenth,
      .queue_bytes_max = sixteenth,
      .held_bytes_max = std::clamp(memory_bytes / 8 * 3, 16 * kMegabyte, 1024 * kMegabyte),
      .connections_max = std::clamp<uint64_t>(memory_bytes / 16 / connection_bytes, 64, 20'000)};
}

}  // namespace stator::server
