// SPDX-License-Identifier: Apache-2.0
// Ticker: calls a function periodically, on its own thread.
//
// Thread safety: any thread, except the ticker's own.
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

  // Starts to call `tick`, for the first time after one interval. Does nothing if the interval is
  // 0, if it was called before, or after stop().
  void start(std::chrono::milliseconds interval, std::move_only_function<void()> tick);
  // Waits for a call in progress. No call follows.
  void stop();

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace stator
