// SPDX-License-Identifier: Apache-2.0
// Worker: runs jobs on one or more threads (default: one). Each thread starts when it is needed.
//
// Thread safety: any thread; stop() must not be called from a job.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace stator {

class Worker {
 public:
  explicit Worker(std::size_t threads_max = 1) : threads_max_(threads_max) {}
  ~Worker() { stop(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Queues a job. Jobs begin in the order of the calls; with one thread, each begins after the
  // previous one has ended. After stop(), jobs are dropped.
  // Throws std::system_error if no thread can be started.
  void post(std::move_only_function<void()> job);
  // Drops the queued jobs, then waits for the running ones.
  void stop();

 private:
  void run();

  const std::size_t threads_max_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::move_only_function<void()>> jobs_;
  bool stopping_ = false;
  std::size_t idle_ = 0;  // threads without a job
  std::vector<std::thread> threads_;
};

}  // namespace stator
