// SPDX-License-Identifier: Apache-2.0
// Plain RocksDB as the baseline: 20-byte keys, the same Bloom filter and cache.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

namespace rocksdb {
class DB;
}

namespace stator::bench {

// Number `i` of a permutation of the numbers below `count`, in an order unrelated to the numbers.
uint64_t raw_order(uint64_t i, uint64_t count);

class RawRocks {
 public:
  explicit RawRocks(const std::filesystem::path& directory);
  RawRocks(const RawRocks&) = delete;
  RawRocks& operator=(const RawRocks&) = delete;
  ~RawRocks();

  bool get(uint64_t number);
  bool put(uint64_t number, const std::string& value, bool sync);
  // Puts `count` keys in raw_order(), in synced batches.
  bool put_all(uint64_t count, const std::string& value, uint64_t batch_size);

 private:
  std::unique_ptr<rocksdb::DB> db_;
};

}  // namespace stator::bench
