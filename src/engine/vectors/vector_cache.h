// SPDX-License-Identifier: Apache-2.0
// VectorCache: vectors of partitions that are searched often, in memory, a byte for each component.
//
// A search reads them first. They tell it which rows can be among the nearest, and it reads only
// those from the store, so its results are those of a search through all rows. What a view has and
// what is cached are brought together thus: the cache notes the keys that commits write before any
// view has them; a search that holds the cached vectors looks at its view for those in addition;
// and the noted rows are read again, while nobody holds them, before they are many.
//
// Of a store of one process, as others tell nothing of what they write.
// Memory: at most as much as it is told, but for what searches in progress still hold or read, and
// for the names of rows that were written since. What was used least recently goes.
// Thread safety: every method may be called from any thread at once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/rows/vector_row.h"
#include "engine/vectors/cached_vectors.h"
#include "storage/transact_store.h"

namespace stator {

struct VectorCacheLimits {
  std::size_t bytes_max = 0;        // 0: an eighth of the memory, see cache_bytes_of()
  std::size_t rows_min = 1000;      // of a partition; with fewer its rows are searched
  std::size_t changes_max = 100;    // noted, or 1/256 of the rows, before a search reads them
  std::size_t noted_max = 100'000;  // then it reads all rows again
};

class VectorCache final : private CommitObserver {
 public:
  // The store must outlive it, and no search may be in progress when it is destroyed.
  VectorCache(TransactStore& store, const VectorCacheLimits& limits);
  VectorCache(const VectorCache&) = delete;
  VectorCache& operator=(const VectorCache&) = delete;
  ~VectorCache() override;

  // The rows of `partition`, a vector_range(), held until the pointer is released, by the same
  // thread; it reads them if they are worth it. The view of the search must be opened while it is
  // held. Null: search the rows, and tell how many they were.
  std::shared_ptr<const CachedVectors> use(const KeyRange& partition, const VectorShape& shape);
  void searched_rows(const KeyRange& partition, const VectorShape& shape, std::size_t rows);

  // Drops what has not been used for kIdleRounds calls of this one.
  void drop_idle();

  static constexpr int kIdleRounds = 60;
  std::size_t bytes() const;
  std::size_t bytes_max() const { return limits_.bytes_max; }

 private:
  struct Partition {
    std::size_t bytes = 0;     // estimated, until its vectors are there
    std::size_t searches = 0;  // of its rows
    uint64_t last_use = 0;
    int idle_rounds = 0;
    bool is_filling = false;
    std::shared_ptr<CachedVectors> vectors = {};
  };

  void on_commit(uint64_t sequence, std::span<const Write> writes) override;
  // Destroyed without the lock, as that takes its time.
  using Dropped = std::vector<std::shared_ptr<CachedVectors>>;
  // With the lock held.
  void drop(Partition& partition, Dropped& dropped);
  bool make_room(const Partition& wanted, Dropped& dropped);
  Partition* used_least(const Partition& but);
  void settle(const std::string& key, const std::shared_ptr<CachedVectors>& vectors, bool keep);

  TransactStore& store_;
  const VectorCacheLimits limits_;
  mutable std::mutex mutex_;
  std::map<std::string, Partition, std::less<>> partitions_;  // by their kPartitionBytes
  std::size_t bytes_ = 0;                                     // of those with vectors
  uint64_t uses_ = 0;
};

std::unique_ptr<VectorCache> make_vector_cache(TransactStore& store, VectorCacheLimits limits);

}  // namespace stator
