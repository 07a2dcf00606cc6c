// SPDX-License-Identifier: Apache-2.0
// RocksCommitter: gathers waiting batches into one write, in order.
//
// While a write is on its way to the disk the next batches wait, and go together in the next one;
// what it acknowledges meanwhile does not hold that one up. Queued versions can be read through
// find(), so that the writers of one key need not wait for the disk between them.
// Stamps (Transaction::put_stamped) need no counter on the disk. RocksDB numbers every row that is
// written, keeps its latest number over restarts, crashes and copies, and never goes back. They
// begin above the number found at the start, and each costs a row of its own; batches are written
// in the order in which they were stamped. So by induction no row that is there has a stamp above
// the latest number, and the next start begins above all of them, however much of the end a crash
// took. Stamps of batches that were refused are given again, as they are in no row: without that
// they could outrun the numbers. After a write that may or may not have been made nothing more is
// taken until the next start.
// Failure: where less than a reserve is free on the disk, batches are refused before anything of
// them is written, until there is room. After a write that failed nothing more is taken until the
// store is opened anew, since a disk that lost one write may have lost others.
// Thread safety: every method may be called from any thread at once.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "storage/batch.h"
#include "storage/stores.h"

namespace rocksdb {
class DB;
class Status;
}  // namespace rocksdb

namespace stator {

class RocksCommitter {
 public:
  RocksCommitter(rocksdb::DB& db, const RocksStoreOptions& options);
  RocksCommitter(const RocksCommitter&) = delete;
  RocksCommitter& operator=(const RocksCommitter&) = delete;
  ~RocksCommitter();  // writes what is queued first

  struct Queued {
    uint64_t sequence = 0;
    std::optional<std::string> value;  // absent: erased
  };
  // The newest queued version of a key; absent where none waits.
  std::optional<Queued> find(std::string_view key) const;

  // Queues a batch. `done` runs when it, and everything up to sequence `seen`, is written.
  // An empty batch waits for `seen` only. `queued` is called once, before `done` can run: from then
  // on find() answers with the batch's versions, or the batch was refused.
  void commit(Batch batch, uint64_t seen, CommitDone done, FunctionRef<void()> queued);

  StoreHealth health() const;

 private:
  struct Waiting {
    uint64_t sequence = 0;
    Batch batch;
    CommitDone done;
    uint64_t last_stamp = 0;  // given up to this batch
  };
  using Group = std::vector<std::unique_ptr<Waiting>>;
  struct Newest {
    uint64_t sequence = 0;
    const Write* write = nullptr;  // of a batch that waits
  };

  void run();
  Group take_group();
  rocksdb::Status write(const Group& group) const;
  void enter(const Waiting& waiting);
  void retire(const Group& group);
  Group give_up(const CommitResult& result);
  bool has_room() const;
  CommitResult write_durably(const Group& group);

  rocksdb::DB& db_;
  const bool sync_;
  const std::size_t queue_bytes_max_;
  const uint64_t reserve_bytes_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::unique_ptr<Waiting>> queue_;
  std::size_t queued_bytes_ = 0;
  uint64_t last_sequence_ = 0;     // of what was queued
  uint64_t written_sequence_ = 0;  // of what is durable, or lost
  uint64_t last_stamp_ = 0;        // of what was queued
  uint64_t written_stamp_ = 0;     // of what was written
  uint64_t lost_up_to_ = 0;        // of what had been read from the queue and then failed
  // By keys of the batches that wait.
  std::unordered_map<std::string_view, Newest> newest_;
  std::optional<Error> failure_;  // set once: no further writes
  bool full_ = false;             // when last looked
  bool writing_ = false;          // one of the threads is
  bool stopping_ = false;
  std::chrono::steady_clock::time_point looked_;  // for room; of the thread that writes
  std::array<std::thread, 2> threads_;            // one writes while the other acknowledges
};

}  // namespace stator
