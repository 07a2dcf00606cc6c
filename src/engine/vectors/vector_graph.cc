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
  if (graph_ != nullptr && next_ == nullptr && !waiting_.empty()) {
    const Slot slot = waiting_.back();
    if (is_used[slot] != 0) link(*graph_, slot, &mutex_);
    const std::lock_guard lock(mutex_);
    waiting_.pop_back();
    size_ = graph_->size();
    return;
  }
  if (next_ == nullptr) {
    next_ = std::make_unique<HnswGraph>();
    next_slot_ = 0;
  }
  const Slot slot = next_slot_++;
  if (is_used[slot] != 0 && fits(slot)) link(*next_, slot, nullptr);
}

void VectorGraph::link(HnswGraph& graph, Slot slot, FairSharedMutex* mutex) {
  const auto from = [this](Slot one, std::span<const Slot> others, float* found) {
    distances(one, others, found);
  };
  HnswGraph::Plan plan = graph.plan(slot, from);
  std::unique_lock<FairSharedMutex> lock;
  if (mutex != nullptr) lock = std::unique_lock(*mutex);
  graph.link(std::move(plan), from);
}

VectorGraph::Slots VectorGraph::finish(const IsUsed& is_used) {
  graph_ = std::move(next_);
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

void VectorGraph::distances(Slot one, std::span<const Slot> others, float* found) const {
  if (!others.empty()) vectors_.prefetch(others[0]);
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (i + 1 < others.size()) vectors_.prefetch(others[i + 1]);
    found[i] = VectorScores::estimate(function_, vectors_, one, others[i]);
  }
}

bool VectorGraph::search(const VectorScores& scores, std::size_t width,
                         FunctionRef<bool(Slot)> passes, FunctionRef<void(Slot)> offer) const {
  if (!VectorScores::is_ordinary(scores.length())) return false;
  const std::shared_lock lock(mutex_);
  if (graph_ == nullptr) return false;
  const auto distances = [&](std::span<const Slot> others, float* found) {
    if (!others.empty()) vectors_.prefetch(others[0]);
    for (std::size_t i = 0; i < others.size(); ++i) {
      if (i + 1 < others.size()) vectors_.prefetch(others[i + 1]);
      found[i] = scores.estimate(vectors_, others[i]);
    }
  };
  const std::size_t looks_max = std::max(kLooksMin, graph_->size() / kLooksShare);
  const auto near = graph_->search(distances, width, passes, looks_max);
  if (!near || near->size() < width) return false;  // few pass, and some might be out of its reach
  for (const HnswGraph::Near& one : *near) offer(one.slot);
  for (const Slots* rest : {&waiting_, &outside_}) {
    for (const Slot slot : *rest) {
      if (passes(slot)) offer(slot);
    }
  }
  return true;
}

}  // namespace stator
