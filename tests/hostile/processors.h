// SPDX-License-Identifier: Apache-2.0
// Divides the processors between attackers and the rest, as if they were on different machines:
// otherwise a server also waits until the scheduler interrupts an attacker's system call.
#pragma once

#include <sched.h>

namespace stator::test {

enum class Part { kAttackers, kOthers };

// Lets the calling thread, and the threads and processes that it starts, run only on the first
// processor (attackers) or on all but the first. Does nothing if there is one only.
inline void use_processors_of(Part part) {
  static const cpu_set_t all = [] {
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    return set;
  }();
  if (CPU_COUNT(&all) < 2) return;
  int first = 0;
  while (!CPU_ISSET(first, &all)) ++first;
  cpu_set_t own = all;
  CPU_CLR(first, &own);
  if (part == Part::kAttackers) CPU_XOR(&own, &own, &all);
  sched_setaffinity(0, sizeof own, &own);
}

}  // namespace stator::test
