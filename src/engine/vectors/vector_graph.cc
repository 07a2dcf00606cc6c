// SPDX-License-Identifier: Apache-2.0
#include "engine/vectors/vector_graph.h"

#include <algorithm>
#include <shared_mutex>
#include <utility>

namespace stator {
namespace {

// A second graph is made if more than this fraction of the slots are not in use.
constexpr std::size_t kUnusedShare = 4;
// A search that looks at more than this fraction gives up: its condition excludes most vectors.
constexpr std::size_t kLooksShare = 32;
constexpr std::size_t kLooksMin = 10'000;

// If few vectors pass a condition, which some samples show, it can be faster to compare all of
// those. Measured: the vectors that a search looks at for each one that it finds, and the
// conditions that are checked in the time of one look.
constexpr std::size_t kSamples = 512;
constexpr std::size_t kFewShare = 8;
constexpr std::size_t kLooksPerFound = 11;
constexpr std::size_t kChecksPerLook = 64;

}  // namespace

bool VectorGraph::fits(Slot slot) const {
  return VectorScores::is_ordinary(vectors_.length(slot)) &&
         VectorScores::is_ordinary(vectors_.kept_length(slot));
}

void VectorGraph::add(Slot slot) {
  if (graph_ != nullptr) (fits(slot) ? waiting_ : outside_).push_back(slot);
}

VectorGraph::Work VectorGraph::work(const IsUsed& is_used, std::size_t unused) const {
  if (next_ != nullptr && next_slot_ == is_used.size()) return Work::kFinish;
  const bool is_stale = unused > is_used.size() / kUnusedShare;
  const bool is_step = graph_ == nullptr || next_ != nullptr || !waiting_.empty() || is_stale;
  return is_step ? Work::kStep : Work::kNone;
}

void VectorGraph::step(const IsUsed& is_used) {
  const auto from = [this](Slot one, std::span<const Slot> others, float* found) {
    distances(one, others, found);
  };
  if (graph_ != nullptr && next_ == nullptr && !waiting_.empty()) {
    const Slot slot = waiting_.back();
    HnswGraph::Plan plan;
    if (is_used[slot] != 0) plan = graph_->plan(slot, from);
    const std::lock_guard lock(mutex_);
    if (is_used[slot] != 0) graph_->link(std::move(plan), from);
    waiting_.pop_back();
    size_ = graph_->size();
    return;
  }
  if (next_ == nullptr) {
    next_ = std::make_unique<HnswGraph>();
    next_slot_ = 0;
  }
  const Slot slot = next_slot_++;
  if (is_used[slot] != 0 && fits(slot)) next_->link(next_->plan(slot, from), from);
}

VectorGraph::Slots VectorGraph::finish(const IsUsed& is_used,
                                       std::unique_ptr<HnswGraph>& replaced) {
  replaced = std::exchange(graph_, std::move(next_));
  size_ = graph_->size();
  waiting_.clear();
  outside_.clear();
  Slots unused;
  for (Slot slot = 0; slot < is_used.size(); ++slot) {
    if (graph_->contains(slot)) continue;
    if (is_used[slot] == 0) {
      unused.push_back(slot);
    } else {
      add(slot);
    }
  }
  return unused;
}

template <class Distance>
void VectorGraph::compute(std::span<const Slot> others, float* found, Distance distance) const {
  if (!others.empty()) vectors_.prefetch(others[0]);
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (i + 1 < others.size()) vectors_.prefetch(others[i + 1]);
    found[i] = distance(others[i]);
  }
}

// By dot products, all vectors would link to the longest ones, and none to the short ones.
void VectorGraph::distances(Slot one, std::span<const Slot> others, float* found) const {
  const auto function = function_ == VectorDistanceFunction::kDotProduct
                            ? VectorDistanceFunction::kEuclidean
                            : function_;
  compute(others, found,
          [&](Slot other) { return VectorScores::estimate(function, vectors_, one, other); });
}

bool VectorGraph::is_slower(std::size_t width, FunctionRef<bool(Slot)> passes) const {
  const std::size_t size = graph_->size();
  const std::size_t samples = std::min(kSamples, size);
  std::size_t passing = 0;
  for (std::size_t i = 0; i < samples && passing * kFewShare < samples; ++i) {
    if (passes(static_cast<Slot>(i * size / samples))) ++passing;
  }
  if (passing * kFewShare >= samples) return false;  // also if the graph is empty
  const std::size_t looks_at_all = size / kChecksPerLook + size * passing / samples;
  return width * kLooksPerFound * samples > looks_at_all * passing;
}

bool VectorGraph::search(const VectorScores& scores, std::size_t width,
                         FunctionRef<bool(Slot)> passes, FunctionRef<void(Slot)> offer) const {
  if (!VectorScores::is_ordinary(scores.length())) return false;
  const std::shared_lock lock(mutex_);
  if (graph_ == nullptr || is_slower(width, passes)) return false;
  const auto distances = [&](std::span<const Slot> others, float* found) {
    compute(others, found, [&](Slot other) { return scores.estimate(vectors_, other); });
  };
  const std::size_t looks_max = std::max(kLooksMin, graph_->size() / kLooksShare);
  const auto near = graph_->search(distances, width, passes, looks_max);
  if (!near || near->size() < width) return false;  // few pass; others can be unreachable
  for (const HnswGraph::Near& one : *near) offer(one.slot);
  for (const Slots* rest : {&waiting_, &outside_}) {
    for (const Slot slot : *rest) {
      if (passes(slot)) offer(slot);
    }
  }
  return true;
}

}  // namespace stator
