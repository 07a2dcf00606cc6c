// SPDX-License-Identifier: Apache-2.0
#include "storage/lock_table.h"

#include <algorithm>
#include <functional>
#include <string_view>

namespace stator {

LockTable::Guard LockTable::lock(std::span<const std::string> keys) {
  Guard guard;
  guard.table_ = this;
  guard.stripes_.reserve(keys.size());
  for (const std::string& key : keys) {
    guard.stripes_.push_back(static_cast<uint16_t>(std::hash<std::string_view>{}(key) % kStripes));
  }
  std::ranges::sort(guard.stripes_);
  const auto repeated = std::ranges::unique(guard.stripes_);
  guard.stripes_.erase(repeated.begin(), repeated.end());
  for (const uint16_t stripe : guard.stripes_) mutexes_[stripe].lock();
  return guard;
}

void LockTable::Guard::release() {
  for (const uint16_t stripe : stripes_) table_->mutexes_[stripe].unlock();
  stripes_.clear();
}

}  // namespace stator
