// SPDX-License-Identifier: Apache-2.0
#include "cli/pace.h"

#include <algorithm>

namespace stator::cli {

bool Pace::admit(std::size_t items, const std::stop_token& stop) {
  if (per_second_ == 0) return true;
  const std::chrono::duration<double> needed(static_cast<double>(items) /
                                             static_cast<double>(per_second_));
  std::chrono::nanoseconds wait;
  {
    const std::scoped_lock lock(mutex_);
    const std::chrono::nanoseconds now = time_.since_boot();
    const std::chrono::nanoseconds start = std::max(next_, now);
    next_ = start + std::chrono::duration_cast<std::chrono::nanoseconds>(needed);
    wait = start - now;
  }
  return wait.count() == 0 || time_.sleep(wait, stop);
}

}  // namespace stator::cli
