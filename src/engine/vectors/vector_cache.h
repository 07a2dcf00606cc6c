// SPDX-License-Identifier: Apache-2.0
// VectorCache: keeps the vectors of frequently searched partitions in memory, one byte for each
// component.
//
// A search takes candidates from the cache and reads only their rows from the store. Its results
// are those of a search through all rows. Three rules keep the cache consistent with the search's
// view:
// * The cache records the keys of each commit before any view has the commit.
// * A search locks the cached vectors, then opens its view. All recorded rows are candidates.
// * When many rows are recorded, a search reads them again while no other search holds the lock.
//
// Large partitions that are searched often get a graph, which a thread builds (vector_graph.h).
// Then a search that is not exact returns most of the nearest vectors instead of all.
//
// Only for a store of one process, because other processes do not report their commits.
// Memory: limited, except for vectors that a search still holds and names of recorded rows. The
// least recently used partition is dropped first.
// Thread safety: every method can be called from any thread at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/background/worker.h"
#include "engine/rows/vector_row.h"
#include "engine/vectors/cached_vectors.h"
#include "storage/transact_store.h"

namespace stator {

struct VectorCacheLimits {
  std::size_t bytes_max = 0;        // 0: an eighth of the memory, see cache_bytes_of()
  std::size_t rows_min = 1000;      // partitions with fewer rows are not cached
  std::size_t changes_max = 100;    // recorded rows, or 1/256 of all, before they are read again
  std::size_t noted_max = 100'000;  // recorded rows, before all rows are read again
  // Partitions with at least as many rows (0: none) get a graph after this number of searches in
  // the cache.
  std::size_t graph_rows_min = 50'000;
  std::size_t graph_searches_min = 16;
};

class VectorCache final : private CommitObserver {
 public:
  // The store must outlive it. No search may be in progress when it is destroyed.
  VectorCache(TransactStore& store, const VectorCacheLimits& limits);
  VectorCache(const VectorCache&) = delete;
  VectorCache& operator=(const VectorCache&) = delete;
  ~VectorCache() override;

  // Returns the locked vectors of `partition`, a vector_range(), and reads them first if necessary.
  // Open the view after this call. Release the pointer on the same thread. Null if the partition is
  // not cached: search its rows and call searched_rows().
  std::shared_ptr<const CachedVectors> use(const KeyRange& partition, const VectorShape& shape,
                                           VectorDistanceFunction function);
  void searched_rows(const KeyRange& partition, const VectorShape& shape, std::size_t rows);

  // Drops partitions that no search has used during the last kIdleRounds calls.
  void drop_idle();

  static constexpr int kIdleRounds = 60;
  std::size_t bytes() const;
  std::size_t bytes_max() const { return limits_.bytes_max; }
  // Number of vectors in graphs, including some that have changed since.
  std::size_t rows_in_graphs() const;
  // Number of graphs that are being built.
  std::size_t builds() const;

 private:
  struct Partition {
    std::size_t bytes = 0;     // estimated, until its vectors are there
    std::size_t searches = 0;  // of its rows; then of its vectors
    uint64_t last_use = 0;
    int idle_rounds = 0;
    bool is_filling = false;
    std::shared_ptr<CachedVectors> vectors = {};
  };

  void on_commit(uint64_t sequence, std::span<const Write> writes) override;
  // Destroyed after mutex_ is released, because destruction is slow.
  using Dropped = std::vector<std::shared_ptr<CachedVectors>>;
  // With mutex_ held.
  void drop(Partition& partition, Dropped& dropped);
  bool make_room(const Partition& wanted, Dropped& dropped);
  Partition* used_least(const Partition& but);
  bool wants_graph(Partition& partition);
  void build(const std::shared_ptr<CachedVectors>& vectors);
  void settle(const std::string& key, const std::shared_ptr<CachedVectors>& vectors, bool keep);

  TransactStore& store_;
  const VectorCacheLimits limits_;
  mutable std::mutex mutex_;
  std::map<std::string, Partition, std::less<>> partitions_;  // by their kPartitionBytes
  std::size_t bytes_ = 0;                                     // of those with vectors
  uint64_t uses_ = 0;

  std::atomic<bool> stops_ = false;
  Worker builder_;  // last: it uses the others
};

std::unique_ptr<VectorCache> make_vector_cache(TransactStore& store, VectorCacheLimits limits);

}  // namespace stator
