// SPDX-License-Identifier: Apache-2.0
#include "engine/background/worker.h"

#include <system_error>
#include <utility>

namespace stator {

void Worker::post(std::move_only_function<void()> job) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  if (jobs_.size() >= idle_ && threads_.size() < threads_max_) {
    try {
      threads_.emplace_back([this] { run(); });
    } catch (const std::system_error&) {
      if (threads_.empty()) throw;
    }
  }
  jobs_.push_back(std::move(job));
  wake_.notify_one();
}

void Worker::stop() {
  {
    std::deque<std::move_only_function<void()>> dropped;  // destroyed outside the lock
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    dropped.swap(jobs_);
    wake_.notify_all();
  }
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void Worker::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    --idle_;
    if (stopping_) return;
    {
      std::move_only_function<void()> job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      job();
    }
    lock.lock();
  }
}

}  // namespace stator
