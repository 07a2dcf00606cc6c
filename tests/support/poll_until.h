// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <thread>

#include "support/comes_true.h"

namespace stator::test {

// Like comes_true(), but leaves the processor to the other process on which the condition depends.
template <class Condition>
bool poll_until(Condition condition) {
  return comes_true([&] {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return false;
  });
}

}  // namespace stator::test
