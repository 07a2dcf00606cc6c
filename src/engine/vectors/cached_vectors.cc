// SPDX-License-Identifier: Apache-2.0
#include "engine/vectors/cached_vectors.h"

#include <algorithm>
#include <limits>
#include <shared_mutex>

namespace stator {
namespace {

constexpr std::size_t kFillRows = 1000;  // per scan, because a scan can block writes
// Most candidates: this many more than wanted, or this fraction of the rows.
constexpr std::size_t kCandidatesMin = 100;
constexpr std::size_t kCandidatesShare = 16;
// With more slots per row, the vectors are dropped: writes are faster than the graph's builder.
constexpr std::size_t kSlotsPerRow = 2;
constexpr int kStepsPerTurn = 1000;  // of the builder, before it continues with another graph
// A search of a graph finds this many vectors: at least, or as a multiple of those wanted.
constexpr std::size_t kWidthMin = 100;
constexpr std::size_t kWidthFactor = 3;

// The limit is the `top`-th lowest upper bound. A row whose lower bound is above it is not among
// the nearest.
class NearSlots {
 public:
  using Slot = CompactVectors::Slot;

  NearSlots(const VectorScores& scores, const CompactVectors& vectors, std::size_t top)
      : scores_(scores), vectors_(vectors), top_(top) {}

  void offer(Slot slot) {
    ++offered_;
    const VectorScores::Bounds bounds = scores_.bounds(vectors_, slot);
    if (bounds.low > limit_) return;
    near_.emplace_back(bounds.low, slot);
    if (limits_.size() == top_) {
      if (bounds.high >= limit_) return;
      std::ranges::pop_heap(limits_);
      limits_.back() = bounds.high;
    } else {
      limits_.push_back(bounds.high);
    }
    std::ranges::push_heap(limits_);
    if (limits_.size() == top_) limit_ = limits_.front();
  }

  std::size_t offered() const { return offered_; }
  std::vector<Slot> slots() const {
    std::vector<Slot> slots;
    for (const auto& [low, slot] : near_) {
      if (low <= limit_) slots.push_back(slot);
    }
    return slots;
  }

 private:
  const VectorScores& scores_;
  const CompactVectors& vectors_;
  const std::size_t top_;
  std::size_t offered_ = 0;
  std::vector<std::pair<float, Slot>> near_;
  std::vector<float> limits_;  // the highest at the front
  float limit_ = std::numeric_limits<float>::infinity();
};

}  // namespace

std::size_t CachedVectors::bytes_of(std::size_t rows, const VectorShape& shape) {
  constexpr std::size_t kOfAMap = 64;
  return CompactVectors::bytes_of(rows, shape.dimensions) +
         rows * (sizeof(RowName) + 1 + shape.filters.size() * sizeof(Hash128) + kOfAMap);
}

std::optional<CachedVectors::RowName> CachedVectors::name_in(std::string_view key) {
  RowName name;
  if (key.size() != kPartitionBytes + name.size()) return std::nullopt;
  std::ranges::copy(key.substr(kPartitionBytes), name.begin());
  return name;
}

void CachedVectors::note(const RowName& name, uint64_t sequence, std::size_t names_max) {
  const std::lock_guard lock(noted_mutex_);
  if (is_lost_) return;
  noted_[name] = sequence;
  if (noted_.size() > names_max) forget();
}

std::size_t CachedVectors::noted() const {
  const std::lock_guard lock(noted_mutex_);
  return noted_.size();
}

void CachedVectors::lose() {
  const std::lock_guard lock(noted_mutex_);
  forget();
}

// With noted_mutex_ held.
void CachedVectors::forget() {
  is_lost_ = true;
  noted_ = {};
}

bool CachedVectors::is_lost() const {
  const std::lock_guard lock(noted_mutex_);
  return is_lost_;
}

Result<void> CachedVectors::set(std::string_view key, std::string_view value) {
  STATOR_ASSIGN_OR_RETURN(const VectorRowView row, VectorRowView::of(value, shape_));
  const auto name = name_in(key);
  if (!name) return fail(Code::kCorruption, "a row of a vector index has a damaged key");
  const Slot slot = slot_for(*name);
  vectors_.set(slot, row.vector());
  names_[slot] = *name;
  is_used_[slot] = 1;
  for (std::size_t i = 0; i < shape_.filters.size(); ++i) {
    std::ranges::copy(row.filter(i), filters_[slot * shape_.filters.size() + i].begin());
  }
  rows_ = names_.size();
  graph_.add(slot);
  return {};
}

// Graphs need vectors that do not change.
CachedVectors::Slot CachedVectors::slot_for(const RowName& name) {
  if (graph_.is_begun()) erase(name);
  const auto [entry, is_new] = slots_.try_emplace(name, names_.size());
  if (!is_new) return entry->second;
  if (!free_slots_.empty()) {
    entry->second = free_slots_.back();
    free_slots_.pop_back();
  } else {
    names_.emplace_back();
    is_used_.push_back(0);
    filters_.resize(filters_.size() + shape_.filters.size());
  }
  return entry->second;
}

void CachedVectors::erase(const RowName& name) {
  const auto found = slots_.find(name);
  if (found == slots_.end()) return;
  is_used_[found->second] = 0;
  if (!graph_.is_begun()) free_slots_.push_back(found->second);
  slots_.erase(found);
}

bool CachedVectors::fill(TransactStore& store, KeyRange range, std::size_t bytes_max) {
  const std::unique_lock lock(mutex_);
  const auto numbered = store.local_views()->numbered_view();
  if (!numbered) return false;
  for (std::size_t rows = kFillRows; rows == kFillRows;) {
    rows = 0;
    Result<void> damage;
    std::string last;
    const auto scanned = numbered->view->scan({.range = range, .expected_rows = kFillRows},
                                              [&](std::string_view key, std::string_view value) {
                                                damage = set(key, value);
                                                if (!damage) return false;
                                                if (++rows < kFillRows) return true;
                                                last = key;
                                                return false;
                                              });
    if (!scanned || !damage || bytes() > bytes_max) return false;
    range.begin = last + '\0';
  }
  return true;
}

bool CachedVectors::refresh(TransactStore& store, std::size_t names_max) {
  const std::unique_lock lock(mutex_);
  if (noted() <= names_max) return true;  // another search has just read them
  // A commit that is noted concurrently is in the view if its sequence is at most the view's.
  const auto numbered = store.local_views()->numbered_view();
  std::vector<RowName> names;
  if (numbered) {
    const std::lock_guard noted_lock(noted_mutex_);
    ByName<uint64_t> later;
    for (const auto& [name, sequence] : noted_) {
      if (sequence > numbered->sequence) {
        later.emplace(name, sequence);
      } else {
        names.push_back(name);
      }
    }
    noted_ = std::move(later);
  }
  const bool is_read = numbered && std::ranges::all_of(names, [&](const RowName& name) {
                         return read_again(*numbered->view, name);
                       });
  const bool is_kept_up = names_.size() <= kSlotsPerRow * slots_.size();
  if (!is_read || !is_kept_up) lose();
  is_changed_ = true;
  return is_read && is_kept_up;
}

bool CachedVectors::read_again(ReadView& view, const RowName& name) {
  Result<void> damage;
  const std::string key = key_of(name);
  const auto found = view.get(key, [&](std::string_view value) { damage = set(key, value); });
  if (found && !*found) erase(name);
  return found && damage;
}

bool CachedVectors::passes(Slot slot, const VectorFilters& filters) const {
  return std::ranges::all_of(filters, [&](const auto& filter) {
    const Hash128& hash = filters_[slot * shape_.filters.size() + filter.first];
    return std::string_view(reinterpret_cast<const char*>(hash.data()), hash.size()) ==
           filter.second;
  });
}

std::optional<VectorCandidates> CachedVectors::candidates(const VectorScores& scores,
                                                          const VectorFilters& filters,
                                                          std::size_t top, bool is_exact) const {
  ByName<uint64_t> changed;
  {
    const std::lock_guard lock(noted_mutex_);
    if (is_lost_) return std::nullopt;
    changed = noted_;
  }
  const auto is_wanted = [&](Slot slot) {
    return is_used_[slot] != 0 && passes(slot, filters) &&
           (changed.empty() || !changed.contains(names_[slot]));
  };
  std::optional<NearSlots> near(std::in_place, scores, vectors_, top);
  const auto offer = [&](Slot slot) { near->offer(slot); };
  const std::size_t width = std::max(kWidthMin, kWidthFactor * top);
  const bool by_graph = !is_exact && graph_.search(scores, width, is_wanted, offer);
  if (!by_graph) {
    near.emplace(scores, vectors_, top);
    for (Slot slot = 0; slot < names_.size(); ++slot) {
      if (is_wanted(slot)) near->offer(slot);
    }
  }
  const std::vector<Slot> slots = near->slots();
  const std::size_t offered = near->offered();
  const std::size_t most =
      std::max((by_graph ? width : top) + kCandidatesMin, offered / kCandidatesShare);
  if (slots.size() > most) return std::nullopt;
  VectorCandidates found{.rows = {}, .unchanged = offered};
  found.rows.reserve(slots.size() + changed.size());
  for (const Slot slot : slots) found.rows.push_back({.key = key_of(names_[slot])});
  for (const auto& [name, sequence] : changed) {
    found.rows.push_back({.key = key_of(name), .is_changed = true});
  }
  std::ranges::sort(found.rows);
  return found;
}

bool CachedVectors::claim_building() {
  return is_changed_ && !is_building_.exchange(true);
}

bool CachedVectors::build(const std::atomic<bool>& stops) {
  for (int step = 0; step < kStepsPerTurn; ++step) {
    if (stops || is_lost() || build_one() == VectorGraph::Work::kNone) {
      is_building_ = false;
      return false;
    }
  }
  return true;
}

VectorGraph::Work CachedVectors::build_one() {
  VectorGraph::Work work = VectorGraph::Work::kNone;
  {
    const std::shared_lock lock(mutex_);
    is_changed_ = false;
    work = graph_.work(is_used_, names_.size() - slots_.size() - free_slots_.size());
    if (work == VectorGraph::Work::kStep) graph_.step(is_used_);
  }
  if (work == VectorGraph::Work::kFinish) {
    std::unique_ptr<HnswGraph> replaced;  // destroyed without the lock
    const std::unique_lock lock(mutex_);
    free_slots_ = graph_.finish(is_used_, replaced);
  }
  return work;
}

}  // namespace stator
