// SPDX-License-Identifier: Apache-2.0
#include "storage/lock_table.h"

#include <algorithm>
#include <functional>
#include <string_view>

namespace stator {

template <class Keys, class KeyOf>
LockTable::Guard LockTable::lock_all(const Keys& keys, KeyOf key_of) {
  Guard guard;
  guard.table_ = this;
  guard.stripes_.reserve(keys.size());
  for (const auto& key : keys) {
    const std::size_t hash = std::hash<std::string_view>{}(key_of(key));
    guard.stripes_.push_back(static_cast<uint16_t>(hash % kStripes));
  }
  std::ranges::sort(guard.stripes_);
  const auto repeated = std::ranges::unique(guard.stripes_);
  guard.stripes_.erase(repeated.begin(), repeated.end());
  for (const uint16_t stripe : guard.stripes_) mutexes_[stripe].lock();
  return guard;
}

LockTable::Guard LockTable::lock(std::span<const std::string> keys) {
  return lock_all(keys, std::identity());
}

LockTable::Guard LockTable::lock(const Batch& batch) {
  return lock_all(batch.writes(),
                  [](const Write& write) -> const std::string& { return write.key; });
}

void LockTable::Guard::release() {
  for (const uint16_t stripe : stripes_) table_->mutexes_[stripe].unlock();
  stripes_.clear();
}

}  // namespace stator
