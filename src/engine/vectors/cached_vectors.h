// SPDX-License-Identifier: Apache-2.0
// CachedVectors: the rows of one partition of a vector index, as CompactVectors, and the rows that
// have been written since they were read. See vector_cache.h.
//
// Thread safety: every method may be called from any thread at once, but candidates(), which is for
// who has called lock_shared().
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

// The number of a filter in the rows and the hash that they must have.
using VectorFilters = std::vector<std::pair<std::size_t, std::string>>;

// Rows among which the nearest vectors are.
struct VectorCandidates {
  struct Row {
    std::string key;
    bool is_changed = false;  // since it was cached: it may be absent, or not pass the filters

    auto operator<=>(const Row&) const = default;
  };
  std::vector<Row> rows;      // by ascending keys
  std::size_t unchanged = 0;  // how many unchanged rows pass the filters, candidates or not
};

class CachedVectors {
 public:
  CachedVectors(std::string partition, const VectorShape& shape)
      : partition_(std::move(partition)), shape_(shape), vectors_(shape.dimensions) {}

  // How much memory so many rows take.
  static std::size_t bytes_of(std::size_t rows, const VectorShape& shape);
  std::size_t rows() const { return rows_; }  // those erased since included
  std::size_t bytes() const { return bytes_of(rows_, shape_); }

  // While someone holds it, no changes enter. Takes turns, so that those who share do not keep out
  // for ever who wants it alone.
  void lock_shared() {
    const std::lock_guard turn(turn_);
    mutex_.lock_shared();
  }
  void unlock_shared() { mutex_.unlock_shared(); }

  // The end of a row's key, behind the partition.
  using RowName = Hash128;
  static std::optional<RowName> name_in(std::string_view key);
  // Before a view has what the commit wrote. With so many names already, they are lost.
  void note(const RowName& name, uint64_t sequence, std::size_t names_max);
  std::size_t noted() const;
  // Nobody notes what is written any more: whoever opens a view from here on cannot use them.
  void lose();
  bool is_lost() const;

  // Reads all rows. False: it failed, or they are more than these bytes.
  bool fill(TransactStore& store, KeyRange range, std::size_t bytes_max);
  // Reads again what was noted, if it is more than this. False: it failed, and they are lost.
  bool refresh(TransactStore& store, std::size_t names_max);

  // The rows of the `top` nearest vectors in a view that was opened after lock_shared() and before
  // this call are among these. Absent: they are too many for a search by them to be of use, or
  // changes were lost.
  std::optional<VectorCandidates> candidates(const VectorScores& scores,
                                             const VectorFilters& filters, std::size_t top) const;

 private:
  // It is a hash already.
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
  bool read_again(ReadView& view, const RowName& name);
  bool passes(Slot slot, const VectorFilters& filters) const;
  std::string key_of(const RowName& name) const {
    return partition_ + std::string(name.begin(), name.end());
  }

  const std::string partition_;
  const VectorShape shape_;

  std::mutex turn_;
  std::shared_mutex mutex_;  // of what follows
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
