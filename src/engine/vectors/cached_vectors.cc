// SPDX-License-Identifier: Apache-2.0
#include "engine/vectors/cached_vectors.h"

#include <algorithm>
#include <limits>

namespace stator {
namespace {

constexpr std::size_t kFillRows = 1000;  // per scan, because a scan can block writes
// Most candidates: this many more than wanted, or this fraction of the rows.
constexpr std::size_t kCandidatesMin = 100;
constexpr std::size_t kCandidatesShare = 16;

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
  if (!name) return fail(Code::kCorruption, "A row of a vector index has a damaged key");
  const auto [entry, is_new] = slots_.try_emplace(*name, names_.size());
  if (is_new && !free_slots_.empty()) {
    entry->second = free_slots_.back();
    free_slots_.pop_back();
  } else if (is_new) {
    names_.emplace_back();
    is_used_.push_back(0);
    filters_.resize(filters_.size() + shape_.filters.size());
  }
  const Slot slot = entry->second;
  vectors_.set(slot, row.vector());
  names_[slot] = *name;
  is_used_[slot] = 1;
  for (std::size_t i = 0; i < shape_.filters.size(); ++i) {
    std::ranges::copy(row.filter(i), filters_[slot * shape_.filters.size() + i].begin());
  }
  rows_ = names_.size();
  return {};
}

void CachedVectors::erase(const RowName& name) {
  const auto found = slots_.find(name);
  if (found == slots_.end()) return;
  is_used_[found->second] = 0;
  free_slots_.push_back(found->second);
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
  const std::lock_guard turn(turn_);
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
  if (!is_read) lose();
  return is_read;
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

// The limit is the `top`-th lowest upper bound. A row whose lower bound is above it is not among
// the nearest.
std::optional<VectorCandidates> CachedVectors::candidates(const VectorScores& scores,
                                                          const VectorFilters& filters,
                                                          std::size_t top) const {
  ByName<uint64_t> changed;
  {
    const std::lock_guard lock(noted_mutex_);
    if (is_lost_) return std::nullopt;
    changed = noted_;
  }
  std::vector<std::pair<float, Slot>> near;
  std::vector<float> limits;  // the highest at the front
  float limit = std::numeric_limits<float>::infinity();
  VectorCandidates found;
  for (Slot slot = 0; slot < names_.size(); ++slot) {
    if (is_used_[slot] == 0 || !passes(slot, filters)) continue;
    if (!changed.empty() && changed.contains(names_[slot])) continue;
    ++found.unchanged;
    const VectorScores::Bounds bounds = scores.bounds(vectors_, slot);
    if (bounds.low > limit) continue;
    near.emplace_back(bounds.low, slot);
    if (limits.size() == top) {
      if (bounds.high >= limit) continue;
      std::ranges::pop_heap(limits);
      limits.back() = bounds.high;
    } else {
      limits.push_back(bounds.high);
    }
    std::ranges::push_heap(limits);
    if (limits.size() == top) limit = limits.front();
  }
  std::erase_if(near, [&](const auto& one) { return one.first > limit; });
  if (near.size() > std::max(top + kCandidatesMin, found.unchanged / kCandidatesShare)) {
    return std::nullopt;
  }
  found.rows.reserve(near.size() + changed.size());
  for (const auto& [low, slot] : near) found.rows.push_back({.key = key_of(names_[slot])});
  for (const auto& [name, sequence] : changed) {
    found.rows.push_back({.key = key_of(name), .is_changed = true});
  }
  std::ranges::sort(found.rows);
  return found;
}

}  // namespace stator
