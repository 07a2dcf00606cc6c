// SPDX-License-Identifier: Apache-2.0
// CachedVectors: the vectors of one partition of a vector index, and the names of rows written
// since the vectors were read. See vector_cache.h.
//
// Thread safety: every method can be called from any thread at once. candidates() needs the shared
// lock.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/rows/vector_row.h"
#include "engine/vectors/vector_scores.h"
#include "storage/transact_store.h"
#include "vectors/compact_vectors.h"

namespace stator {

// The position of a filter in VectorShape::filters, and the hash that a row must have there.
using VectorFilters = std::vector<std::pair<std::size_t, std::string>>;

// Rows that include those of the nearest vectors.
struct VectorCandidates {
  struct Row {
    std::string key;
    bool is_changed = false;  // since it was cached: it might be absent or not pass the filters

    auto operator<=>(const Row&) const = default;
  };
  std::vector<Row> rows;      // by ascending keys
  std::size_t unchanged = 0;  // number of unchanged rows that pass the filters, in `rows` or not
};

class CachedVectors {
 public:
  CachedVectors(std::string partition, const VectorShape& shape)
      : partition_(std::move(partition)), shape_(shape), vectors_(shape.dimensions) {}

  // The memory of this number of rows.
  static std::size_t bytes_of(std::size_t rows, const VectorShape& shape);
  std::size_t rows() const { return rows_; }  // includes the slots of erased rows
  std::size_t bytes() const { return bytes_of(rows_, shape_); }

  // While it is held, refresh() waits. The turn prevents a stream of readers from starving
  // refresh().
  void lock_shared() {
    const std::lock_guard turn(turn_);
    mutex_.lock_shared();
  }
  void unlock_shared() { mutex_.unlock_shared(); }

  // The part of a row's key after the partition.
  using RowName = Hash128;
  static std::optional<RowName> name_in(std::string_view key);
  // Records a written row; call it before any view has the commit. With more than `names_max`
  // names, the vectors are lost.
  void note(const RowName& name, uint64_t sequence, std::size_t names_max);
  std::size_t noted() const;
  // Written rows are no longer recorded, so candidates() returns nothing from now on.
  void lose();
  bool is_lost() const;

  // Reads all rows. False if a read fails or the vectors need more memory.
  bool fill(TransactStore& store, KeyRange range, std::size_t bytes_max);
  // Reads the noted rows again if they are more than `names_max`. False if a read fails: then the
  // vectors are lost.
  bool refresh(TransactStore& store, std::size_t names_max);

  // Includes the rows of the `top` nearest vectors of any view that was opened after lock_shared()
  // and before this call. Absent if the vectors are lost, or if so many rows qualify that reading
  // all rows is faster.
  std::optional<VectorCandidates> candidates(const VectorScores& scores,
                                             const VectorFilters& filters, std::size_t top) const;

 private:
  // A name is a hash already.
  struct NameHash {
    std::size_t operator()(const RowName& name) const {
      std::size_t hash = 0;
      std::memcpy(&hash, name.data(), sizeof hash);
      return hash;
    }
  };
  template <class T>
  using ByName = std::unordered_map<RowName, T, NameHash>;
  using Slot = CompactVectors::Slot;

  Result<void> set(std::string_view key, std::string_view value);
  void erase(const RowName& name);
  void forget();
  bool read_again(ReadView& view, const RowName& name);
  bool passes(Slot slot, const VectorFilters& filters) const;
  std::string key_of(const RowName& name) const {
    return partition_ + std::string(name.begin(), name.end());
  }

  const std::string partition_;
  const VectorShape shape_;

  std::mutex turn_;
  std::shared_mutex mutex_;  // protects the members up to rows_
  CompactVectors vectors_;
  std::vector<RowName> names_;    // of the slots
  std::vector<char> is_used_;     // the same
  std::vector<Hash128> filters_;  // all of one slot, then those of the next
  std::vector<Slot> free_slots_;
  ByName<Slot> slots_;
  std::atomic<std::size_t> rows_ = 0;

  mutable std::mutex noted_mutex_;
  ByName<uint64_t> noted_;  // and the last commit that wrote them
  bool is_lost_ = false;
};

}  // namespace stator
