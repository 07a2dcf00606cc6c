// SPDX-License-Identifier: Apache-2.0
// Throttle: bounds a frequency. Not exactly: of many events at once, some are forgotten.
// Thread safety: one thread at a time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace stator::http {

class Throttle {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;

  // At most `per_second` (above 0) events, a tenth of them at once. No wait is longer than
  // `wait_max`.
  explicit Throttle(double per_second, Duration wait_max = std::chrono::seconds(1))
      : per_second_(per_second), wait_max_(wait_max) {}

  // How long to admit no further events, after `count` since the previous call.
  Duration wait_after(std::size_t count, Time now) {
    constexpr std::chrono::milliseconds kAtOnce{100};
    const std::chrono::duration<double> taken(static_cast<double>(count) / per_second_);
    free_from_ = std::max(free_from_, now - kAtOnce) + std::chrono::duration_cast<Duration>(taken);
    free_from_ = std::min(free_from_, now + wait_max_);
    return std::max(free_from_ - now, Duration::zero());
  }

 private:
  double per_second_;
  Duration wait_max_;
  Time free_from_;
};

}  // namespace stator::http
