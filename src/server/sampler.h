// SPDX-License-Identifier: Apache-2.0
// Sampler: calls a function periodically, on a separate thread.
//
// Thread safety: construct and destroy it on one thread.
// Lifetime: the destructor waits for a call in progress.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

namespace stator::server {

class Sampler {
 public:
  Sampler(std::chrono::milliseconds interval, std::function<void()> sample)
      : thread_([interval, sample = std::move(sample)](const std::stop_token& stop) {
          std::mutex mutex;
          std::condition_variable_any wake;
          std::unique_lock lock(mutex);
          auto next = std::chrono::steady_clock::now();
          for (;;) {
            next = std::max(next + interval, std::chrono::steady_clock::now());
            wake.wait_until(lock, stop, next, [] { return false; });
            if (stop.stop_requested()) return;
            sample();
          }
        }) {}

 private:
  std::jthread thread_;
};

}  // namespace stator::server
