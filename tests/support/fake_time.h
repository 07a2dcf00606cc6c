// SPDX-License-Identifier: Apache-2.0
// FakeTime: clocks that only a test or a sleep advances.
//
// Thread safety: any thread; a sleep advances time for all threads.
#pragma once

#include <mutex>

#include "stator/recipes/time.h"

namespace stator::test {

class FakeTime final : public TimeSource {
 public:
  explicit FakeTime(Time start = Time::parse("2024-05-01T12:00:00Z").value()) : wall_(start) {}

  Time now() override {
    const std::scoped_lock lock(mutex_);
    return wall_;
  }
  std::chrono::nanoseconds since_boot() override {
    const std::scoped_lock lock(mutex_);
    return since_boot_;
  }
  bool sleep(std::chrono::nanoseconds duration, std::stop_token stop) override {
    advance(duration);
    return !stop.stop_requested();
  }

  void advance(std::chrono::nanoseconds duration) {
    const std::scoped_lock lock(mutex_);
    wall_ = wall_ + duration;
    since_boot_ += duration;
  }
  // Sets the wall clock, like an operator or a time server. The boot clock is unchanged.
  void set_wall(Time time) {
    const std::scoped_lock lock(mutex_);
    wall_ = time;
  }

 private:
  std::mutex mutex_;
  Time wall_;                                                    // guarded by mutex_
  std::chrono::nanoseconds since_boot_ = std::chrono::hours(1);  // guarded by mutex_
};

}  // namespace stator::test
