// SPDX-License-Identifier: Apache-2.0
// WorkerPool: sessions, and as many threads, for the tasks of one bounded queue. A thread that may
// wait (WaitPermit) runs its task itself if a session is free.
//
// Reads of keys that wait together share a statement.
// Thread safety: any thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

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

  // Whether the queue is full, so that calls must be rejected.
  bool is_full();
  void post(Job job);
  void post(std::unique_ptr<KeyRead> read);
  ConnectionPoolStats stats(std::string_view name) const;

 private:
  struct Task {  // one of them
    Job job = {};
    std::unique_ptr<KeyRead> read = {};
  };
  using Tasks = std::vector<Task>;

  void add(Task task);
  void work();
  // With the lock, which it releases while a session runs tasks.
  void run_next(std::unique_lock<std::mutex>& lock, Tasks tasks);
  Tasks next_tasks();

  const std::size_t queued_max_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Task> tasks_;
  std::vector<std::unique_ptr<Session>> sessions_;  // all of them
  std::vector<Session*> free_;                      // the one used last is the last
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace stator::postgres
