// SPDX-License-Identifier: Apache-2.0
// WorkerPool: a number of sessions, the same number of threads, and a queue of tasks for them.
// Reads of keys that wait together share a statement.
//
// Thread safety: any thread. The options and the server must outlive the pool.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "base/wait_line.h"
#include "storage/postgres/reading.h"
#include "storage/postgres/session.h"
#include "storage/transact_store.h"

namespace stator::postgres {

class WorkerPool {
 public:
  using Job = std::move_only_function<void(Session&)>;

  WorkerPool(const ConnectionOptions& options, Server& server, std::size_t sessions,
             std::size_t queued_max);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  // Runs the queued tasks. No concurrent post() is permitted.
  ~WorkerPool();

  // Whether `queued_max` tasks wait, so that calls must be rejected. post() accepts more.
  bool is_full();
  // If the calling thread may wait for the server (WaitPermit), no task waits and a session is
  // free, runs the task before it returns. A job must not throw.
  void post(Job job);
  void post(std::unique_ptr<KeyRead> read);
  ConnectionPoolStats stats(std::string_view name) const;

 private:
  struct Task {  // a job or a read
    Job job = {};
    std::unique_ptr<KeyRead> read = {};
  };
  using Tasks = std::vector<Task>;

  void add(Task task);
  void work();
  // Called with the lock held. It is released while a session runs the tasks.
  void run_next(std::unique_lock<std::mutex>& lock, Tasks tasks);
  Tasks next_tasks();

  const std::size_t queued_max_;
  mutable std::mutex mutex_;
  WaitLine wake_;
  std::deque<Task> tasks_;
  std::vector<std::unique_ptr<Session>> sessions_;
  std::vector<Session*> free_;  // a stack: the most recently used session is used first
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace stator::postgres
