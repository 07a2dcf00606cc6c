// SPDX-License-Identifier: Apache-2.0
#include "recipes/common/stop_limit.h"

#include <gtest/gtest.h>

#include <thread>

namespace stator::recipes {
namespace {

using namespace std::chrono_literals;

TEST(StopLimit, LimitsTheThreadWhileItIsInScope) {
  std::stop_source stop;
  {
    const StopLimit limit(stop.get_token());
    ASSERT_NE(CallLimits::current(), nullptr);
    EXPECT_FALSE(CallLimits::current()->are_over());
    EXPECT_GT(CallLimits::current()->for_attempt(), 24h * 365);
    stop.request_stop();
    EXPECT_TRUE(CallLimits::current()->stop().stop_requested());
  }
  EXPECT_EQ(CallLimits::current(), nullptr);
}

TEST(StopLimit, KeepsTheLimitsOfTheCaller) {
  std::stop_source callers;
  const CallLimits limits({.attempt = 1s, .total = 1min, .stop = callers.get_token()});
  const StopLimit limit(std::stop_source().get_token());
  EXPECT_LE(CallLimits::current()->for_attempt(), 1s);
  EXPECT_LE(CallLimits::current()->left(), 1min);
  EXPECT_FALSE(CallLimits::current()->are_over());
  callers.request_stop();
  EXPECT_TRUE(CallLimits::current()->are_over());
}

TEST(StopLimit, AppliesTheLimitsOfTheCallerToAHelper) {
  std::stop_source callers;
  const CallLimits limits({.attempt = 1s, .total = 1min, .stop = callers.get_token()});
  std::jthread([&, bounds = current_bounds()] {
    const StopLimit limit(std::stop_source().get_token(), bounds);
    EXPECT_LE(CallLimits::current()->for_attempt(), 1s);
    EXPECT_FALSE(CallLimits::current()->are_over());
    callers.request_stop();
    EXPECT_TRUE(CallLimits::current()->are_over());
  }).join();
}

TEST(AfterStop, AllowsRequestsForAWhileDuringAndAfterAStop) {
  std::stop_source stop;
  const StopLimit limit(stop.get_token());
  {
    const AfterStop during;
    stop.request_stop();
    EXPECT_FALSE(CallLimits::current()->are_over());
    EXPECT_LE(CallLimits::current()->left(), kMaxAfterStop);
  }
  EXPECT_TRUE(CallLimits::current()->are_over());
  const AfterStop after;
  EXPECT_FALSE(CallLimits::current()->are_over());
}

}  // namespace
}  // namespace stator::recipes
