// SPDX-License-Identifier: Apache-2.0
#include "storage/row_cache.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <utility>

namespace stator {
namespace {

// Finding a larger row takes little of the time that reading it takes.
constexpr std::size_t kRowBytesMax = 8UL << 10;
constexpr std::size_t kBucketsMin = 64;
// One place among the visited for this many bytes of rows.
constexpr std::size_t kBytesPerVisited = 1024;

uint64_t hash_of(std::string_view key) {
  return std::hash<std::string_view>{}(key);
}

bool is_in(std::string_view key, const KeyRange& range) {
  return key >= range.begin && (range.end.empty() || key < range.end);
}

}  // namespace

// Followed by the bytes of the key and of the value.
struct RowCache::Row {
  Row* next_in_bucket = nullptr;
  Row* older = nullptr;
  Row* newer = nullptr;
  uint64_t hash = 0;
  std::atomic<uint32_t> holders{1};  // the shard and each visit
  uint32_t key_bytes = 0;
  uint32_t value_bytes = 0;
  bool visited = false;  // since it was last a candidate for removal

  char* bytes() { return reinterpret_cast<char*>(this + 1); }
  std::string_view key() { return {bytes(), key_bytes}; }
  std::string_view value() { return {bytes() + key_bytes, value_bytes}; }
  std::size_t size() const { return sizeof(Row) + key_bytes + value_bytes; }
};

void RowCache::Release::operator()(Row* row) const noexcept {
  if (row->holders.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  row->~Row();
  std::free(row);
}

// Null if the memory does not suffice.
RowCache::RowPtr RowCache::make_row(std::string_view key, uint64_t hash, std::string_view value) {
  void* const memory = std::malloc(sizeof(Row) + key.size() + value.size());
  if (memory == nullptr) return nullptr;
  RowPtr row(new (memory) Row{.hash = hash,
                              .key_bytes = static_cast<uint32_t>(key.size()),
                              .value_bytes = static_cast<uint32_t>(value.size())});
  std::memcpy(row->bytes(), key.data(), key.size());
  std::memcpy(row->bytes() + key.size(), value.data(), value.size());
  return row;
}

RowCache::Read::Read(RowCache& cache, std::string_view key)
    : cache_(cache), key_(key), hash_(hash_of(key)) {}

bool RowCache::Read::visit(ValueVisitor visit) {
  RowPtr found;
  {
    Shard& shard = cache_.shard_of(hash_);
    const std::lock_guard lock(shard.mutex);
    Row* const row = shard.find(key_, hash_);
    if (row == nullptr) {
      changes_ = shard.changes;
      return false;
    }
    row->visited = true;
    row->holders.fetch_add(1, std::memory_order_relaxed);
    found.reset(row);
  }
  visit(found->value());
  return true;
}

void RowCache::Read::offer(std::string_view value) {
  const std::size_t bytes_max = cache_.shard_bytes_max_;
  if (key_.size() + value.size() > std::min(kRowBytesMax, bytes_max / 4)) return;
  Shard& shard = cache_.shard_of(hash_);
  const std::lock_guard lock(shard.mutex);
  if (shard.changing > 0 || shard.changes != changes_) return;
  try {
    if (!shard.was_visited(hash_, bytes_max) || shard.find(key_, hash_) != nullptr) return;
    if (RowPtr row = make_row(key_, hash_, value)) shard.insert(std::move(row));
  } catch (const std::bad_alloc&) {
    return;  // the row was read all the same
  }
  shard.shrink_to(bytes_max);
}

void RowCache::begin_change(std::string_view key) {
  const uint64_t hash = hash_of(key);
  Shard& shard = shard_of(hash);
  const std::lock_guard lock(shard.mutex);
  ++shard.changing;
  if (Row* const row = shard.find(key, hash)) shard.remove(row);
}

void RowCache::end_change(std::string_view key) {
  Shard& shard = shard_of(hash_of(key));
  const std::lock_guard lock(shard.mutex);
  --shard.changing;
  ++shard.changes;
}

void RowCache::begin_change(const KeyRange& range) {
  for (Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    ++shard.changing;
    for (Row* row = shard.oldest; row != nullptr;) {
      Row* const next = row->newer;
      if (is_in(row->key(), range)) shard.remove(row);
      row = next;
    }
  }
}

void RowCache::end_range_change() {
  for (Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    --shard.changing;
    ++shard.changes;
  }
}

std::size_t RowCache::bytes() const {
  std::size_t bytes = 0;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    bytes += shard.bytes;
  }
  return bytes;
}

RowCache::Shard::~Shard() {
  shrink_to(0);
}

RowCache::Row* RowCache::Shard::find(std::string_view key, uint64_t hash) const {
  if (buckets.empty()) return nullptr;
  Row* row = buckets[(hash / kShards) & (buckets.size() - 1)];
  while (row != nullptr && (row->hash != hash || row->key() != key)) row = row->next_in_bucket;
  return row;
}

// Whether it was called with this hash before, with few other hashes in between.
bool RowCache::Shard::was_visited(uint64_t hash, std::size_t bytes_max) {
  if (visited.empty()) visited.resize(std::max<std::size_t>(bytes_max / kBytesPerVisited, 1));
  uint32_t& place = visited[(hash / kShards) % visited.size()];
  return std::exchange(place, static_cast<uint32_t>(hash >> 32) | 1) == (hash >> 32 | 1);
}

void RowCache::Shard::insert(RowPtr row) {
  if (rows >= buckets.size()) {
    std::vector<Row*> more(std::max(kBucketsMin, 2 * buckets.size()));
    for (Row* old = oldest; old != nullptr; old = old->newer) {
      Row*& first = more[(old->hash / kShards) & (more.size() - 1)];
      old->next_in_bucket = std::exchange(first, old);
    }
    buckets.swap(more);
  }
  Row*& first = buckets[(row->hash / kShards) & (buckets.size() - 1)];
  row->next_in_bucket = first;
  append(row.get());
  ++rows;
  bytes += row->size();
  first = row.release();
}

void RowCache::Shard::append(Row* row) {
  row->older = newest;
  row->newer = nullptr;
  (newest == nullptr ? oldest : newest->newer) = row;
  newest = row;
}

void RowCache::Shard::detach(Row* row) {
  (row->older == nullptr ? oldest : row->older->newer) = row->newer;
  (row->newer == nullptr ? newest : row->newer->older) = row->older;
}

void RowCache::Shard::remove(Row* row) {
  Row** link = &buckets[(row->hash / kShards) & (buckets.size() - 1)];
  while (*link != row) link = &(*link)->next_in_bucket;
  *link = row->next_in_bucket;
  detach(row);
  --rows;
  bytes -= row->size();
  Release()(row);
}

void RowCache::Shard::shrink_to(std::size_t bytes_max) {
  while (bytes > bytes_max) {
    Row* const row = oldest;
    if (std::exchange(row->visited, false)) {
      detach(row);
      append(row);
    } else {
      remove(row);
    }
  }
}

}  // namespace stator
