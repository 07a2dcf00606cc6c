// SPDX-License-Identifier: Apache-2.0
// RocksCommitter: gathers waiting batches into one write, in order.
//
// While a write is on its way to the disk the next batches wait, and go together in the next one.
// Queued versions can be read through find(), so that the writers of one key need not wait for the
// disk between them.
// Thread safety: every method may be called from any thread at once.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>

#include "storage/batch.h"
#include "storage/store.h"

namespace rocksdb {
class DB;
}

namespace stator {

class RocksCommitter {
 public:
  RocksCommitter(rocksdb::DB& db, bool sync, std::size_t queue_bytes_max);
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
  };
  struct KeyHash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  void run();
  std::optional<Error> write(const std::deque<Waiting>& group);
  void retire(const std::deque<Waiting>& group);
  void fail_all(std::deque<Waiting> group, const Error& error);

  rocksdb::DB& db_;
  const bool sync_;
  const std::size_t queue_bytes_max_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Waiting> queue_;
  std::size_t queued_bytes_ = 0;
  uint64_t last_sequence_ = 0;     // of what was queued
  uint64_t written_sequence_ = 0;  // of what is durable
  std::unordered_map<std::string, Queued, KeyHash, std::equal_to<>> newest_;
  std::optional<Error> failure_;  // set once: no further writes
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace stator
