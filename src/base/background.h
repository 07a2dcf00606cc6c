// SPDX-License-Identifier: Apache-2.0
// Background threads get a smaller part of a busy core than other threads.
#pragma once

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace stator {

// Lowers the priority of the calling thread, for long work. Nine such threads get as much of a busy
// core as one normal thread. Call it once in a thread: each call lowers the priority further.
// Errors are ignored.
inline void run_in_background() {
  constexpr int kNiceness = 10;
  // 0 is this thread, on Linux.
  const int niceness = getpriority(PRIO_PROCESS, 0) + kNiceness;
  setpriority(PRIO_PROCESS, 0, niceness);
  // From Linux 6.12 on: threads that wake up need not wait until a slice of some milliseconds ends.
  struct {
    uint32_t size = sizeof(*this);
    uint32_t policy = SCHED_OTHER;
    uint64_t flags = 0;
    int32_t nice = 0;
    uint32_t priority = 0;
    uint64_t slice_ns = 100'000;
    uint64_t deadline_ns = 0;
    uint64_t period_ns = 0;
  } attributes{.nice = niceness};
  syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}  // namespace stator
