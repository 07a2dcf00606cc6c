// SPDX-License-Identifier: Apache-2.0
// Committer: gathers the commits that wait and sends them together, one call for each thread.
//
// Thread safety: any thread.
// Callbacks: `done` of a commit runs on a thread of the committer.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "storage/postgres/commit_call.h"
#include "storage/postgres/session.h"

namespace stator::postgres {

struct CommitterOptions {
  std::size_t threads = 4;
  std::size_t queue_bytes_max = 64UL << 20;
  // How long a lost reply is looked for before the outcome stays unknown.
  std::chrono::milliseconds settle_timeout{10'000};
};

// Runs a call on an open connection. After a broken connection it finds out how the call ended, on
// new ones of `session`, for at most `timeout`. With `in_transaction` the call ends a transaction
// that has begun.
std::vector<CommitResult> run_call(Session& session, Connection& connection, CommitCall& call,
                                   bool in_transaction, std::chrono::milliseconds timeout);

class Committer {
 public:
  // The options of connections and the reachability must outlive it.
  Committer(const ConnectionOptions& connections, Reachability& reachability,
            const CommitterOptions& options);
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;
  // Commits what is queued. Nobody may submit any more.
  ~Committer();

  // False, and nothing done, if the queue is full.
  bool submit(Commit& commit);
  StoreStats stats() const;

 private:
  CommitCall gather();
  void run(Session session);
  void commit(Session& session, CommitCall call);
  void sweep_each_day(Connection& connection);

  const CommitterOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Commit> queue_;
  std::size_t queued_bytes_ = 0;
  uint64_t commits_ = 0;
  uint64_t calls_ = 0;
  int32_t swept_day_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace stator::postgres
