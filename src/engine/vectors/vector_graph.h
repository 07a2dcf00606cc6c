// SPDX-License-Identifier: Apache-2.0
// VectorGraph: approximate searches of the cached vectors of one partition.
//
// One thread, the builder, adds the vectors to a graph. A search goes through the graph, and
// through the vectors that are not in it: recent ones, and those whose length is 0 or so large that
// sums would overflow. Vectors that are no longer in use stay in the graph. If they are many, the
// builder makes a second graph, which then replaces the first.
//
// Thread safety: the owner (cached_vectors.h) has a lock, and each method states how to hold it.
// Once is_begun(), the vector of a slot must not change, except for slots that finish() returns.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/function_ref.h"
#include "engine/vectors/fair_shared_mutex.h"
#include "engine/vectors/vector_scores.h"
#include "stator/requests.h"
#include "vectors/compact_vectors.h"
#include "vectors/hnsw_graph.h"

namespace stator {

class VectorGraph {
 public:
  using Slot = CompactVectors::Slot;
  using Slots = std::vector<Slot>;
  using IsUsed = std::vector<char>;  // for each slot

  // `vectors` is borrowed.
  VectorGraph(const CompactVectors& vectors, VectorDistanceFunction function)
      : vectors_(vectors), function_(function) {}

  // The memory of both graphs.
  static std::size_t bytes_of(std::size_t slots) { return 2 * HnswGraph::bytes_of(slots); }

  // Exclusive lock, or the builder with the shared one.
  bool is_begun() const { return graph_ != nullptr || next_ != nullptr; }
  // Exclusive lock. The slot has a vector from now on.
  void add(Slot slot);

  enum class Work { kNone, kStep, kFinish };  // what the builder must call next
  // The builder with the shared lock. `unused`: number of slots whose vectors were removed, and
  // that finish() has not returned. step() adds one vector.
  Work work(const IsUsed& is_used, std::size_t unused) const;
  void step(const IsUsed& is_used);
  // The builder with the exclusive lock. Returns the slots that are neither in use nor in the
  // graph: they can be used again. Sets `replaced` to the previous graph, which takes long to
  // destroy.
  Slots finish(const IsUsed& is_used, std::unique_ptr<HnswGraph>& replaced);

  // Shared lock. Offers most of the `width` nearest vectors that pass, and perhaps others. False,
  // without offers, if the caller must compare all vectors: there is no graph, few vectors pass, or
  // the search vector has no ordinary length. `passes` must reject slots that are not in use.
  bool search(const VectorScores& scores, std::size_t width, FunctionRef<bool(Slot)> passes,
              FunctionRef<void(Slot)> offer) const;
  // Number of vectors in the graph that searches use. No lock.
  std::size_t size() const { return size_; }

 private:
  // Others would make sums infinite, or have no direction.
  bool fits(Slot slot) const;
  template <class Distance>
  void compute(std::span<const Slot> others, float* found, Distance distance) const;
  void distances(Slot one, std::span<const Slot> others, float* found) const;
  // Whether a search of the graph is expected to take longer than a comparison with all vectors
  // that pass.
  bool is_slower(std::size_t width, FunctionRef<bool(Slot)> passes) const;

  const CompactVectors& vectors_;
  const VectorDistanceFunction function_;
  std::atomic<std::size_t> size_ = 0;

  // Changed with the exclusive lock, or by the builder with the shared one and this.
  mutable FairSharedMutex mutex_;
  std::unique_ptr<HnswGraph> graph_;
  Slots waiting_;  // for the builder
  Slots outside_;  // they do not fit

  // Of the builder.
  std::unique_ptr<HnswGraph> next_;
  Slot next_slot_ = 0;
};

}  // namespace stator
