// SPDX-License-Identifier: Apache-2.0
// Session: a connection that is opened again after it broke. Belongs to one thread at a time.
// WorkerPool: threads with a session each, which run the jobs of one bounded queue.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "storage/postgres/connection.h"

namespace stator::postgres {

// Why the store cannot reach its server, for TransactStore::health(). Thread safety: any thread.
class Reachability {
 public:
  void lost(std::string reason);
  void reached();
  std::string reason() const;  // empty: the last connection was made

 private:
  mutable std::mutex mutex_;
  std::string reason_;
};

class Session {
 public:
  // Both must outlive it.
  Session(const ConnectionOptions& options, Reachability& reachability)
      : options_(options), reachability_(reachability) {}

  // The open connection, or a new one. Valid until the next call.
  SqlResult<Connection*> connected();
  void close() { connection_.reset(); }

 private:
  const ConnectionOptions& options_;
  Reachability& reachability_;
  std::unique_ptr<Connection> connection_;
};

class WorkerPool {
 public:
  using Job = std::move_only_function<void(Session&)>;

  WorkerPool(const ConnectionOptions& options, Reachability& reachability, std::size_t threads,
             std::size_t queued_max);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  // Runs the jobs that are queued. Nobody may post any more.
  ~WorkerPool();

  // Whether a new call must be refused. The next step of a call that has begun is never refused.
  bool is_full();
  void post(Job job);

 private:
  void run(Session session);

  const std::size_t queued_max_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> jobs_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace stator::postgres
