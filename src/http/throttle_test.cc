// SPDX-License-Identifier: Apache-2.0
#include "http/throttle.h"

#include <gtest/gtest.h>

namespace stator::http {
namespace {

using std::chrono::milliseconds;

TEST(Throttle, AdmitsATenthOfASecondsEventsAtOnce) {
  Throttle throttle(100);
  Throttle::Time now{std::chrono::hours(1)};
  EXPECT_EQ(throttle.wait_after(10, now), milliseconds(0));
  EXPECT_EQ(throttle.wait_after(1, now), milliseconds(10));
  now += std::chrono::minutes(1);
  EXPECT_EQ(throttle.wait_after(10, now), milliseconds(0));
  EXPECT_EQ(throttle.wait_after(3, now), milliseconds(30));
}

TEST(Throttle, WaitsNoLongerThanItsLimit) {
  Throttle throttle(100, milliseconds(500));
  const Throttle::Time now{std::chrono::hours(1)};
  EXPECT_EQ(throttle.wait_after(1'000'000, now), milliseconds(500));
  EXPECT_EQ(throttle.wait_after(0, now + milliseconds(500)), milliseconds(0));
}

TEST(Throttle, KeepsAFrequency) {
  Throttle throttle(100);
  const Throttle::Time start{std::chrono::hours(1)};
  Throttle::Time now = start;
  for (int i = 0; i < 1000; ++i) now += throttle.wait_after(1, now);
  EXPECT_EQ(now - start, milliseconds(10 * (1000 - 10)));
}

}  // namespace
}  // namespace stator::http
