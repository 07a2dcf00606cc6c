// SPDX-License-Identifier: Apache-2.0
// Background threads: other threads run before them, but they still get a part of a busy core.
#pragma once

#include <sys/resource.h>

namespace stator {

// Lowers the priority of the calling thread, for long work, so that threads for short work run
// first. Nine such threads get as much of a busy core as one normal thread. Call it once in a
// thread: each call lowers the priority further. Errors are ignored.
inline void run_in_background() {
  constexpr int kNiceness = 10;
  // 0 is this thread, on Linux.
  setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + kNiceness);
}

}  // namespace stator
