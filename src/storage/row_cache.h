// SPDX-License-Identifier: Apache-2.0
// RowCache: recently read rows of a database, found by one hash lookup instead of a search of the
// memtables and tables.
//
// A row enters when it is read for the second time, unless too many other rows were read in between
// (one for each KB of the limit). So reads of rows that are not read again displace nothing. The
// least recently used rows are evicted, approximately.
// Consistency: before a write is visible in the database, its rows leave the cache, and none that
// was read before the end of the write enters. So a cached row is what the database returns.
// Thread safety: all methods can be called from any thread. `visit` runs without locks held.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "storage/transact_store.h"

namespace stator {

class RowCache {
 public:
  // Limit of the memory for rows. It uses 0.4 % more to recognize second reads, and no memory
  // before the first one.
  explicit RowCache(std::size_t bytes_max) : shard_bytes_max_(bytes_max / kShards) {}
  RowCache(const RowCache&) = delete;
  RowCache& operator=(const RowCache&) = delete;
  ~RowCache() = default;

  // One read of a row. Borrows both for its lifetime.
  class Read {
   public:
    Read(RowCache& cache, std::string_view key);
    // Returns whether the row is cached, and was visited.
    bool visit(ValueVisitor visit);
    // Offers the row's value, which was read from the database after visit() returned false.
    void offer(std::string_view value);

   private:
    RowCache& cache_;
    const std::string_view key_;
    const uint64_t hash_;
    uint64_t changes_ = 0;  // that had ended when visit() did not find the row
  };

  // Enclose each write to the database. Between the calls, the row is not cached.
  void begin_change(std::string_view key);
  void end_change(std::string_view key);

  // Encloses a write to all rows of a range, which are not cached during its lifetime. Looks at
  // every cached row.
  class RangeChange {
   public:
    RangeChange(RowCache& cache, const KeyRange& range);
    RangeChange(const RangeChange&) = delete;
    RangeChange& operator=(const RangeChange&) = delete;
    ~RangeChange();

   private:
    RowCache& cache_;
  };

  std::size_t bytes() const;
  std::size_t bytes_max() const { return kShards * shard_bytes_max_; }

 private:
  static constexpr std::size_t kShards = 32;
  static constexpr std::size_t kStripes = 64;  // of a shard, for changes

  struct Row;
  struct Release {
    void operator()(Row* row) const noexcept;
  };
  using RowPtr = std::unique_ptr<Row, Release>;  // one of the holders of a row

  // Changes of the rows of a stripe.
  struct Changes {
    uint64_t ended = 0;
    std::size_t running = 0;
  };

  struct alignas(64) Shard {
    mutable std::mutex mutex;
    std::vector<Row*> buckets;        // chains of rows; a power of two, or none
    std::vector<uint32_t> seen_once;  // parts of the hashes of rows that were read once
    std::array<Changes, kStripes> changes;
    Row* oldest = nullptr;  // the next candidate for eviction
    Row* newest = nullptr;
    std::size_t rows = 0;
    std::size_t bytes = 0;

    Shard() = default;
    Shard(const Shard&) = delete;
    Shard& operator=(const Shard&) = delete;
    ~Shard();
    Row* find(std::string_view key, uint64_t hash) const;
    Changes& changes_of(uint64_t hash) { return changes[hash / kShards % kStripes]; }
    std::size_t bucket_of(uint64_t hash) const { return hash / kShards & (buckets.size() - 1); }
    bool was_seen(uint64_t hash, std::size_t bytes_max);
    void insert(RowPtr row);
    void append(Row* row);
    void detach(Row* row);
    void remove(Row* row);
    void remove_range(const KeyRange& range);
    void shrink_to(std::size_t bytes_max);
  };

  static RowPtr make_row(std::string_view key, uint64_t hash, std::string_view value);
  Shard& shard_of(uint64_t hash) { return shards_[hash % kShards]; }

  const std::size_t shard_bytes_max_;
  std::array<Shard, kShards> shards_;
};

}  // namespace stator
