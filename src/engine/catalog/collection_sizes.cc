// SPDX-License-Identifier: Apache-2.0
#include "engine/catalog/collection_sizes.h"

namespace stator {

int64_t CollectionSizes::Collection::bytes() const {
  int64_t bytes = 0;
  for (const auto& part : parts) bytes += part->totals().bytes;
  return bytes;
}

std::optional<int64_t> CollectionSizes::bytes(const std::string& hash) const {
  if (!is_used_) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto found = collections_.find(hash);
  if (found == collections_.end() || !found->second.counted) return std::nullopt;
  return found->second.bytes();
}

CollectionSizes::Parts CollectionSizes::begin(const std::string& hash, std::size_t parts,
                                              int64_t small_bytes) {
  const std::lock_guard lock(mutex_);
  if (counting_ == kCountedAtOnce || collections_.contains(hash)) return {};
  if (collections_.size() >= kKept) {
    std::erase_if(collections_, [&](const auto& known) {
      return known.second.counted && known.second.bytes() < small_bytes;
    });
  }
  is_used_ = true;
  ++counting_;
  Collection& collection = collections_[hash];
  for (std::size_t i = 0; i < parts; ++i) collection.parts.push_back(std::make_shared<Counters>());
  return collection.parts;
}

void CollectionSizes::finish(const std::string& hash) {
  const std::lock_guard lock(mutex_);
  collections_[hash].counted = true;
  --counting_;
}

void CollectionSizes::forget(const std::string& hash) {
  const std::lock_guard lock(mutex_);
  collections_.erase(hash);
  --counting_;
}

void CollectionSizes::add(const std::string& hash, uint64_t sequence,
                          const std::vector<int64_t>& bytes) {
  if (!is_used_) return;
  const std::lock_guard lock(mutex_);
  const auto found = collections_.find(hash);
  if (found == collections_.end()) return;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    found->second.parts[i]->add(sequence, {.items = 0, .bytes = bytes[i]});
  }
}

}  // namespace stator
