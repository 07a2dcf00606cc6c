// SPDX-License-Identifier: Apache-2.0
#include "bench/raw_rocks.h"

#include <fmt/format.h>
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include <algorithm>

namespace stator::bench {
namespace {

std::string key_of(uint64_t number) {
  return fmt::format("{:020}", number);
}

}  // namespace

uint64_t raw_order(uint64_t i, uint64_t count) {
  constexpr uint64_t kPrime = 2'654'435'761;  // coprime to every smaller count
  return i * kPrime % count;
}

RawRocks::RawRocks(const std::filesystem::path& directory) {
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.block_cache = rocksdb::NewLRUCache(64UL << 20);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  rocksdb::DB* db = nullptr;
  if (rocksdb::DB::Open(options, directory.string(), &db).ok()) db_.reset(db);
}

RawRocks::~RawRocks() = default;

bool RawRocks::get(uint64_t number) {
  rocksdb::PinnableSlice value;
  return db_->Get(rocksdb::ReadOptions(), db_->DefaultColumnFamily(), key_of(number), &value).ok();
}

bool RawRocks::put(uint64_t number, const std::string& value, bool sync) {
  rocksdb::WriteOptions options;
  options.sync = sync;
  return db_->Put(options, key_of(number), value).ok();
}

bool RawRocks::put_all(uint64_t count, const std::string& value, uint64_t batch_size) {
  rocksdb::WriteOptions options;
  options.sync = true;
  for (uint64_t first = 0; first < count; first += batch_size) {
    rocksdb::WriteBatch batch;
    for (uint64_t i = first; i < std::min(first + batch_size, count); ++i) {
      if (!batch.Put(key_of(raw_order(i, count)), value).ok()) return false;
    }
    if (!db_->Write(options, &batch).ok()) return false;
  }
  return true;
}

}  // namespace stator::bench
