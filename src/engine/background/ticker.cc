// SPDX-License-Identifier: Apache-2.0
#include "engine/background/ticker.h"

#include <utility>

namespace stator {

void Ticker::start(std::chrono::milliseconds interval, std::move_only_function<void()> tick) {
  const std::lock_guard starting(mutex_);
  if (stopping_ || thread_.joinable() || interval.count() <= 0) return;
  thread_ = std::thread([this, interval, tick = std::move(tick)]() mutable {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, interval, [this] { return stopping_; })) {
      lock.unlock();
      tick();
      lock.lock();
    }
  });
}

void Ticker::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

}  // namespace stator
