// SPDX-License-Identifier: Apache-2.0
// Worker: one thread for work that must not run where it arises. Starts with its first job.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

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
  // Lets time pass, less of it where the worker is to stop. From a job.
  void pause(std::chrono::milliseconds time);
  // For long jobs to end early.
  bool stopping() const { return stopping_.load(std::memory_order_relaxed); }

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::move_only_function<void()>> jobs_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

// Counts operations under way, so that an end can be waited for.
class Gate {
 public:
  class Pass {
   public:
    explicit Pass(Gate& gate) : gate_(&gate) { gate_->enter(); }
    Pass(Pass&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
    Pass& operator=(Pass&&) = delete;
    ~Pass() {
      if (gate_) gate_->leave();
    }

   private:
    Gate* gate_;
  };

  void wait_until_empty();
  // How many have ever entered; absent while somebody is inside. Two equal answers: nobody was
  // inside at any time between them.
  std::optional<uint64_t> entered_if_empty() const;

 private:
  void enter();
  void leave();

  mutable std::mutex mutex_;
  std::condition_variable empty_;
  std::size_t inside_ = 0;
  uint64_t entered_ = 0;
};

}  // namespace stator
