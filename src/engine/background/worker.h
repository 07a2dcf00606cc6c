// SPDX-License-Identifier: Apache-2.0
// Worker: one thread for work that must not run where it arises. Starts with its first job.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace stator {

class Worker {
 public:
  Worker() = default;
  ~Worker() { stop(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Jobs run one after another, in order. After stop() they are dropped.
  void post(std::move_only_function<void()> job);
  // Waits for the job under way and drops the rest. Not from a job.
  void stop();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::move_only_function<void()>> jobs_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace stator
