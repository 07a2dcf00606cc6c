// SPDX-License-Identifier: Apache-2.0
#include "server/key_limiter.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace stator::server {
namespace {

using std::chrono::milliseconds;
using Time = KeyLimiter::Time;

std::shared_ptr<KeyLimiter> limiter(int64_t per_second, int64_t concurrent) {
  return std::make_shared<KeyLimiter>(
      KeyLimits{.requests_per_second = per_second, .concurrent_requests = concurrent});
}
int admitted(KeyLimiter& limits, Time now, int requests) {
  int count = 0;
  for (int i = 0; i < requests; ++i) count += limits.admit(now) ? 1 : 0;
  return count;
}

TEST(KeyLimiter, AllowsABurstOfOneSecondThenTheRate) {
  const auto limits = limiter(10, 0);
  const Time start{std::chrono::hours(5)};
  EXPECT_EQ(admitted(*limits, start, 100), 10);
  EXPECT_EQ(admitted(*limits, start + milliseconds(99), 5), 0);
  EXPECT_EQ(admitted(*limits, start + milliseconds(300), 5), 3);
  EXPECT_EQ(admitted(*limits, start + std::chrono::hours(1), 100), 10);
}

TEST(KeyLimiter, AllowsOneRequestPerSecond) {
  const auto limits = limiter(1, 0);
  const Time start{std::chrono::hours(5)};
  EXPECT_EQ(admitted(*limits, start, 3), 1);
  EXPECT_EQ(admitted(*limits, start + milliseconds(999), 3), 0);
  EXPECT_EQ(admitted(*limits, start + milliseconds(1000), 3), 1);
}

TEST(KeyLimiter, CountsRequestsInProgress) {
  const auto limits = limiter(0, 2);
  auto first = limits->admit(Time());
  auto second = limits->admit(Time());
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(limits->admit(Time()));
  KeyLimiter::Permit moved = std::move(*first);
  first.reset();
  EXPECT_FALSE(limits->admit(Time())) << "the permit has moved";
  moved = KeyLimiter::Permit();
  EXPECT_TRUE(limits->admit(Time()));
}

TEST(KeyLimiter, OutlivesItsKeyInAPermit) {
  auto limits = limiter(0, 1);
  auto permit = limits->admit(Time());
  limits.reset();
  EXPECT_TRUE(permit);
}

TEST(KeyLimiter, IsExactWhenThreadsRace) {
  constexpr int kThreads = 4;
  const auto limits = limiter(1000, 0);
  std::atomic<int> count = 0;
  std::vector<std::jthread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] { count += admitted(*limits, Time(std::chrono::hours(1)), 1000); });
  }
  threads.clear();
  EXPECT_EQ(count, 1000);
}

}  // namespace
}  // namespace stator::server
