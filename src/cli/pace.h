// SPDX-License-Identifier: Apache-2.0
// Pace: limits how many items per second several threads read or write together.
//
// Thread safety: any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <stop_token>

#include "stator/recipes/time.h"

namespace stator::cli {

class Pace {
 public:
  // `per_second` 0: no limit. `time` must outlive it.
  explicit Pace(int64_t per_second, TimeSource& time = system_time())
      : per_second_(per_second), time_(time) {}

  int64_t per_second() const { return per_second_; }
  // Waits until the time of the items admitted earlier has passed, then admits these. Returns false
  // if `stop` ended the wait.
  bool admit(std::size_t items, const std::stop_token& stop);

 private:
  const int64_t per_second_;
  TimeSource& time_;
  std::mutex mutex_;
  std::chrono::nanoseconds next_{0};  // since boot: when the next items are admitted
};

}  // namespace stator::cli
