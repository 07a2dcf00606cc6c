// SPDX-License-Identifier: Apache-2.0
// Misuse of Semaphore.
#include "stator/recipes/semaphore.h"

void takes_number(int64_t number);

void misuse(stator::Semaphore& locks, stator::Lease lease, stator::LockName name) {
  stator::Lease moved = std::move(lease);
  takes_number(to_int64(moved.fence()));

#ifdef LEASE_COPIED  // says: deleted function
  const stator::Lease copy = moved;
#endif
#ifdef LEASE_DROPPED  // says: ignoring return
  locks.acquire(name);
#endif
#ifdef RELEASE_IGNORED  // says: ignoring return
  moved.release();
#endif
#ifdef COMMIT_IGNORED  // says: ignoring return
  moved.commit({});
#endif
#ifdef FENCE_FOR_A_NUMBER  // says: cannot convert
  takes_number(moved.fence());
#endif
#ifdef NUMBER_FOR_A_DURATION  // says: could not convert|cannot convert|no matching
  (void)locks.acquire(name, {.lease = 20});
#endif
#ifdef NAME_FOR_A_USER  // says: could not convert|cannot convert|no matching
  (void)locks.acquire(name, {.user = name});
#endif
#ifdef LEASE_MADE_BY_HAND  // says: no matching function|private
  const stator::Lease made{};
#endif
}
