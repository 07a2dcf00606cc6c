// SPDX-License-Identifier: Apache-2.0
#include "testmode/timer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace stator::testmode {
namespace {

using namespace std::chrono_literals;

TEST(Timer, CallsInTheOrderOfTime) {
  std::mutex mutex;
  std::vector<int> calls;
  std::atomic<bool> last = false;
  Timer timer;
  const auto start = std::chrono::steady_clock::now();
  const auto call = [&](int number) {
    return [&, number] {
      const std::lock_guard lock(mutex);
      calls.push_back(number);
      if (number != 3) return;
      last = true;
      last.notify_one();
    };
  };
  timer.after(1s, call(3));
  timer.after(1ms, call(1));
  timer.after(500ms, call(2));
  last.wait(false);
  EXPECT_GE(std::chrono::steady_clock::now() - start, 1s);
  const std::lock_guard lock(mutex);
  EXPECT_THAT(calls, ::testing::ElementsAre(1, 2, 3));
}

TEST(Timer, DropsPendingCallsWhenItEnds) {
  std::atomic<bool> called = false;
  const auto held = std::make_shared<int>(0);
  {
    Timer timer;
    timer.after(std::chrono::hours(1), [&called, held] { called = true; });
    EXPECT_EQ(held.use_count(), 2);
  }
  EXPECT_FALSE(called);
  EXPECT_EQ(held.use_count(), 1);
}

}  // namespace
}  // namespace stator::testmode
