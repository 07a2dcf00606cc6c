// SPDX-License-Identifier: Apache-2.0
// Row keys as columns, and the locks that guard them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/fnv_hash.h"
#include "storage/transact_store.h"

namespace stator::postgres {

// The columns of a key: (p, s) sort as the key does, also if the key is shorter than a partition.
struct RowKey {
  explicit RowKey(std::string_view key)
      : p(key.substr(0, kPartitionBytes)), s(key.substr(p.size())) {}
  std::string_view p;
  std::string_view s;
};

// The advisory lock of a key. All processes compute the same one. Keys that share one exclude each
// other needlessly.
inline int64_t lock_of(std::string_view key) {
  return static_cast<int64_t>(fnv_hash(key));
}

}  // namespace stator::postgres
