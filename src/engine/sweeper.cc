// SPDX-License-Identifier: Apache-2.0
#include "engine/sweeper.h"

#include <utility>

namespace stator {

void Sweeper::start(std::chrono::milliseconds interval, std::move_only_function<void()> sweep) {
  const std::lock_guard lock(mutex_);
  if (stopping_ || thread_.joinable() || interval.count() <= 0) return;
  thread_ = std::thread(
      [this, interval, sweep = std::move(sweep)]() mutable { run(interval, std::move(sweep)); });
}

void Sweeper::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    wake_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void Sweeper::run(std::chrono::milliseconds interval, std::move_only_function<void()> sweep) {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, interval, [this] { return stopping_; })) {
    lock.unlock();
    sweep();
    lock.lock();
  }
}

}  // namespace stator
