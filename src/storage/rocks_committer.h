// SPDX-License-Identifier: Apache-2.0
// RocksCommitter: gathers waiting batches into one write, in order.
//
// While one write is on its way to the disk, the next batches wait and form the next write. The
// acknowledgments of a write run on another thread and do not delay the next write. find() returns
// queued versions, so that the writers of one key do not wait for the disk between them. A thread
// that may wait for the disk (WaitPermit) writes its batch itself, if the last write had one batch
// and none waited behind it.
//
// Commit versions (Batch::put_versioned) need no counter on the disk. RocksDB numbers every row
// that it writes. It keeps its latest number over restarts, crashes and copies, and never reduces
// it. Commit versions begin above the number found at startup. Each belongs to its own row, and
// batches are written in the order of their versions. By induction, no stored row has a commit
// version above the latest number. So the next startup begins above all of them, even if a crash
// lost the end of the log. With durability `os`, readers can have seen the lost rows too. So before
// the committer writes a commit version, the progress file durably excludes it from reuse, and the
// next startup raises the number (docs/formats/directory.md). Commit versions of rejected batches
// are assigned again, because they are in no row; otherwise they could overtake the numbers. After
// a write with an unknown outcome, the committer rejects all batches until the next startup.
//
// Failure: while the disk is too full (see RocksSpace), the committer rejects batches before it
// writes any part of them, except batches that free space. If the disk becomes full during a write,
// the store resumes in a new log, without that write. After any other failed write, the committer
// rejects all batches until the store is reopened: the disk might have lost other writes too. It
// also rejects them within a tenth of a second after the directory was deleted; the operating
// system would accept writes to the deleted log.
//
// Thread safety: every method can be called from any thread at once.
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
  // The newest queued version of a key; absent if there is none.
  std::optional<Queued> find(std::string_view key) const;

  // Queues a batch. `done` runs when it, and everything up to sequence `seen`, is written, on a
  // thread of the committer, or within this call if its thread may wait for the disk. An empty
  // batch waits for `seen` only. `queued` is called once, before `done` can run: from then on
  // find() returns the batch's versions. If the outcome is known at once, it is returned instead,
  // and neither `done` nor `queued` is called. kSchemaChanged unless the schemas have the
  // `expected` versions when the batch is queued.
  std::optional<CommitResult> commit(Batch batch, uint64_t seen, CommitDone& done,
                                     FunctionRef<void()> queued, SchemaVersions expected);
  // The result includes queued versions.
  Result<std::shared_ptr<const SchemaRow>> schema_row(std::string_view key);

  // Every commit version up to this one belongs to a written row or to none.
  uint64_t written_commit_version() const;

  // Waits for the write in progress, and calls `look` with the sequence of the last written batch
  // before the next write begins.
  void between_writes(FunctionRef<void(uint64_t sequence)> look);
  // As LocalViews.
  void observe(CommitObserver* observer);

  StoreHealth health() const;
  // Sets the members that describe commits.
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
