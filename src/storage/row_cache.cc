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
constexpr std::size_t kBucketsLocked = 512;  // while a range is removed
constexpr int kChainMax = 16;                // clients can choose keys with equal hashes
constexpr int kSparedMax = 64;               // rows for each eviction
constexpr std::size_t kBytesPerSeen = 1024;
constexpr std::size_t kOverheadBytes = 24;  // of an allocation and of a bucket

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
  bool referenced = false;  // visited since it was last a candidate for eviction

  char* bytes() { return reinterpret_cast<char*>(this + 1); }
  std::string_view key() { return {bytes(), key_bytes}; }
  std::string_view value() { return {bytes() + key_bytes, value_bytes}; }
  std::size_t size() const { return sizeof(Row) + key_bytes + value_bytes + kOverheadBytes; }
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
      changes_ = shard.changes_of(hash_).ended;
      return false;
    }
    row->referenced = true;
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
  const Changes& changes = shard.changes_of(hash_);
  if (changes.running > 0 || changes.ended != changes_) return;
  try {
    if (!shard.was_seen(hash_, bytes_max) || shard.find(key_, hash_) != nullptr) return;
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
  ++shard.changes_of(hash).running;
  if (Row* const row = shard.find(key, hash)) shard.remove(row);
}

void RowCache::end_change(std::string_view key) {
  const uint64_t hash = hash_of(key);
  Shard& shard = shard_of(hash);
  const std::lock_guard lock(shard.mutex);
  Changes& changes = shard.changes_of(hash);
  --changes.running;
  ++changes.ended;
}

RowCache::RangeChange::RangeChange(RowCache& cache, const KeyRange& range) : cache_(cache) {
  for (Shard& shard : cache.shards_) {
    {
      const std::lock_guard lock(shard.mutex);
      for (Changes& changes : shard.changes) ++changes.running;
    }
    shard.remove_range(range);
  }
}

RowCache::RangeChange::~RangeChange() {
  for (Shard& shard : cache_.shards_) {
    const std::lock_guard lock(shard.mutex);
    for (Changes& changes : shard.changes) {
      --changes.running;
      ++changes.ended;
    }
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
  Row* row = buckets[bucket_of(hash)];
  while (row != nullptr && (row->hash != hash || row->key() != key)) row = row->next_in_bucket;
  return row;
}

// Whether it was called with this hash before, with few other hashes in between.
bool RowCache::Shard::was_seen(uint64_t hash, std::size_t bytes_max) {
  if (seen_once.empty()) seen_once.resize(std::max<std::size_t>(bytes_max / kBytesPerSeen, 1));
  uint32_t& place = seen_once[hash / kShards % seen_once.size()];
  const auto part = static_cast<uint32_t>(hash >> 32) | 1;
  return std::exchange(place, part) == part;
}

void RowCache::Shard::insert(RowPtr row) {
  if (rows >= buckets.size()) {
    buckets.assign(std::max(kBucketsMin, 2 * buckets.size()), nullptr);
    for (Row* old = oldest; old != nullptr; old = old->newer) {
      old->next_in_bucket = std::exchange(buckets[bucket_of(old->hash)], old);
    }
  }
  Row*& first = buckets[bucket_of(row->hash)];
  int length = 0;
  for (Row* other = first; other != nullptr; other = other->next_in_bucket) ++length;
  if (length == kChainMax) return;
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
  Row** link = &buckets[bucket_of(row->hash)];
  while (*link != row) link = &(*link)->next_in_bucket;
  *link = row->next_in_bucket;
  detach(row);
  --rows;
  bytes -= row->size();
  Release()(row);
}

// Called while all rows change, so that none enters. Others can wait for some buckets only.
void RowCache::Shard::remove_range(const KeyRange& range) {
  for (std::size_t first = 0;; first += kBucketsLocked) {
    const std::lock_guard lock(mutex);
    if (first >= buckets.size()) return;
    const std::size_t end = std::min(first + kBucketsLocked, buckets.size());
    for (std::size_t i = first; i < end; ++i) {
      for (Row* row = buckets[i]; row != nullptr;) {
        Row* const next = row->next_in_bucket;
        if (is_in(row->key(), range)) remove(row);
        row = next;
      }
    }
  }
}

void RowCache::Shard::shrink_to(std::size_t bytes_max) {
  while (bytes > bytes_max) {
    for (int spared = 0; oldest->referenced && spared < kSparedMax; ++spared) {
      Row* const row = oldest;
      row->referenced = false;
      detach(row);
      append(row);
    }
    remove(oldest);
  }
}

}  // namespace stator
