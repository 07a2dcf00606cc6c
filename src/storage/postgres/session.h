// SPDX-License-Identifier: Apache-2.0
// Session: a connection that is opened again after it broke. Belongs to one thread at a time.
// WorkerPool: threads with a session each, which run the jobs of one bounded queue.
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

  // The open connection, or a new one. Valid until the next call. Nobody may close a connection
  // whose commit the server has not confirmed: its process would stay, and each new connection
  // would leave another one.
  // Errors: kUnavailable, also as long as the server has not responded to an earlier call.
  Result<Connection*> connected();
  // Runs `job`, which takes a Connection& and returns an SqlResult; once more, on a new connection,
  // if it had one that broke. So it must change nothing.
  template <class Job>
  auto read(Job job) -> Result<typename std::invoke_result_t<Job&, Connection&>::value_type> {
    for (bool again = true;; again = false) {
      STATOR_ASSIGN_OR_RETURN(Connection* const connection, connected());
      auto result = job(*connection);
      if (result) return std::move(*result);
      if (!again || !connection->is_broken()) return Failure(to_error(result.error()));
    }
  }
  // Whether the server has responded to every earlier call by then.
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
  // Runs the jobs that are queued. Nobody may post any more.
  ~WorkerPool();

  // Whether a call must be refused.
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
