// SPDX-License-Identifier: Apache-2.0
#include "metrics/counters.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <thread>
#include <vector>

namespace stator::metrics {
namespace {

TEST(Counters, SumTheIncreasesOfAllThreads) {
  Counters counters(3);
  constexpr uint64_t kThreads = 20;  // more than there are shards
  constexpr uint64_t kTurns = 5'000;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (uint64_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (uint64_t turn = 0; turn < kTurns; ++turn) {
        counters.add(0);
        counters.add(2, 3);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counters.total(0), kThreads * kTurns);
  EXPECT_EQ(counters.total(1), 0U);
  EXPECT_EQ(counters.total(2), 3 * kThreads * kTurns);
}

TEST(Counters, BucketsIncludeTheirBounds) {
  constexpr Buckets<2> kBuckets({10, 100});
  Counters counters(1 + Buckets<2>::kCounters);
  for (const uint64_t value : std::initializer_list<uint64_t>{0, 10, 11, 100, 101, 5'000})
    kBuckets.observe(counters, 1, value);
  EXPECT_EQ(counters.total(0), 0U);
  EXPECT_EQ(counters.total(1), 2U);
  EXPECT_EQ(counters.total(2), 2U);
  EXPECT_EQ(counters.total(3), 2U);
  EXPECT_EQ(counters.total(4), 5'222U);
}

}  // namespace
}  // namespace stator::metrics
