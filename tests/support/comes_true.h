// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <thread>

namespace stator::test {

// Waits until a condition that depends on another thread is true. Returns false after `limit`.
template <class Condition>
bool comes_true(Condition condition, std::chrono::seconds limit = std::chrono::minutes(2)) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace stator::test
