// SPDX-License-Identifier: Apache-2.0
#include "metrics/text.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace stator::metrics {
namespace {

TEST(MetricsText, WritesFamiliesAndSamples) {
  Text text;
  text.counter("stator_things_total", "Things.");
  text.sample({{"kind", "a"}, {"name", "b"}}, uint64_t{18'446'744'073'709'551'615U});
  text.sample({{"kind", "c"}}, 0.25);
  text.gauge("stator_level", "Level.", uint64_t{7});
  EXPECT_EQ(std::move(text).finish(),
            "# HELP stator_things_total Things.\n"
            "# TYPE stator_things_total counter\n"
            "stator_things_total{kind=\"a\",name=\"b\"} 18446744073709551615\n"
            "stator_things_total{kind=\"c\"} 0.25\n"
            "# HELP stator_level Level.\n"
            "# TYPE stator_level gauge\n"
            "stator_level 7\n");
}

TEST(MetricsText, EscapesLabelValues) {
  Text text;
  text.gauge("g", "G.");
  text.sample({{"table", "a\"b\\c\nd\x80"}}, uint64_t{1});
  EXPECT_EQ(std::move(text).finish(),
            "# HELP g G.\n# TYPE g gauge\ng{table=\"a\\\"b\\\\c?d?\"} 1\n");
}

TEST(MetricsText, WritesHistogramsCumulatively) {
  constexpr Buckets<2> kBuckets({1'000'000, 10'000'000});
  Counters counters(Buckets<2>::kCounters);
  for (const uint64_t value :
       std::initializer_list<uint64_t>{500'000, 2'000'000, 2'500'000, 20'000'000}) {
    kBuckets.observe(counters, 0, value);
  }
  Text text;
  text.histogram("stator_seconds", "Time.");
  text.sample({{"operation", "GetItem"}}, kBuckets, counters, 0, 1e9);
  EXPECT_EQ(std::move(text).finish(),
            "# HELP stator_seconds Time.\n"
            "# TYPE stator_seconds histogram\n"
            "stator_seconds_bucket{operation=\"GetItem\",le=\"0.001\"} 1\n"
            "stator_seconds_bucket{operation=\"GetItem\",le=\"0.01\"} 3\n"
            "stator_seconds_bucket{operation=\"GetItem\",le=\"+Inf\"} 4\n"
            "stator_seconds_sum{operation=\"GetItem\"} 0.025\n"
            "stator_seconds_count{operation=\"GetItem\"} 4\n");
}

}  // namespace
}  // namespace stator::metrics
