// SPDX-License-Identifier: Apache-2.0
// Pace: bounds a frequency.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace stator::http {

class Pace {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;

  // At most `per_second` events, and a tenth of them at once.
  explicit Pace(int per_second) : interval_(Duration(std::chrono::seconds(1)) / per_second) {}

  // How long to admit no further events, after `count` since the previous call.
  Duration wait_after(std::size_t count, Time now) {
    constexpr std::chrono::milliseconds kAtOnce{100};
    free_from_ = std::max(free_from_, now - kAtOnce) + static_cast<int64_t>(count) * interval_;
    return std::max(free_from_ - now, Duration::zero());
  }

 private:
  Duration interval_;
  Time free_from_;
};

}  // namespace stator::http
