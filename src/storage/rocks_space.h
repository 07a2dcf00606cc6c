// SPDX-License-Identifier: Apache-2.0
// RocksSpace: keeps the disk space that a store needs, and resumes a store whose disk was full.
//
// It keeps two amounts. The ballast covers what recovery writes, at least the rows that are only in
// the log; every write of RocksDB can use it. The reserve is free space that puts leave for
// compactions. Below it, only writes that free space are admitted. While the disk has not much more
// than the reserve, the ballast also covers the largest compaction, so that deletions free space
// even if another program takes the rest.
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

// Options of a flush that starts even if RocksDB would first wait for compactions. On a full disk,
// a compaction can lack space, so that wait might never end.
rocksdb::FlushOptions flush_at_once();

// Numbers of files on level 0 at which RocksDB slows writes, and at which they wait. The largest
// compaction has kLevel0FilesMax of them, and the 4 write buffers of level 1.
inline constexpr int kLevel0FilesSlow = 8;
inline constexpr int kLevel0FilesMax = 12;

class RocksSpace {
 public:
  // Derived from the size of the disk. The options can set the reserve and limit the write buffer.
  struct Sizes {
    uint64_t write_buffer_bytes = 0;
    uint64_t base_bytes = 0;        // of the ballast while every row is in a table file
    uint64_t compaction_bytes = 0;  // of the largest one
    uint64_t reserve_bytes = 0;
  };
  static Sizes sizes_for(uint64_t disk_bytes, const RocksStoreOptions& options);

  // `env` must outlive it.
  RocksSpace(rocksdb::Env& env, const RocksStoreOptions& options);
  RocksSpace(const RocksSpace&) = delete;
  RocksSpace& operator=(const RocksSpace&) = delete;
  ~RocksSpace();  // cancels its compaction

  const Sizes& sizes() const { return sizes_; }
  // Observes background errors. The caller adds it to the database's options.
  std::shared_ptr<rocksdb::EventListener> listener() const;
  // The environment for the database; must outlive it. See rocks_space_env.h.
  std::unique_ptr<rocksdb::Env> environment() const;

  // Releases what the disk lacks of `bytes` from the ballast, for a write before the opening.
  void make_room(uint64_t bytes);
  // Errors: kIo if the disk lacks the space to open a database with `log_bytes` of log.
  Result<void> prepare_opening(uint64_t log_bytes);

  // Attaches the database, which must outlive it. From then on, the ballast covers a compaction
  // while the disk is short of space. If a compaction lacks space, the limits on files of level 0
  // are lifted, because writes would wait for it without end. The limit at which writes wait is
  // restored when later compactions have left fewer than kLevel0FilesSlow files.
  void opened(rocksdb::DB& db);
  // Allocates as much of the ballast as the disk has space for.
  void restore_ballast();

  enum class Admission {
    kAdmitted,
    kAdmittedToFree,  // no space for puts
    kRefused,
  };
  // Whether a write of `bytes` leaves enough space. A write that frees space can leave less.
  Admission admit(uint64_t bytes, bool frees);
  bool has_room() const;  // for the put of any item

  // Whether a write or background work failed because the disk was full.
  bool ran_out() const;
  // Lets the database write again: it writes the rows that are only in the log to a table file, so
  // that the log is no longer needed. Returns false if there is too little space, if is_stuck() is
  // true, or if RocksDB fails. After true, no failed write has been applied, or ever will be.
  bool resume();

  // Whether only reopening the database helps: the first write of a new log failed, RocksDB forgot
  // a flush, or the disk failed while it resumed. Waits for scheduled flushes.
  bool is_stuck() const;
  bool disk_failed() const { return disk_failed_; }

  // Starts a compaction, so that deletions free their space soon. Repeats it while it lacks space.
  void reclaim_soon();

 private:
  struct TableLimits {
    int slow = kLevel0FilesSlow;
    int most = kLevel0FilesMax;
    bool operator==(const TableLimits&) const = default;
  };

  uint64_t unflushed_bytes() const;
  uint64_t covered_bytes() const;
  void aim_at(uint64_t bytes);
  void follow_compactions();
  int level0_files() const;
  bool is_stopped() const;
  void set_limits(const TableLimits& limits);
  void keep_space();
  void cover_compaction();
  bool reclaim();

  rocksdb::Env& env_;
  const std::filesystem::path path_;
  const bool synced_;  // each write
  const std::shared_ptr<SpaceState> state_;
  const Sizes sizes_;
  rocksdb::DB* db_ = nullptr;
  std::atomic<uint64_t> covered_compaction_bytes_ = 0;  // by the ballast
  std::atomic<bool> disk_failed_ = false;

  std::mutex mutex_;
  std::condition_variable wake_;
  bool wanted_ = false;
  std::atomic<bool> stopping_ = false;
  std::thread keeper_;
  std::thread follower_;
};

}  // namespace stator
