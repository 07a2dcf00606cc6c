// SPDX-License-Identifier: Apache-2.0
#include "stator/recipes/time.h"

#include <gtest/gtest.h>

#include <thread>

namespace stator {
namespace {

using namespace std::chrono_literals;

TEST(Time, ReadsEveryWayToWriteAnInstant) {
  const Time noon = Time::parse("2024-05-01T12:00:00Z").value();
  EXPECT_EQ(Time::parse("2024-05-01T14:00:00+02:00").value(), noon);
  EXPECT_EQ(Time::parse("2024-05-01T06:30:00.000-05:30").value(), noon);
  EXPECT_EQ(Time::parse("2024-05-01 12:00:00z").value(), noon);
  EXPECT_EQ(noon, Time(std::chrono::sys_days(std::chrono::year(2024) / 5 / 1) + 12h));
}

TEST(Time, WritesTheDigitsThatThereAre) {
  for (const char* text : {"2024-05-01T12:00:00Z", "2024-05-01T12:00:00.5Z",
                           "1969-12-31T23:59:59.999999999Z", "0001-01-01T00:00:00Z"}) {
    EXPECT_EQ(Time::parse(text).value().text(), text);
  }
}

TEST(Time, RejectsMalformedTimes) {
  for (const char* text :
       {"", "2024-05-01", "2024-05-01T12:00:00", "2024-02-30T00:00:00Z", "2024-05-01T24:00:00Z",
        "2024-05-01T12:60:00Z", "2024-05-01T12:00:60Z", "2024-05-01T12:00:00.Z",
        "2024-05-01T12:00:00.0000000001Z", "2024-05-01T12:00:00+2:00", "24-05-01T12:00:00Z",
        "2024-05-01T12:00:00Zx", "0000-12-31T00:00:00Z", "2024-05-01T12:00:00+24:00"}) {
    const auto time = Time::parse(text);
    ASSERT_FALSE(time) << text;
    EXPECT_EQ(time.error().code, Code::kInvalidArgument);
  }
}

TEST(Time, AcceptsTheYear9999WithoutWrapping) {
  const Time far = std::chrono::sys_days(std::chrono::year(9999) / 12 / 31);
  EXPECT_EQ(far.text(), "9999-12-31T00:00:00Z");
  EXPECT_GT(far, Time::now());
}

TEST(Time, AddsAcrossSecondsBothWays) {
  const Time second = Time(std::chrono::sys_seconds(10s));
  EXPECT_EQ((second - 1ns).text(), "1970-01-01T00:00:09.999999999Z");
  EXPECT_EQ(second - 1ns + 1ns, second);
  EXPECT_EQ((Time() - 1ns).text(), "1969-12-31T23:59:59.999999999Z");
  EXPECT_EQ(Time() + 1500ms, Time(std::chrono::sys_time<std::chrono::milliseconds>(1500ms)));
}

TEST(SystemTime, EndsASleepOnAStopRequest) {
  std::stop_source source;
  std::jthread stopper([&] { source.request_stop(); });
  EXPECT_FALSE(system_time().sleep(1h, source.get_token()));
  EXPECT_TRUE(system_time().sleep(1ns, {}));
}

TEST(SystemTime, RunsForwardSinceBoot) {
  const auto before = system_time().since_boot();
  EXPECT_TRUE(system_time().sleep(2ms, {}));
  EXPECT_GE(system_time().since_boot() - before, 2ms);
}

}  // namespace
}  // namespace stator
