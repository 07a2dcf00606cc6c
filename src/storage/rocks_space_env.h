// SPDX-License-Identifier: Apache-2.0
// The files that RocksDB writes with space from the ballast, and the errors that it reports.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>

#include "storage/rocks_ballast.h"

namespace rocksdb {
class EventListener;
}  // namespace rocksdb

namespace stator {

// The flushes that RocksDB has scheduled. One that begins after an error in the background ends at
// once, and RocksDB 7.8 forgets it: the memtable stays queued, and DB::Resume() waits forever.
// Thread safety: every method can be called from any thread.
class FlushJobs {
 public:
  void scheduled();
  void ended(bool is_forgotten);
  // Waits until none is scheduled, and returns whether RocksDB forgot one. After an error none
  // follows before DB::Resume().
  bool forgot_one();

 private:
  std::mutex mutex_;
  std::condition_variable none_;
  int scheduled_ = 0;
  bool forgotten_ = false;
};

struct SpaceState {
  SpaceState(rocksdb::Env& env, const std::filesystem::path& directory) : ballast(env, directory) {}

  Ballast ballast;
  std::atomic<bool> ran_out = false;             // RocksDB stopped because the disk was full
  std::atomic<bool> compaction_ran_out = false;  // whether the last compaction lacked space
  std::atomic<uint32_t> compactions = 0;         // grows and notifies when the former is set
  std::atomic<bool> log_failed = false;          // a write to the newest log
  FlushJobs flushes;
};

// `base` must outlive it. A new log has `log_bytes` of space in it or is not created: RocksDB can
// resume after a failed write only if the log holds an earlier one. `zeroed`: logs have zeros in
// advance (rocks_zeroed_log.h) while there is much free space.
std::unique_ptr<rocksdb::Env> make_space_env(rocksdb::Env& base, std::shared_ptr<SpaceState> state,
                                             uint64_t log_bytes, bool zeroed);

// Must be added to the options of a database in that environment.
std::shared_ptr<rocksdb::EventListener> make_space_listener(std::shared_ptr<SpaceState> state);

}  // namespace stator
