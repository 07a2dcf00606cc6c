// SPDX-License-Identifier: Apache-2.0
// SteppedTime: clocks that only tests advance; a sleep lasts until they have advanced enough.
//
// Thread safety: any thread.
#pragma once

#include <condition_variable>
#include <iterator>
#include <mutex>
#include <set>

#include "stator/recipes/time.h"

namespace stator::test {

class SteppedTime final : public TimeSource {
 public:
  Time now() override {
    const std::scoped_lock lock(mutex_);
    return Time::parse("2024-05-01T12:00:00Z").value() + since_boot_;
  }
  std::chrono::nanoseconds since_boot() override {
    const std::scoped_lock lock(mutex_);
    return since_boot_;
  }
  bool sleep(std::chrono::nanoseconds duration, std::stop_token stop) override {
    std::unique_lock lock(mutex_);
    const auto until = since_boot_ + duration;
    const auto mine = asleep_until_.insert(until);
    changed_.notify_all();
    changed_.wait(lock, stop, [&] { return since_boot_ >= until; });
    asleep_until_.erase(mine);
    return !stop.stop_requested();
  }

  // Waits until `sleepers` threads sleep, because they have finished earlier work. Then advances
  // the clocks.
  void advance(std::chrono::nanoseconds duration, int sleepers) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
      return std::distance(asleep_until_.upper_bound(since_boot_), asleep_until_.end()) >= sleepers;
    });
    since_boot_ += duration;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::chrono::nanoseconds since_boot_ = std::chrono::hours(1);  // guarded by mutex_
  std::multiset<std::chrono::nanoseconds> asleep_until_;         // guarded by mutex_
};

}  // namespace stator::test
