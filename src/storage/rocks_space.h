// SPDX-License-Identifier: Apache-2.0
// RocksSpace: the space that a store needs on its disk, and how it resumes after there was none.
//
// Two amounts are kept back. The ballast covers what recovery writes, at least the rows that are in
// the log only; whatever RocksDB writes may draw on it. The reserve is free space that puts leave
// for compactions. Below it only writes that free space are admitted.
// Thread safety: admit() and resume() by one thread at a time; everything else by any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "stator/result.h"
#include "storage/rocks_space_env.h"
#include "storage/stores.h"

namespace rocksdb {
struct FlushOptions;
class DB;
class Env;
class EventListener;
}  // namespace rocksdb

namespace stator {

// Does not wait for compactions, which may find no space.
rocksdb::FlushOptions flush_at_once();

// Writes wait at so many tables on level 0. With the 4 write buffers of level 1 they are the
// largest compaction, which the reserve has space for.
inline constexpr int kLevel0FilesMax = 12;

class RocksSpace {
 public:
  // Sizes that are not set follow from the size of the disk.
  struct Sizes {
    uint64_t write_buffer_bytes = 0;
    uint64_t base_bytes = 0;  // of the ballast while nothing is in the log only
    uint64_t reserve_bytes = 0;
  };
  static Sizes sizes_for(uint64_t disk_bytes, const RocksStoreOptions& options);

  // `env` must outlive it.
  RocksSpace(rocksdb::Env& env, const RocksStoreOptions& options);
  RocksSpace(const RocksSpace&) = delete;
  RocksSpace& operator=(const RocksSpace&) = delete;
  ~RocksSpace();  // ends the compaction that runs for it

  const Sizes& sizes() const { return sizes_; }
  // Watches for errors in the background; to be among the options of the database.
  std::shared_ptr<rocksdb::EventListener> listener() const;
  // The environment for the database, which it must outlive. See rocks_space_env.h.
  std::unique_ptr<rocksdb::Env> environment() const;

  // Whether opening has the space that it needs for `log_bytes` of log; kIo if not.
  Result<void> prepare_opening(uint64_t log_bytes);

  // From now on it serves this database, which must outlive it.
  void opened(rocksdb::DB& db);
  // Allocates as much of the ballast as there is space for.
  void restore_ballast();

  enum class Admission {
    kAdmitted,
    kAdmittedToFree,  // there is no room for puts
    kRefused,
  };
  // Whether a write of so many bytes leaves enough; of one that frees space, less has to be left.
  Admission admit(uint64_t bytes, bool frees);
  bool has_room() const;  // for puts

  // Whether a write or background work ended as the disk was full.
  bool ran_out() const;
  // Lets the database write again: what is in the log only is written to a table file, so that the
  // log no longer matters. False if there is still not enough space. After true, no write that had
  // failed has been applied, or ever will be.
  bool resume();

  // Whether resume() cannot help before the database is opened again: the first write of a new log
  // failed, or RocksDB forgot a flush. Waits for flushes that are scheduled.
  bool is_stuck() const;

  // Starts a compaction, so that deletes free their space soon.
  void reclaim_soon();

 private:
  uint64_t unflushed_bytes() const;
  uint64_t covered_bytes() const;
  void aim_at(uint64_t bytes);
  void reclaim();

  rocksdb::Env& env_;
  const std::filesystem::path path_;
  const std::shared_ptr<SpaceState> state_;
  const Sizes sizes_;
  rocksdb::DB* db_ = nullptr;

  std::mutex mutex_;
  std::condition_variable wake_;
  bool wanted_ = false;
  std::atomic<bool> stopping_ = false;
  std::thread reclaimer_;
};

}  // namespace stator
