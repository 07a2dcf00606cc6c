// SPDX-License-Identifier: Apache-2.0
// RocksCommitter: gathers waiting batches into one write, in order.
//
// While a write is on its way to the disk the next batches wait, and go together in the next one;
// what it acknowledges meanwhile does not hold that one up. Queued versions can be read through
// find(), so that the writers of one key need not wait for the disk between them.
// Commit versions (Batch::put_versioned) need no counter on the disk. RocksDB numbers every row
// that is written, keeps its latest number over restarts, crashes and copies, and never goes back.
// They begin above the number found at the start, and each costs a row of its own; batches are
// written in the order in which they were versioned. So by induction no row that is there has a
// commit version above the latest number, and the next start begins above all of them, however much
// of the end a crash took. Commit versions of batches that were refused are given again, as they
// are in no row: without that they could outrun the numbers. After a write that may or may not have
// been made nothing more is taken until the next start.
//
// Failure: while the disk is too full (see RocksSpace), batches are refused before anything of them
// is written, except those that free space. If the disk turns out to be full in the middle of a
// write, the store resumes in a new log, without that write. After any other failed write nothing
// more is taken until the store is opened again: a disk that lost one write may have lost others.
//
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
#include "storage/rocks_open.h"
#include "storage/schema_rows.h"
#include "storage/stores.h"

namespace rocksdb {
class DB;
class Status;
}  // namespace rocksdb

namespace stator {

class RocksCommitter {
 public:
  // `opened` must outlive it.
  RocksCommitter(OpenedDatabase& opened, const RocksStoreOptions& options);
  RocksCommitter(const RocksCommitter&) = delete;
  RocksCommitter& operator=(const RocksCommitter&) = delete;
  ~RocksCommitter();  // writes what is queued first

  struct Queued {
    uint64_t sequence = 0;
    std::optional<std::string> value;  // absent: erased
  };
  // The newest queued version of a key; absent where none waits.
  std::optional<Queued> find(std::string_view key) const;

  // Queues a batch. `done` runs when it, and everything up to sequence `seen`, is written. An empty
  // batch waits for `seen` only. `queued` is called once, before `done` can run: from then on
  // find() returns the batch's versions. If the outcome is known at once, it is returned instead,
  // and neither `done` nor `queued` is called. kSchemaChanged unless schemas have the `expected`
  // versions as the batch takes its place.
  std::optional<CommitResult> commit(Batch batch, uint64_t seen, CommitDone& done,
                                     FunctionRef<void()> queued, SchemaVersions expected);
  // The newest version may still be queued.
  Result<std::shared_ptr<const SchemaRow>> schema_row(std::string_view key);

  // Every commit version up to this one is of a written row, or of none.
  uint64_t written_commit_version() const;

  // Calls `look` while nothing is being written, with the sequence of the last batch that was.
  // Waits for a write that is under way.
  void between_writes(FunctionRef<void(uint64_t sequence)> look);

  StoreHealth health() const;
  // The members that concern commits.
  StoreStats stats() const;

 private:
  struct Waiting {
    uint64_t sequence = 0;
    Batch batch;
    CommitDone done;
    uint64_t last_commit_version = 0;  // given up to this batch
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
  Result<uint64_t> read_schema_version(const std::string& key) const;
  Group give_up(const CommitResult& result);
  bool is_full_for(const Batch& batch);
  bool admit(const Group& group);
  void await_work(std::unique_lock<std::mutex>& lock);
  CommitResult write_durably(const Group& group);

  OpenedDatabase& opened_;
  rocksdb::DB& db_;
  RocksSpace& space_;
  const bool sync_;
  const std::size_t queue_bytes_max_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::unique_ptr<Waiting>> queue_;
  std::size_t queued_bytes_ = 0;
  uint64_t last_sequence_ = 0;           // of what was queued
  uint64_t written_sequence_ = 0;        // of what is durable, or lost
  uint64_t last_commit_version_ = 0;     // of what was queued
  uint64_t written_commit_version_ = 0;  // of what was written
  uint64_t lost_up_to_ = 0;              // of what had been read from the queue and then failed
  // By keys of the batches that wait.
  std::unordered_map<std::string_view, Newest> newest_;
  SchemaRows schemas_;
  std::optional<Error> failure_;  // set once: no further writes
  uint64_t commits_ = 0;          // written, or refused by the disk
  uint64_t groups_ = 0;
  uint64_t syncs_ = 0;
  bool full_ = false;  // for puts, when last looked
  bool progress_synced_ = true;
  bool writing_ = false;  // one of the threads is
  int looking_ = 0;       // between_writes() that wait for the write under way
  std::condition_variable idle_;
  bool stopping_ = false;
  // Of the thread that writes: when it last looked for room, and the bytes admitted since.
  std::chrono::steady_clock::time_point looked_;
  uint64_t admitted_bytes_ = 0;
  std::array<std::thread, 2> threads_;  // one writes while the other acknowledges
};

}  // namespace stator
