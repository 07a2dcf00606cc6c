// SPDX-License-Identifier: Apache-2.0
// Row keys as columns, and their locks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/fnv_hash.h"
#include "storage/transact_store.h"

namespace stator::postgres {

// The columns of a key. (p, s) have the order of the keys, also for keys shorter than a partition.
struct RowKey {
  explicit RowKey(std::string_view key)
      : p(key.substr(0, kPartitionBytes)), s(key.substr(p.size())) {}
  std::string_view p;
  std::string_view s;
};

// The advisory lock of a key, the same in all processes. Keys with the same lock exclude each
// other, which is only slower.
inline int64_t lock_of(std::string_view key) {
  return static_cast<int64_t>(fnv_hash(key));
}

}  // namespace stator::postgres
