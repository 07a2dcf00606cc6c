// SPDX-License-Identifier: Apache-2.0
// Committer: gathers waiting commits and sends them together, with one call in progress per thread.
// If a call fails as a whole, because of one lock or one value, its commits are repeated one by
// one.
//
// Thread safety: any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "base/wait_line.h"
#include "storage/postgres/commit_call.h"
#include "storage/postgres/session.h"

namespace stator::postgres {

struct CommitterOptions {
  std::size_t connections = 4;
  std::size_t queue_bytes_max = 64UL << 20;
  // If the reply to a commit is lost, the store queries the database for the outcome of the commit
  // for up to this time. After that, the caller gets kUnknown.
  std::chrono::milliseconds settle_timeout{10'000};
};

// Runs a call on an open connection. If the connection breaks, it finds the outcome of the call on
// new connections of `session`, for at most `timeout`. A call without a response gets this time in
// addition; then its outcome is unknown, and the connection continues to wait. With
// `in_transaction`, the call ends a transaction that has begun.
// Errors: those of the server about the whole call, of which nothing was applied; kConflict for
// locks.
Result<std::vector<CommitResult>> run_call(Session& session, Connection& connection,
                                           CommitCall& call, bool in_transaction,
                                           std::chrono::milliseconds timeout);
// The result of a commit that was not applied because of `error`: kConflict if it is one.
CommitResult failed_with(Error error);

// A call takes all commits that wait for it, so few large calls cost much less than many small
// ones. A second call begins if the waiting commits are large. More begin only if the running ones
// take long, or if the waiting commits fill them.
//
// Thread safety: any thread. `done` of a commit runs on a thread of the committer, or on the
// caller's if that may wait (see WaitPermit).
class Committer {
 public:
  // The options of connections and the server must outlive it.
  Committer(const ConnectionOptions& connections, Server& server, const CommitterOptions& options);
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;
  // Commits the queued commits. No concurrent submit() is permitted.
  ~Committer();

  // Queues a commit. Errors: kThrottling if the queue is full; kUnavailable while is_stuck().
  Result<void> submit(Commit& commit);
  // Whether every connection waits for the server to confirm a commit.
  bool is_stuck() const;
  StoreStats stats() const;
  ConnectionPoolStats pool_stats(std::string_view name) const;

 private:
  bool may_begin() const;
  CommitCall gather();
  void run();
  void begin(std::unique_lock<std::mutex>& lock, CommitCall call);
  void commit(Session& session, CommitCall call);
  void put_back(std::vector<Commit> commits);
  void wait_for_response(Session& session, std::unique_lock<std::mutex>& lock);
  void sweep_each_day(Connection& connection);

  const CommitterOptions options_;
  mutable std::mutex mutex_;
  WaitLine wake_;
  std::vector<std::unique_ptr<Session>> sessions_;  // all of them
  std::vector<Session*> free_;
  std::vector<Session*> unresponsive_;  // no thread waits for them yet
  std::deque<Commit> queue_;
  std::size_t queued_bytes_ = 0;
  uint64_t commits_ = 0;
  uint64_t calls_ = 0;
  std::size_t running_ = 0;                           // calls
  std::chrono::steady_clock::time_point last_begin_;  // of a call
  bool is_watched_ = false;  // a thread waits until the running call has taken long
  int32_t swept_day_ = 0;
  std::size_t unconfirmed_ = 0;  // sessions whose call has ended without a response
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace stator::postgres
