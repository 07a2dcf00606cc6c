// SPDX-License-Identifier: Apache-2.0
// Roll-ups match the readings, even if made repeatedly, late, concurrently or after crashes.
#include <algorithm>
#include <map>
#include <random>
#include <thread>

#include "recipes/sensors_suite.h"

namespace stator {
namespace {

using namespace std::chrono_literals;
using namespace test;
using testing::ElementsAre;
using testing::IsEmpty;

std::chrono::nanoseconds length_of(Period period) {
  if (period == Period::kMinute) return 1min;
  return period == Period::kHour ? std::chrono::nanoseconds(1h) : 24h;
}

class SensorRollUps : public SensorSuite {
 protected:
  void SetUp() override {
    SensorSuite::SetUp();
    if (IsSkipped()) return;
    ASSERT_OK(registry().add(sensor()));
  }

  // Readings over three days, several in some minutes, with two units.
  std::vector<Reading> random_readings(int count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<Reading> readings;
    for (int i = 0; i < count; ++i) {
      const auto age = std::chrono::seconds(random() % (72 * 3600) / (i % 2 == 0 ? 1 : 400));
      Reading one = reading(now() - age - std::chrono::nanoseconds(i),
                            static_cast<int>(random() % 2000) - 1000);
      if (random() % 4 == 0) one.unit = "mg#%";
      readings.push_back(one);
    }
    return readings;
  }

  // The expected roll-ups of these readings, newest first, like the response.
  static std::vector<RollUp> model(std::vector<Reading> readings, Period period) {
    std::ranges::sort(readings, {}, &Reading::at);
    const auto length = std::chrono::duration_cast<std::chrono::seconds>(length_of(period)).count();
    std::map<std::pair<Time, std::string>, RollUp> made;
    for (const Reading& one : readings) {
      const int64_t seconds = one.at.unix_seconds();
      const Time begin(std::chrono::sys_seconds(std::chrono::seconds(seconds - seconds % length)));
      const auto [at, is_new] = made.try_emplace({begin, one.unit});
      RollUp& roll_up = at->second;
      if (is_new) {
        roll_up = {.period = period,
                   .from = begin,
                   .unit = one.unit,
                   .sum = Number(),
                   .min = one.value,
                   .max = one.value,
                   .first = one.value};
      }
      ++roll_up.count;
      roll_up.sum = roll_up.sum->plus(one.value).value();
      roll_up.min = std::min(roll_up.min, one.value);
      roll_up.max = std::max(roll_up.max, one.value);
      roll_up.last = one.value;
    }
    std::vector<RollUp> all;
    for (const auto& [key, roll_up] : made) all.insert(all.begin(), roll_up);
    return all;
  }

  std::vector<RollUp> stored(Period period) {
    std::vector<RollUp> all;
    PageOptions page{.limit = 1000};
    do {
      const auto part = registry().roll_ups(kId, period, {}, page).value();
      all.insert(all.end(), part.items.begin(), part.items.end());
      page.cursor = part.next;
    } while (!page.cursor.empty());
    return all;
  }
};
STATOR_SENSOR_HOMES(SensorRollUps);

TEST_P(SensorRollUps, SummarizeTheReadingsByMinuteHourAndDay) {
  const std::vector<Reading> readings = random_readings(400, 7);
  ASSERT_OK(registry().record(readings));
  for (const Period period : {Period::kMinute, Period::kHour, Period::kDay}) {
    const std::vector<RollUp> expected = model(readings, period);
    const auto size = static_cast<int64_t>(expected.size());
    const RolledUp made = registry().roll_up(kId, period).value();
    EXPECT_EQ(made.made, size);
    EXPECT_EQ(made.changed, size);
    EXPECT_EQ(stored(period), expected);
    // Repeating it must not count anything twice.
    const RolledUp again = registry().roll_up(kId, period).value();
    EXPECT_EQ(again.made, size);
    EXPECT_EQ(again.changed, 0);
    EXPECT_EQ(stored(period), expected);
  }
  const RollUp hour = stored(Period::kHour).front();
  EXPECT_DOUBLE_EQ(hour.mean().value(), hour.sum->to_double() / static_cast<double>(hour.count));
  // Roll-ups are stored next to the readings, not among them.
  EXPECT_EQ(registry().latest(kId, 1000).value().readings.size(), 400U);
}

TEST_P(SensorRollUps, CoverThePeriodsThatTheRangeTouches) {
  const Time noon = at("2024-05-01T12:00:00Z");
  const std::vector<Reading> readings{reading(noon - 1ns, 1), reading(noon - 1min, 2),
                                      reading(noon - 1h - 1ns, 3)};
  ASSERT_OK(registry().record(readings));
  EXPECT_EQ(registry().roll_up(kId, Period::kHour, {.from = noon, .to = noon}).value().made, 0);
  EXPECT_EQ(registry().roll_up(kId, Period::kHour, {.from = noon - 5min}).value().made, 1);
  EXPECT_EQ(stored(Period::kHour).at(0).count, 2);
  EXPECT_EQ(registry().roll_up(kId, Period::kHour, {.to = noon - 90min}).value().made, 1);
  EXPECT_EQ(stored(Period::kHour), model(readings, Period::kHour));
  const auto range = registry()
                         .roll_ups(kId, Period::kHour, {.from = noon - 2h, .to = noon - 1h},
                                   {.newest_first = false})
                         .value();
  ASSERT_EQ(range.items.size(), 1U);
  EXPECT_EQ(range.items[0].from, noon - 2h);
}

TEST_P(SensorRollUps, IncludeLateReadings) {
  std::vector<Reading> readings = random_readings(60, 3);
  ASSERT_OK(registry().record(readings));
  ASSERT_OK(registry().roll_up(kId, Period::kHour));
  std::vector<Reading> late;
  for (int i = 0; i < 5; ++i) late.push_back(reading(readings[i].at - 1us, 5'000 + i));
  ASSERT_OK(registry().record(late));
  ASSERT_OK(registry().roll_up(late, Period::kHour));
  readings.insert(readings.end(), late.begin(), late.end());
  EXPECT_EQ(stored(Period::kHour), model(readings, Period::kHour));
  // Delivered again, as queues can do.
  ASSERT_OK(registry().record(late));
  EXPECT_EQ(registry().roll_up(late, Period::kHour).value().changed, 0);
  EXPECT_EQ(stored(Period::kHour), model(readings, Period::kHour));
}

TEST_P(SensorRollUps, FollowAReadingThatIsReplacedAlsoToAnotherUnit) {
  ASSERT_OK(registry().record(std::vector{reading(now(), 1), reading(now() - 1ms, 2)}));
  ASSERT_OK(registry().roll_up(kId, Period::kMinute));
  std::vector<Reading> corrected{reading(now(), 10), reading(now() - 1ms, 20)};
  for (Reading& one : corrected) one.unit = "ppb";
  ASSERT_OK(registry().record(corrected));
  ASSERT_OK(registry().roll_up(corrected, Period::kMinute));
  EXPECT_EQ(stored(Period::kMinute), model(corrected, Period::kMinute));
}

TEST_P(SensorRollUps, VersionsContinueIfAUnitReturns) {
  const Time noon = at("2024-05-01T12:00:00Z");
  const auto of_unit = [&](const char* unit, int value) {
    std::vector<Reading> readings{reading(noon + 2s, value), reading(noon + 1s, value)};
    for (Reading& one : readings) one.unit = unit;
    return readings;
  };
  ASSERT_OK(registry().record(reading(noon + 2s, 1)));
  ASSERT_OK(registry().roll_up(kId, Period::kMinute));
  ASSERT_OK(registry().record(reading(noon + 1s, 2)));
  const SensorRegistry other(*bench.home.client, options());
  bool overtaken = false;
  bench.client.before([&](std::string_view operation, int) {
    if (operation == "PutItem" && !std::exchange(overtaken, true)) {
      for (const auto& readings : {of_unit("ppb", 50), of_unit("ppm", 100)}) {
        EXPECT_OK(other.record(readings));
        EXPECT_OK(other.roll_up(kId, Period::kMinute));
      }
    }
    return pass();
  });
  // It has read the first two, and must not replace the roll-ups of the later ones.
  ASSERT_OK(registry().roll_up(kId, Period::kMinute));
  bench.client.before({});
  EXPECT_TRUE(overtaken);
  EXPECT_EQ(stored(Period::kMinute), model(of_unit("ppm", 100), Period::kMinute));
}

TEST_P(SensorRollUps, CountOnceWhenReplyOrRequestAreLost) {
  const std::vector<Reading> readings = random_readings(50, 4);
  ASSERT_OK(registry().record(readings));
  bench.client.before([](std::string_view operation, int nth) {
    if (operation != "PutItem") return pass();
    return nth % 3 == 0 ? lose_reply() : nth % 3 == 1 ? lose_request() : repeat();
  });
  ASSERT_OK(registry().roll_up(kId, Period::kHour));
  bench.client.before({});
  EXPECT_EQ(stored(Period::kHour), model(readings, Period::kHour));
}

TEST_P(SensorRollUps, AreFinishedByTheNextWhereverTheFirstDies) {
  const std::vector<Reading> readings = random_readings(40, 5);
  ASSERT_OK(registry().record(readings));
  const std::vector<RollUp> expected = model(readings, Period::kHour);
  int deaths = 0;
  for (bool finished = false; !finished; deaths += finished ? 0 : 1) {
    int left = deaths;
    bench.client.before(
        [&](std::string_view, int) { return left-- > 0 ? pass() : refuse(Code::kCancelled); });
    finished = registry().roll_up(kId, Period::kHour).has_value();
    bench.client.before({});
    // Every stored roll-up must be correct, even if some are missing.
    for (const RollUp& one : stored(Period::kHour)) {
      EXPECT_TRUE(std::ranges::find(expected, one) != expected.end());
    }
  }
  EXPECT_GE(deaths, 6);
  EXPECT_EQ(stored(Period::kHour), expected);
}

TEST_P(SensorRollUps, NeverReplaceANewerOneByAnOlder) {
  std::vector<Reading> readings{reading(now() - 2min, 1), reading(now() - 1min, 2)};
  ASSERT_OK(registry().record(readings));
  const SensorRegistry other(*bench.home.client, options());
  readings.push_back(reading(now() - 90s, 100));
  // The first one has read the readings. Before it stores their sum, another one records and sums.
  for (const bool is_first : {true, false}) {
    bool overtaken = false;
    bench.client.before([&](std::string_view operation, int) {
      if (operation == "PutItem" && !std::exchange(overtaken, true)) {
        EXPECT_OK(other.record(readings.back()));
        EXPECT_OK(other.roll_up(std::span(&readings.back(), 1), Period::kDay));
      }
      return pass();
    });
    ASSERT_OK(registry().roll_up(kId, Period::kDay));
    EXPECT_TRUE(overtaken);
    bench.client.before({});
    EXPECT_EQ(stored(Period::kDay), model(readings, Period::kDay)) << is_first;
    readings.push_back(reading(now() - 80s, 1000));
    ASSERT_OK(registry().record(reading(now() - 70s, -5)));
    readings.insert(readings.begin(), reading(now() - 70s, -5));
  }
}

TEST_P(SensorRollUps, AreRightOnceAllWhoRecordHaveMadeThem) {
  SensorOptions real = options();
  real.time = nullptr;
  const SensorRegistry sensors(bench.client, real);
  std::vector<Reading> all;
  for (int i = 0; i < 60; ++i) all.push_back(reading(now() - std::chrono::seconds(i), i));
  {
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        for (std::size_t i = thread; i < all.size(); i += 4) {
          EXPECT_OK(sensors.record(all[i]));
          auto made = sensors.roll_up(std::span(&all[i], 1), Period::kMinute);
          while (!made && made.error().retryable()) {
            made = sensors.roll_up(std::span(&all[i], 1), Period::kMinute);
          }
          EXPECT_OK(made);
        }
      });
    }
  }
  EXPECT_EQ(stored(Period::kMinute), model(all, Period::kMinute));
}

TEST_P(SensorRollUps, FailWithARetryableErrorIfOthersAlwaysStoreThemFirst) {
  const Time first = now();
  ASSERT_OK(registry().record(reading(first, 0)));
  const SensorRegistry other(*bench.home.client, options());
  int stored = 0;
  bench.client.before([&](std::string_view operation, int) {
    if (operation == "PutItem") {
      ++stored;
      EXPECT_OK(other.roll_up(kId, Period::kDay));
      EXPECT_OK(other.record(reading(first - std::chrono::nanoseconds(stored), stored)));
    }
    return pass();
  });
  const auto made = registry().roll_up(kId, Period::kDay);
  bench.client.before({});
  EXPECT_FAILS(Code::kTransactionConflict, made);
  EXPECT_TRUE(made.error().retryable());
  EXPECT_EQ(stored, options().retry.max_attempts);
  EXPECT_OK(registry().roll_up(kId, Period::kDay));
}

TEST_P(SensorRollUps, OutliveTheReadingsThatTheyWereMadeOf) {
  SensorOptions kept = options();
  kept.retention = 2h;
  kept.roll_up_retention = 24h;
  const SensorRegistry sensors(bench.client, kept);
  const std::vector<Reading> readings{reading(now(), 1), reading(now() - 30min, 2),
                                      reading(now() - 90min, 3)};
  ASSERT_OK(sensors.record(readings));
  ASSERT_OK(sensors.roll_up(kId, Period::kHour));
  EXPECT_EQ(stored(Period::kHour), model(readings, Period::kHour));
  bench.time.advance(45min);
  // The oldest reading has expired. Its hour must not change when roll-ups are made again.
  ASSERT_OK(sensors.roll_up(kId, Period::kHour));
  EXPECT_EQ(stored(Period::kHour), model(readings, Period::kHour));
  EXPECT_EQ(sensors.roll_ups(kId, Period::kHour).value().items.size(), 3U);
  bench.time.advance(24h);
  EXPECT_EQ(sensors.roll_ups(kId, Period::kHour).value().items.size(), 1U);
  const auto items =
      bench.client.scan({.table = "SensorsTable",
                         .filter = "begins_with(sk, :hour) AND attribute_exists(expires_at)",
                         .values = Values{{":hour", "HOUR#"}}});
  EXPECT_EQ(items.value().items.size(), 3U);
}

TEST_P(SensorRollUps, HaveNoSumIfItNeedsMoreThan38Digits) {
  const Number large = Number::parse("1e100").value();
  ASSERT_OK(
      registry().record(std::vector<Reading>{{.sensor = kId, .at = now(), .value = large},
                                             {.sensor = kId, .at = now() - 1ns, .value = 1}}));
  ASSERT_OK(registry().roll_up(kId, Period::kDay));
  const RollUp day = stored(Period::kDay).at(0);
  EXPECT_EQ(day.count, 2);
  EXPECT_EQ(day.sum, std::nullopt);
  EXPECT_EQ(day.mean(), std::nullopt);
  EXPECT_EQ(day.max, large);
  EXPECT_EQ(registry().roll_up(kId, Period::kDay).value().changed, 0);
}

TEST_P(SensorRollUps, ReachFromTheFirstToTheLastInstant) {
  SensorOptions patient = options();
  patient.max_skew = 24h * 365 * 250;
  const SensorRegistry sensors(bench.client, patient);
  ASSERT_OK(sensors.record(std::vector{reading(at("0001-01-01T00:00:00Z"), 1),
                                       reading(at("1969-12-31T23:59:59.999999999Z"), 2),
                                       reading(at("2262-12-31T23:59:59Z"), 3)}));
  for (const Period period : {Period::kMinute, Period::kHour, Period::kDay}) {
    EXPECT_EQ(sensors.roll_up(kId, period).value().made, 3);
    const std::vector<RollUp> made = stored(period);
    ASSERT_EQ(made.size(), 3U);
    EXPECT_EQ(made[2].from, at("0001-01-01T00:00:00Z"));
    EXPECT_EQ(made[1].from + length_of(period), at("1970-01-01T00:00:00Z"));
  }
  EXPECT_OK(sensors.roll_up(kId, Period::kDay, {.from = at("9999-12-31T23:59:59Z")}));
}

TEST_P(SensorRollUps, PageBothWaysAndKeepTheirCursorsApart) {
  const std::vector<Reading> readings = random_readings(30, 6);
  ASSERT_OK(registry().record(readings));
  ASSERT_OK(registry().roll_up(kId, Period::kHour));
  for (const bool newest_first : {true, false}) {
    std::vector<RollUp> seen;
    PageOptions page{.limit = 4, .newest_first = newest_first};
    do {
      const auto part = registry().roll_ups(kId, Period::kHour, {}, page).value();
      seen.insert(seen.end(), part.items.begin(), part.items.end());
      page.cursor = part.next;
    } while (!page.cursor.empty());
    if (!newest_first) std::ranges::reverse(seen);
    EXPECT_EQ(seen, model(readings, Period::kHour));
  }
  PageOptions page{.limit = 4};
  page.cursor = registry().roll_ups(kId, Period::kHour, {}, page).value().next;
  EXPECT_FAILS(Code::kBadCursor, registry().roll_ups(kId, Period::kDay, {}, page));
  EXPECT_FAILS(Code::kBadCursor, registry().readings(kId, {}, page));
}

TEST_P(SensorRollUps, StopOnRequest) {
  ASSERT_OK(registry().record(reading(now(), 1)));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FAILS(Code::kCancelled, registry().roll_up(kId, Period::kDay, {}, stop.get_token()));
  EXPECT_THAT(stored(Period::kDay), IsEmpty());
}

TEST_P(SensorRollUps, CostTheirReadingsAndAWriteEach) {
  std::vector<Reading> readings;
  for (int i = 0; i < 60; ++i) readings.push_back(reading(now() - std::chrono::seconds(i + 1), i));
  ASSERT_OK(registry().record(readings));
  const auto first = bench.cost_of([&] { ASSERT_OK(registry().roll_up(readings, Period::kHour)); });
  EXPECT_EQ(first.requests, 3);  // stored roll-ups, the readings, the write
  EXPECT_EQ(first.write_units, 1);
  EXPECT_LE(first.read_units, 3);
  const auto again = bench.cost_of([&] { ASSERT_OK(registry().roll_up(readings, Period::kHour)); });
  EXPECT_EQ(again.write_units, 0);
}

}  // namespace
}  // namespace stator
