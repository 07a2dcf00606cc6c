// SPDX-License-Identifier: Apache-2.0
#include "base/processors.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "base/control_groups.h"

namespace stator {

int usable_processors() {
  cpu_set_t own;
  // It fails on a machine with more processors than the set has room for.
  const bool is_known = sched_getaffinity(0, sizeof own, &own) == 0;
  const int allowed =
      is_known ? CPU_COUNT(&own) : static_cast<int>(std::thread::hardware_concurrency());
  const double time = std::ceil(control_group_limits().processors);
  return std::max(1, static_cast<int>(std::min<double>(allowed, time)));
}

}  // namespace stator
