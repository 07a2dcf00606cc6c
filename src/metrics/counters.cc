// SPDX-License-Identifier: Apache-2.0
#include "metrics/counters.h"

#include <memory>

namespace stator::metrics {

Counters::~Counters() {
  for (const auto& shard : shards_) delete[] shard.load(std::memory_order_relaxed);
}

// Threads that share a shard can make its cells at once; those of the first one stay.
Counters::Cell* Counters::make_cells(std::atomic<Cell*>& shard) {
  constexpr std::size_t kCellsPerLine = 64 / sizeof(Cell);
  // No cache line has cells of two shards.
  auto cells = std::make_unique<Cell[]>(count_ + kCellsPerLine);
  Cell* expected = nullptr;
  if (!shard.compare_exchange_strong(expected, cells.get(), std::memory_order_acq_rel)) {
    return expected;
  }
  return cells.release();
}

uint64_t Counters::total(std::size_t counter) const {
  uint64_t sum = 0;
  for (const auto& shard : shards_) {
    const Cell* const cells = shard.load(std::memory_order_acquire);
    if (cells != nullptr) sum += cells[counter].load(std::memory_order_relaxed);
  }
  return sum;
}

std::size_t Counters::this_shard() {
  static std::atomic<std::size_t> next = 0;
  thread_local const std::size_t shard = next.fetch_add(1, std::memory_order_relaxed) % kShards;
  return shard;
}

}  // namespace stator::metrics
