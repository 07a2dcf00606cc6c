// SPDX-License-Identifier: Apache-2.0
// Ticker: calls a function again and again, an interval apart, on a thread of its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace stator {

class Ticker {
 public:
  Ticker() = default;
  ~Ticker() { stop(); }
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

  // First after one interval, where that is more than 0. Only the first call has an effect; none
  // after stop().
  void start(std::chrono::milliseconds interval, std::move_only_function<void()> tick);
  // Waits for a call under way; there are none afterwards.
  void stop();

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace stator
