// SPDX-License-Identifier: Apache-2.0
// Background: threads that leave the processor to others, and still get a share of a busy one.
#pragma once

#include <sys/resource.h>

namespace stator::http {

// Of the calling thread: for work that takes long, so that threads for short work come first. Nine
// such threads get as much of a busy core as one of the others.
inline void run_in_background() {
  constexpr int kNiceness = 10;
  // 0 is this thread, on Linux.
  setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + kNiceness);
}

}  // namespace stator::http
