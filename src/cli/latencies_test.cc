// SPDX-License-Identifier: Apache-2.0
#include "cli/latencies.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace stator::cli {
namespace {

using std::chrono::nanoseconds;

TEST(Latencies, KeepEveryDurationWithin1Point6Percent) {
  for (int64_t value = 0; value < INT64_MAX / 2; value += value / 4 + 1) {
    Latencies one;
    one.add(nanoseconds(value));
    const auto kept = static_cast<double>(one.quantile(0.5).count());
    EXPECT_GE(kept, static_cast<double>(value));
    EXPECT_LE(kept, static_cast<double>(value) * (1 + 1.0 / 64)) << value;
  }
}

TEST(Latencies, HaveTheQuantilesOfTheirSamples) {
  Latencies even;
  Latencies odd;
  for (int i = 1; i <= 60; ++i) (i % 2 == 0 ? even : odd).add(nanoseconds(i));
  even.add(odd);
  EXPECT_EQ(even.count(), 60);
  EXPECT_EQ(even.quantile(0.5), nanoseconds(30));
  EXPECT_EQ(even.quantile(0.99), nanoseconds(60));
  EXPECT_EQ(even.quantile(0), nanoseconds(1));
  EXPECT_EQ(even.quantile(1), nanoseconds(60));
}

TEST(Latencies, AreZeroWithoutAny) {
  EXPECT_EQ(Latencies().quantile(0.99), nanoseconds(0));
}

TEST(Latencies, TakeTheShortestAndTheLongest) {
  Latencies both;
  both.add(nanoseconds(-1));
  both.add(nanoseconds(INT64_MAX));
  EXPECT_EQ(both.quantile(0), nanoseconds(0));
  EXPECT_EQ(both.quantile(1), nanoseconds(INT64_MAX));
}

}  // namespace
}  // namespace stator::cli
