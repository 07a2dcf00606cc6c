// SPDX-License-Identifier: Apache-2.0
// Session: a connection that is opened again after it broke. Thread safety: one thread at a time.
// WorkerPool: threads with one session each, which run the jobs of one bounded queue. Thread
// safety: any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "storage/postgres/connection.h"
#include "storage/postgres/server.h"
#include "storage/transact_store.h"

namespace stator::postgres {

class Session {
 public:
  // Both must outlive it.
  Session(const ConnectionOptions& options, Server& server) : options_(options), server_(server) {}

  // Returns the open connection, or a new one. It is valid until the next call. A connection with
  // an unconfirmed commit is kept open: closing it would leave its server process running, and each
  // new connection could leave another one.
  // Errors: kUnavailable, also while the server has not responded to an earlier call.
  Result<Connection*> connected();
  // Runs `job`, which takes a Connection& and returns an SqlResult. If the connection breaks, it
  // runs `job` once more on a new one, so `job` must not change anything.
  template <class Job>
  auto read(Job job) -> Result<typename std::invoke_result_t<Job&, Connection&>::value_type> {
    for (bool again = true;; again = false) {
      STATOR_ASSIGN_OR_RETURN(Connection* const connection, connected());
      auto result = job(*connection);
      if (result) return std::move(*result);
      if (!again || !connection->is_broken()) return Failure(to_error(result.error()));
    }
  }
  // Whether the server responds to all earlier calls within `timeout`.
  bool responds_within(std::chrono::milliseconds timeout);
  Server& server() { return server_; }

 private:
  const ConnectionOptions& options_;
  Server& server_;
  std::unique_ptr<Connection> connection_;
};

class WorkerPool {
 public:
  using Job = std::move_only_function<void(Session&)>;

  WorkerPool(const ConnectionOptions& options, Server& server, std::size_t threads,
             std::size_t queued_max);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  // Runs the queued jobs. No concurrent post() is permitted.
  ~WorkerPool();

  // Whether the queue is full, so that calls must be rejected.
  bool is_full();
  void post(Job job);
  ConnectionPoolStats stats(std::string_view name) const;

 private:
  void run(Session session);

  const std::size_t queued_max_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> jobs_;
  std::size_t busy_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace stator::postgres
