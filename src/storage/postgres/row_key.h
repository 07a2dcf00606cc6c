// SPDX-License-Identifier: Apache-2.0
// Row keys as columns, and the locks that guard them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

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
  uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : key) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  }
  return static_cast<int64_t>(hash);
}

}  // namespace stator::postgres
