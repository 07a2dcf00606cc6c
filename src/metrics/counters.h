// SPDX-License-Identifier: Apache-2.0
// Counters: a fixed array of counters that many threads increase at once.
//
// Each counter has a cell per shard, and each thread uses one shard, so that threads rarely share a
// cache line. A shard has no memory before a thread uses it. A total is the sum of the cells.
// Thread safety: any thread; nothing waits.
// Visibility: a total includes every increase that happened before the call, and might include
// later ones.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace stator::metrics {

class Counters {
  using Cell = std::atomic<uint64_t>;

 public:
  explicit Counters(std::size_t count) : count_(count) {}
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;
  ~Counters();

  void add(std::size_t counter, uint64_t amount = 1) {
    std::atomic<Cell*>& shard = shards_[this_shard()];
    Cell* cells = shard.load(std::memory_order_acquire);
    if (cells == nullptr) cells = make_cells(shard);
    cells[counter].fetch_add(amount, std::memory_order_relaxed);
  }
  uint64_t total(std::size_t counter) const;

 private:
  static constexpr std::size_t kShards = 16;
  static std::size_t this_shard();

  Cell* make_cells(std::atomic<Cell*>& shard);

  const std::size_t count_;
  std::array<std::atomic<Cell*>, kShards> shards_ = {};
};

// A histogram takes one counter per bucket, one for values above the last bound, and the sum.
template <std::size_t kBounds>
class Buckets {
 public:
  static constexpr std::size_t kCounters = kBounds + 2;

  // `bounds` ascend; a value that equals a bound is in its bucket.
  explicit constexpr Buckets(const std::array<uint64_t, kBounds>& bounds) : bounds_(bounds) {}

  std::span<const uint64_t> bounds() const { return bounds_; }
  // `first` is the histogram's first counter.
  void observe(Counters& counters, std::size_t first, uint64_t value) const {
    std::size_t bucket = 0;
    while (bucket < kBounds && value > bounds_[bucket]) ++bucket;
    counters.add(first + bucket);
    counters.add(first + kBounds + 1, value);
  }

 private:
  std::array<uint64_t, kBounds> bounds_;
};

}  // namespace stator::metrics
