// SPDX-License-Identifier: Apache-2.0
// CachedVectors: the vectors of one partition of a vector index, and the names of rows written
// since the vectors were read. See vector_cache.h.
//
// Thread safety: every method can be called from any thread at once. candidates() needs the shared
// lock; after claim_building() returned true, one thread calls build().
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/rows/vector_row.h"
#include "engine/vectors/fair_shared_mutex.h"
#include "engine/vectors/vector_graph.h"
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
  std::size_t unchanged = 0;  // number of unchanged rows that were examined, in `rows` or not
};

class CachedVectors {
 public:
  CachedVectors(std::string partition, const VectorShape& shape, VectorDistanceFunction function)
      : partition_(std::move(partition)),
        shape_(shape),
        vectors_(shape.dimensions),
        graph_(vectors_, function) {}

  // The memory of this number of rows.
  static std::size_t bytes_of(std::size_t rows, const VectorShape& shape);
  std::size_t rows() const { return rows_; }  // includes the slots of erased rows
  std::size_t bytes() const {
    return bytes_of(rows_, shape_) + (has_graph_ ? VectorGraph::bytes_of(rows_) : 0);
  }

  // While it is held, refresh() waits.
  void lock_shared() { mutex_.lock_shared(); }
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
  // Reads the noted rows again if they are more than `names_max`. False if a read fails, or if
  // most slots are those of erased rows: then the vectors are lost.
  bool refresh(TransactStore& store, std::size_t names_max);

  // Includes the rows of the `top` nearest vectors of any view that was opened after lock_shared()
  // and before this call; if there is a graph and `is_exact` is false, of most of them. Absent if
  // the vectors are lost, or if so many rows qualify that reading all rows is faster.
  std::optional<VectorCandidates> candidates(const VectorScores& scores,
                                             const VectorFilters& filters, std::size_t top,
                                             bool is_exact) const;

  // bytes() counts it from now on.
  void allow_graph() { has_graph_ = true; }
  // True if the caller must call build(), on another thread.
  bool claim_building();
  // Adds vectors to a graph, for a while. True if the caller must call it again: not all are in it.
  bool build(const std::atomic<bool>& stops);
  void cancel_building() { is_building_ = false; }  // instead of build()
  bool is_building() const { return is_building_; }
  bool has_graph() const { return has_graph_; }
  std::size_t rows_in_graph() const { return graph_.size(); }

 private:
  // Names are already hashes.
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

  Slot slot_for(const RowName& name);
  Result<void> set(std::string_view key, std::string_view value);
  void erase(const RowName& name);
  VectorGraph::Work build_one();
  void forget();
  bool read_again(ReadView& view, const RowName& name);
  bool passes(Slot slot, const VectorFilters& filters) const;
  std::string key_of(const RowName& name) const {
    return partition_ + std::string(name.begin(), name.end());
  }

  const std::string partition_;
  const VectorShape shape_;

  FairSharedMutex mutex_;  // protects the members up to slots_
  CompactVectors vectors_;
  std::vector<RowName> names_;    // of the slots
  std::vector<char> is_used_;     // the same
  std::vector<Hash128> filters_;  // all of one slot, then those of the next
  std::vector<Slot> free_slots_;  // with a graph, erased rows keep their slots for a while
  ByName<Slot> slots_;
  VectorGraph graph_;
  std::atomic<std::size_t> rows_ = 0;

  std::atomic<bool> has_graph_ = false;
  std::atomic<bool> is_changed_ = true;  // since the builder looked
  std::atomic<bool> is_building_ = false;

  mutable std::mutex noted_mutex_;
  ByName<uint64_t> noted_;  // and the last commit that wrote them
  bool is_lost_ = false;
};

}  // namespace stator
