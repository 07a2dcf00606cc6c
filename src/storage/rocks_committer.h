// SPDX-License-Identifier: Apache-2.0
// RocksCommitter: queues the batches of RocksStore, writes them to RocksDB in order, many in one
// synced write, and reports their outcomes.
//
// Groups: while one group of batches is written, later batches wait and form the next group. Of the
// two threads, one writes while the other runs the callbacks of the previous group. A caller that
// may wait for the disk (WaitPermit) writes its batch itself, if the last group had one batch and
// no batch waits.
//
// Queued versions: find() returns the versions of keys that are not written yet. So a transaction
// can continue from them without waiting for the disk, and its outcome depends on theirs (`seen`).
// Other readers must not see them.
//
// Commit versions (Batch::put_versioned) ascend in the order of the queue. They need no counter on
// the disk, because of an invariant: no stored row has a commit version above RocksDB's latest
// sequence number. RocksDB raises that number with each row that it writes, and keeps it over
// restarts, crashes and copies. Commit versions begin above the number found at startup, and each
// is in a row of its own, so they do not overtake it. Those of rejected batches are in no row and
// are assigned again. If a crash loses the end of the log, the number falls with the rows. With
// durability `os`, readers can have seen those rows; so the progress file reserves commit versions,
// durably and before they are written, and the next startup raises the number above the reserved
// ones (docs/formats/directory.md).
//
// Failure: while the disk is too full (RocksSpace), batches are rejected before any part of them is
// written, except those that free space. If the disk becomes full during a write, that write fails,
// and later ones go to a new log. After any other failed write, the outcome is unknown, and other
// writes might be lost too, so all batches are rejected until the store is reopened. The same
// applies within 0.1 s after the directory was deleted, because the operating system accepts writes
// to a deleted log. After a failed group, all queued batches fail: they can depend on it.
//
// Thread safety: any thread.
// Lifetime: the destructor writes what is queued, and waits for the callbacks.
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
  // `opened` must outlive it. If it has no progress file, it was opened for reading only: all
  // batches are rejected.
  RocksCommitter(OpenedDatabase& opened, const RocksStoreOptions& options);
  RocksCommitter(const RocksCommitter&) = delete;
  RocksCommitter& operator=(const RocksCommitter&) = delete;
  ~RocksCommitter();

  struct Queued {
    uint64_t sequence = 0;             // the number of its batch, in the order of the queue
    std::optional<std::string> value;  // absent: erased
  };
  // Returns the newest version of a key that waits or is being written; absent if there is none:
  // then RocksDB has the newest.
  std::optional<Queued> find(std::string_view key) const;

  // Queues a batch. The caller holds the locks of its keys, from its calls of find() on. `queued`
  // is called within this call, once find() returns the batch's versions: the locks are then no
  // longer needed.
  // `seen`: the highest Queued::sequence that the batch depends on, or 0.
  // `done` is taken and runs once the batch and all batches up to `seen` are durable, or have
  // failed: on a thread of the committer, or within this call if its thread may wait for the disk.
  // An empty batch only waits for `seen`.
  // If the outcome is known at once, it is returned, and neither `queued` nor `done` is called:
  // kSchemaChanged unless the schemas have the `expected` versions; kConflict if a batch up to
  // `seen` was lost; kUnavailable if writes are rejected, with kThrottling if too many bytes are
  // queued; kCommitted for an empty batch if all batches up to `seen` are written.
  std::optional<CommitResult> commit(Batch batch, uint64_t seen, CommitDone& done,
                                     FunctionRef<void()> queued, SchemaVersions expected);
  // As TransactStore; its version includes queued ones.
  Result<std::shared_ptr<const SchemaRow>> schema_row(std::string_view key);

  // Returns a commit version up to which no row is still to be written.
  uint64_t written_commit_version() const;

  // Waits for the write in progress, and calls `look` before the next one begins. `sequence`: that
  // of the last batch whose outcome is known. `look` must not block or call the committer.
  void between_writes(FunctionRef<void(uint64_t sequence)> look);
  // As LocalViews::observe().
  void observe(CommitObserver* observer);

  StoreHealth health() const;
  // Only the members about commits, syncs and the queue are set.
  StoreStats stats() const;

 private:
  struct Waiting {
    uint64_t sequence = 0;
    Batch batch;
    CommitDone done;
    uint64_t last_commit_version = 0;  // assigned up to this batch
  };
  using Group = std::vector<std::unique_ptr<Waiting>>;
  struct GivenUp {
    std::unique_ptr<Waiting> batch;
    Error error;
  };
  struct Newest {
    uint64_t sequence = 0;
    const Write* write = nullptr;  // of a batch that waits
  };

  void run();
  void write_next(std::unique_lock<std::mutex>& lock) noexcept;
  Group take_group();
  rocksdb::Status write(const Group& group) const;
  void enter(const Waiting& waiting);
  void retire(const Group& group);
  Result<uint64_t> read_schema_version(const std::string& key) const;
  void give_up(const CommitResult& result);
  bool is_full_for(const Batch& batch);
  const char* why_full() const;
  Result<RocksSpace::Admission> admit(const Group& group);
  Result<void> reserve_commit_versions(uint64_t last);
  void await_work(std::unique_lock<std::mutex>& lock);
  CommitResult write_durably(const Group& group, CommitObserver* observer);

  OpenedDatabase& opened_;
  rocksdb::DB& db_;
  RocksSpace& space_;
  const bool sync_;
  const std::size_t queue_bytes_max_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::unique_ptr<Waiting>> queue_;
  std::size_t queued_bytes_ = 0;
  uint64_t last_sequence_ = 0;           // queued
  uint64_t written_sequence_ = 0;        // durable, or lost
  uint64_t last_commit_version_ = 0;     // queued
  uint64_t written_commit_version_ = 0;  // written
  uint64_t lost_up_to_ = 0;              // sequence of batches that failed after others read them
  // By keys of the waiting batches.
  std::unordered_map<std::string_view, Newest> newest_;
  SchemaRows schemas_;
  std::optional<Error> failure_;  // set once: no further writes
  uint64_t commits_ = 0;          // written, or refused by the disk
  uint64_t groups_ = 0;
  uint64_t syncs_ = 0;
  bool full_ = false;  // for puts, at the last check
  bool progress_synced_ = true;
  std::vector<GivenUp> given_up_;  // not written; the committer's threads call back
  bool writing_ = false;           // one thread is writing
  bool alone_ = true;              // the last group was one batch, and none was queued behind it
  std::chrono::steady_clock::time_point written_at_;  // the last group
  int looking_ = 0;                                   // calls of between_writes() that wait
  std::condition_variable idle_;
  CommitObserver* observer_ = nullptr;
  bool stopping_ = false;
  // Used by the writing thread only: when it last checked the disk, and the bytes admitted since.
  std::chrono::steady_clock::time_point looked_;
  uint64_t admitted_bytes_ = 0;
  std::array<std::thread, 2> threads_;  // one writes while the other acknowledges
};

}  // namespace stator
