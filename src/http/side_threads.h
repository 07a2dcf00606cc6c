// SPDX-License-Identifier: Apache-2.0
// SideThreads: threads for requests that need much memory. They keep such work off the event loops
// and run only as many requests concurrently as there is memory for.
//
// Thread safety: post from any thread; stop from one that is not among them.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/wait_line.h"
#include "http/memory_budget.h"

namespace stator::http {

class SideThreads {
 public:
  // Returns how many bytes a job needs. Called on the job's thread.
  using Measure = std::move_only_function<std::size_t()>;
  // Called with these bytes reserved, or with none if they were not available in time.
  using Run = std::move_only_function<void(Reservation reserved)>;

  // The budget must outlive this object. The threads start with the first job. A job waits for its
  // memory for up to `patience`, including its time in the queue.
  SideThreads(int count, MemoryBudget& budget, std::chrono::milliseconds patience)
      : count_(count), budget_(budget), patience_(patience) {}
  SideThreads(const SideThreads&) = delete;
  SideThreads& operator=(const SideThreads&) = delete;
  ~SideThreads() { stop(); }

  // Jobs run in order. False if too many wait, and after stop().
  bool post(Measure measure, Run run);
  std::size_t queue_length() const;
  // Waits for running jobs and drops the rest.
  void stop();

 private:
  struct Job {
    Measure measure = {};
    Run run = {};
    std::chrono::steady_clock::time_point deadline = {};  // for the bytes
  };

  void work();
  void run_one(Job job);

  const int count_;
  MemoryBudget& budget_;
  const std::chrono::milliseconds patience_;
  mutable std::mutex mutex_;
  WaitLine wake_;
  std::deque<Job> jobs_;
  std::vector<std::thread> threads_;
  bool stopping_ = false;
};

}  // namespace stator::http
