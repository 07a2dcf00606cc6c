// SPDX-License-Identifier: Apache-2.0
#include "testmode/timer.h"

#include <utility>

namespace stator::testmode {

Timer::~Timer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Timer::after(std::chrono::milliseconds delay, Call call) {
  {
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    calls_.emplace(std::chrono::steady_clock::now() + delay, std::move(call));
  }
  wake_.notify_one();
}

void Timer::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (calls_.empty()) {
      wake_.wait(lock);
    } else if (const Time due = calls_.begin()->first; due > std::chrono::steady_clock::now()) {
      wake_.wait_until(lock, due);
    } else {
      auto node = calls_.extract(calls_.begin());
      lock.unlock();
      node.mapped()();
      node = {};  // destroys the call outside the lock
      lock.lock();
    }
  }
}

}  // namespace stator::testmode
