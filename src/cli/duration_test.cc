// SPDX-License-Identifier: Apache-2.0
#include "cli/duration.h"

#include <gtest/gtest.h>

#include "support/matchers.h"

namespace stator::cli {
namespace {

using test::FailsWith;

TEST(Duration, HasUnits) {
  const auto ms = [](const char* text) { return parse_duration(text).value().count(); };
  EXPECT_EQ(ms("20"), 20'000);
  EXPECT_EQ(ms("0.1"), 100);
  EXPECT_EQ(ms("0"), 0);
  EXPECT_EQ(ms("250ms"), 250);
  EXPECT_EQ(ms("1.5s"), 1'500);
  EXPECT_EQ(ms("15m"), 900'000);
  EXPECT_EQ(ms("2h30m"), 9'000'000);
  EXPECT_EQ(ms("30d"), 2'592'000'000);
  EXPECT_EQ(ms("1d2h3m4s5ms"), 93'784'005);
}

TEST(Duration, RejectsMalformedText) {
  for (const char* text : {"", " ", "s", "-1s", "+1s", "1x", "1s2", "1s1m", "1m1m", "1.5h10m",
                           "1 s", "1e3", "nan", "inf", "0x10", "999999999d", "1ms ", "1S"}) {
    EXPECT_THAT(parse_duration(text), FailsWith(Code::kInvalidArgument, "invalid duration"))
        << text;
  }
}

TEST(Duration, ParsesItsOwnOutput) {
  for (const char* text : {"0s", "20s", "1h30m", "500ms", "7d", "1d2h3m4s5ms"}) {
    EXPECT_EQ(duration_text(parse_duration(text).value()), text);
  }
}

}  // namespace
}  // namespace stator::cli
