// SPDX-License-Identifier: Apache-2.0
#include "http/pace.h"

#include <gtest/gtest.h>

namespace stator::http {
namespace {

using std::chrono::milliseconds;

TEST(Pace, AdmitsATenthOfASecondsEventsAtOnce) {
  Pace pace(100);
  Pace::Time now{std::chrono::hours(1)};
  EXPECT_EQ(pace.wait_after(10, now), milliseconds(0));
  EXPECT_EQ(pace.wait_after(1, now), milliseconds(10));
  now += std::chrono::minutes(1);
  EXPECT_EQ(pace.wait_after(10, now), milliseconds(0));
  EXPECT_EQ(pace.wait_after(3, now), milliseconds(30));
}

TEST(Pace, WaitsNoLongerThanItsLimit) {
  Pace pace(100, milliseconds(500));
  const Pace::Time now{std::chrono::hours(1)};
  EXPECT_EQ(pace.wait_after(1'000'000, now), milliseconds(500));
  EXPECT_EQ(pace.wait_after(0, now + milliseconds(500)), milliseconds(0));
}

TEST(Pace, KeepsAFrequency) {
  Pace pace(100);
  const Pace::Time start{std::chrono::hours(1)};
  Pace::Time now = start;
  for (int i = 0; i < 1000; ++i) now += pace.wait_after(1, now);
  EXPECT_EQ(now - start, milliseconds(10 * (1000 - 10)));
}

}  // namespace
}  // namespace stator::http
