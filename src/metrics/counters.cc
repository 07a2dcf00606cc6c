// SPDX-License-Identifier: Apache-2.0
#include "metrics/counters.h"

#include <new>

namespace stator::metrics {
namespace {

constexpr std::size_t kCellsPerLine = 64 / sizeof(uint64_t);

}  // namespace

Counters::Counters(std::size_t count)
    : stride_((count + kCellsPerLine - 1) / kCellsPerLine * kCellsPerLine + kCellsPerLine),
      cells_(static_cast<std::atomic<uint64_t>*>(
          std::calloc(stride_ * kShards, sizeof(std::atomic<uint64_t>)))) {
  if (!cells_) throw std::bad_alloc();
}

uint64_t Counters::total(std::size_t counter) const {
  uint64_t sum = 0;
  for (std::size_t shard = 0; shard < kShards; ++shard) {
    sum += cells_[shard * stride_ + counter].load(std::memory_order_relaxed);
  }
  return sum;
}

std::size_t Counters::this_shard() {
  static std::atomic<std::size_t> next = 0;
  thread_local const std::size_t shard = next.fetch_add(1, std::memory_order_relaxed) % kShards;
  return shard;
}

}  // namespace stator::metrics
