// SPDX-License-Identifier: Apache-2.0
#include "engine/background/in_flight_operations.h"

namespace stator {

void InFlightOperations::enter() {
  const std::lock_guard lock(mutex_);
  ++inside_;
}

void InFlightOperations::leave() {
  // Notified under the lock: the waiter can destroy this object as soon as it gets the lock.
  const std::lock_guard lock(mutex_);
  if (--inside_ == 0) empty_.notify_all();
}

void InFlightOperations::wait_until_empty() {
  std::unique_lock lock(mutex_);
  empty_.wait(lock, [this] { return inside_ == 0; });
}

}  // namespace stator
