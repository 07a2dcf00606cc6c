// SPDX-License-Identifier: Apache-2.0
// Sweeper: a thread that deletes expired items every now and then. Starts when told.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace stator {

class Sweeper {
 public:
  Sweeper() = default;
  ~Sweeper() { stop(); }
  Sweeper(const Sweeper&) = delete;
  Sweeper& operator=(const Sweeper&) = delete;

  // Calls `sweep` each `interval`. Only the first call has an effect; none after stop().
  void start(std::chrono::milliseconds interval, std::move_only_function<void()> sweep);
  // Waits for a sweep under way.
  void stop();

 private:
  void run(std::chrono::milliseconds interval, std::move_only_function<void()> sweep);

  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace stator
