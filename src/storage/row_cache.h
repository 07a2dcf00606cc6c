// SPDX-License-Identifier: Apache-2.0
// RowCache: recently read rows of a database, found by one hash lookup instead of a search of the
// memtables and tables.
//
// A row is cached when it is read for the second time within some thousands of reads, so that reads
// of rows that are not read again displace nothing. The rows that were not read for longest make
// room for others.
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
  // Limit of the memory for the rows. Needs no memory before the first row is read.
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
    uint64_t changes_ = 0;  // of the shard, when visit() did not find the row
  };

  // Enclose each write to the database. Between the calls, the row is not cached.
  void begin_change(std::string_view key);
  void end_change(std::string_view key);
  // The same for all rows of a range. Slow: it looks at each cached row.
  void begin_change(const KeyRange& range);
  void end_range_change();

  std::size_t bytes() const;
  std::size_t bytes_max() const { return kShards * shard_bytes_max_; }

 private:
  static constexpr std::size_t kShards = 32;

  struct Row;
  struct Release {
    void operator()(Row* row) const noexcept;
  };
  using RowPtr = std::unique_ptr<Row, Release>;  // one of the holders of a row

  struct alignas(64) Shard {
    mutable std::mutex mutex;
    std::vector<Row*> buckets;      // chains of rows; a power of two, or none
    std::vector<uint32_t> visited;  // parts of the hashes of rows that were read once
    Row* oldest = nullptr;          // the next candidate for removal
    Row* newest = nullptr;
    std::size_t rows = 0;
    std::size_t bytes = 0;
    uint64_t changes = 0;      // that have ended
    std::size_t changing = 0;  // changes between their beginning and end

    Shard() = default;
    Shard(const Shard&) = delete;
    Shard& operator=(const Shard&) = delete;
    ~Shard();
    Row* find(std::string_view key, uint64_t hash) const;
    bool was_visited(uint64_t hash, std::size_t bytes_max);
    void insert(RowPtr row);
    void append(Row* row);
    void detach(Row* row);
    void remove(Row* row);
    void shrink_to(std::size_t bytes_max);
  };

  static RowPtr make_row(std::string_view key, uint64_t hash, std::string_view value);
  Shard& shard_of(uint64_t hash) { return shards_[hash % kShards]; }

  const std::size_t shard_bytes_max_;
  std::array<Shard, kShards> shards_;
};

}  // namespace stator
