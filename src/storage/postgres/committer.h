// SPDX-License-Identifier: Apache-2.0
// Committer: gathers the commits that wait and sends them together, one call for each thread. The
// commits of a call that fails as a whole, because of one lock or one value, are repeated singly.
//
// Thread safety: any thread.
// Callbacks: `done` of a commit runs on a thread of the committer.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string_view>
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
// new ones of `session`, for at most `timeout`. A call without a response has as much longer; then
// its outcome is unknown, and the connection waits for the response on. With `in_transaction` the
// call ends a transaction that has begun.
// An error is the server's, about the whole call, and nothing was applied; kConflict: of locks.
Result<std::vector<CommitResult>> run_call(Session& session, Connection& connection,
                                           CommitCall& call, bool in_transaction,
                                           std::chrono::milliseconds timeout);
// Of a commit of which nothing was applied: a conflict if the error is one.
CommitResult failed_with(Error error);

class Committer {
 public:
  // The options of connections and the server must outlive it.
  Committer(const ConnectionOptions& connections, Server& server, const CommitterOptions& options);
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;
  // Commits what is queued. Nobody may submit any more.
  ~Committer();

  // An error, and nothing done: kThrottling if the queue is full; kUnavailable while is_stuck().
  Result<void> submit(Commit& commit);
  // Whether every connection waits for the server to confirm a commit.
  bool is_stuck() const;
  StoreStats stats() const;
  ConnectionPoolStats pool_stats(std::string_view name) const;

 private:
  CommitCall gather();
  void run(Session session);
  void commit(Session& session, CommitCall call);
  void put_back(std::vector<Commit> commits);
  void wait_for_response(Session& session, std::unique_lock<std::mutex>& lock);
  void sweep_each_day(Connection& connection);

  const CommitterOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Commit> queue_;
  std::size_t queued_bytes_ = 0;
  uint64_t commits_ = 0;
  uint64_t calls_ = 0;
  std::size_t busy_ = 0;
  int32_t swept_day_ = 0;
  std::size_t waiting_threads_ = 0;  // for a response that came too late for its commits
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace stator::postgres
