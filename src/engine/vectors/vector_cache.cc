// SPDX-License-Identifier: Apache-2.0
#include "engine/vectors/vector_cache.h"

#include <algorithm>
#include <system_error>

#include "base/background.h"
#include "base/check.h"
#include "base/memory.h"
#include "storage/cache_size.h"

namespace stator {
namespace {

constexpr std::size_t kPartitionsMax = 10'000;
constexpr std::size_t kSearchesMin = 8;  // before a partition can replace another one

}  // namespace

VectorCache::VectorCache(TransactStore& store, const VectorCacheLimits& limits)
    : store_(store), limits_(limits) {
  STATOR_CHECK(store.local_views() != nullptr);
  store_.local_views()->observe(this);
}

VectorCache::~VectorCache() {
  stops_ = true;
  builder_.stop();
  store_.local_views()->observe(nullptr);
}

void VectorCache::on_commit(uint64_t sequence, std::span<const Write> writes) {
  const std::lock_guard lock(mutex_);
  if (partitions_.empty()) return;
  for (const Write& write : writes) {
    const auto name = CachedVectors::name_in(write.key);
    if (!name) continue;
    const auto found = partitions_.find(std::string_view(write.key).substr(0, kPartitionBytes));
    if (found == partitions_.end() || !found->second.vectors) continue;
    CachedVectors& vectors = *found->second.vectors;
    const std::size_t names_max = std::max(10 * limits_.changes_max, vectors.rows());
    vectors.note(*name, sequence, std::min(names_max, limits_.noted_max));
  }
}

std::shared_ptr<const CachedVectors> VectorCache::use(const KeyRange& partition,
                                                      const VectorShape& shape,
                                                      VectorDistanceFunction function) {
  std::shared_ptr<CachedVectors> vectors;
  bool fills = false;
  bool wants_graph = false;
  {
    Dropped dropped;
    const std::lock_guard lock(mutex_);
    const auto found = partitions_.find(partition.begin);
    if (found == partitions_.end() || found->second.is_filling) return nullptr;
    Partition& wanted = found->second;
    wanted.last_use = ++uses_;
    wanted.idle_rounds = 0;
    if (!wanted.vectors) {
      if (!make_room(wanted, dropped)) return nullptr;
      // From here on, on_commit() records changes.
      wanted.vectors = std::make_shared<CachedVectors>(partition.begin, shape, function);
      wanted.is_filling = fills = true;
      wanted.searches = 0;
      bytes_ += wanted.bytes;
    }
    vectors = wanted.vectors;
    wants_graph = !fills && this->wants_graph(wanted);
  }
  const std::size_t changes_max = std::max(limits_.changes_max, vectors->rows() / 256);
  if (fills || vectors->is_lost() || vectors->noted() > changes_max) {
    const bool usable = fills ? vectors->fill(store_, partition, limits_.bytes_max)
                              : !vectors->is_lost() && vectors->refresh(store_, changes_max);
    settle(partition.begin, vectors, usable);
    if (!usable) return nullptr;
  }
  if (wants_graph && vectors->claim_building()) build(vectors);
  vectors->lock_shared();
  return {vectors.get(), [vectors](CachedVectors* locked) { locked->unlock_shared(); }};
}

// The weak pointer lets a partition be dropped before its turn.
void VectorCache::build(const std::shared_ptr<CachedVectors>& vectors) {
  try {
    builder_.post([this, weak = std::weak_ptr(vectors)] {
      [[maybe_unused]] static thread_local const bool once = (run_in_background(), true);
      const auto kept = weak.lock();
      if (kept && kept->build(stops_)) build(kept);
    });
  } catch (const std::system_error&) {  // no thread: a later search tries again
    vectors->cancel_building();
  }
}

// Reports whether a search uses a graph. Reserves the graph's memory.
bool VectorCache::wants_graph(Partition& partition) {
  if (partition.vectors->has_graph()) return true;
  const std::size_t rows = partition.vectors->rows();
  const std::size_t bytes = VectorGraph::bytes_of(rows);
  if (limits_.graph_rows_min == 0 || rows < limits_.graph_rows_min ||
      ++partition.searches < limits_.graph_searches_min || bytes_ + bytes > limits_.bytes_max) {
    return false;
  }
  partition.vectors->allow_graph();
  partition.bytes += bytes;
  bytes_ += bytes;
  return true;
}

bool VectorCache::make_room(const Partition& wanted, Dropped& dropped) {
  if (wanted.bytes > limits_.bytes_max) return false;
  while (bytes_ + wanted.bytes > limits_.bytes_max) {
    Partition* const oldest = wanted.searches < kSearchesMin ? nullptr : used_least(wanted);
    if (oldest == nullptr) return false;
    drop(*oldest, dropped);
  }
  return true;
}

VectorCache::Partition* VectorCache::used_least(const Partition& but) {
  Partition* oldest = nullptr;
  for (auto& [key, partition] : partitions_) {
    if (!partition.vectors || partition.is_filling || &partition == &but) continue;
    if (oldest == nullptr || partition.last_use < oldest->last_use) oldest = &partition;
  }
  return oldest;
}

void VectorCache::drop(Partition& partition, Dropped& dropped) {
  partition.vectors->lose();
  dropped.push_back(std::move(partition.vectors));
  partition.vectors = nullptr;
  partition.searches = 0;
  bytes_ -= partition.bytes;
}

// Updates the accounting after a fill or refresh, and drops what exceeds the limit.
void VectorCache::settle(const std::string& key, const std::shared_ptr<CachedVectors>& vectors,
                         bool keep) {
  Dropped dropped;
  const std::lock_guard lock(mutex_);
  const auto found = partitions_.find(key);
  if (found == partitions_.end() || found->second.vectors != vectors) return;
  Partition& partition = found->second;
  partition.is_filling = false;
  bytes_ -= partition.bytes;
  partition.bytes = vectors->bytes();
  bytes_ += partition.bytes;
  if (!keep || partition.bytes > limits_.bytes_max) return drop(partition, dropped);
  while (bytes_ > limits_.bytes_max) {
    Partition* const oldest = used_least(partition);
    if (oldest == nullptr) return drop(partition, dropped);
    drop(*oldest, dropped);
  }
}

void VectorCache::searched_rows(const KeyRange& partition, const VectorShape& shape,
                                std::size_t rows) {
  const std::lock_guard lock(mutex_);
  if (rows < limits_.rows_min) return;
  if (partitions_.size() >= kPartitionsMax && !partitions_.contains(partition.begin)) {
    std::erase_if(partitions_, [](const auto& one) { return !one.second.vectors; });
  }
  if (partitions_.size() >= kPartitionsMax) return;
  Partition& searched = partitions_[partition.begin];
  ++searched.searches;
  if (!searched.vectors) searched.bytes = CachedVectors::bytes_of(rows, shape);
}

void VectorCache::drop_idle() {
  Dropped dropped;
  const std::lock_guard lock(mutex_);
  for (auto at = partitions_.begin(); at != partitions_.end();) {
    Partition& partition = at->second;
    if (partition.is_filling || ++partition.idle_rounds < kIdleRounds) {
      ++at;
      continue;
    }
    if (partition.vectors) drop(partition, dropped);
    at = partitions_.erase(at);
  }
}

std::unique_ptr<VectorCache> make_vector_cache(TransactStore& store, VectorCacheLimits limits) {
  if (limits.bytes_max == 0) limits.bytes_max = cache_bytes_of(usable_memory_bytes());
  return std::make_unique<VectorCache>(store, limits);
}

std::size_t VectorCache::builds() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(std::ranges::count_if(partitions_, [](const auto& one) {
    return one.second.vectors && one.second.vectors->is_building();
  }));
}

std::size_t VectorCache::rows_in_graphs() const {
  const std::lock_guard lock(mutex_);
  std::size_t rows = 0;
  for (const auto& [key, partition] : partitions_) {
    if (partition.vectors) rows += partition.vectors->rows_in_graph();
  }
  return rows;
}

std::size_t VectorCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace stator
