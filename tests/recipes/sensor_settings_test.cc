// SPDX-License-Identifier: Apache-2.0
// The table stores the settings that all its registries must share. A registry without an option
// uses the stored value; one with another value gets an error. None omits or truncates anything
// silently.
#include <algorithm>
#include <set>

#include "recipes/sensors_suite.h"

namespace stator {
namespace {

using namespace std::chrono_literals;
using namespace test;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SensorSettingsTest : public SensorSuite {
 protected:
  SensorOptions kept(std::chrono::seconds retention, const std::string& table = "SensorsTable") {
    SensorOptions with = options();
    with.table = table;
    with.retention = retention;
    return with;
  }
  SensorOptions sharded(int shards) {
    SensorOptions with = options();
    with.table = "Sharded";
    if (shards > 0) with.city_shards = {{"Poznan", shards}};
    return with;
  }
  SensorRegistry sharded_registry(int shards) { return {bench.client, sharded(shards)}; }
  // Creates a table with an item of an earlier release.
  void create_legacy(const SensorOptions& with) {
    bench.create(SensorRegistry::table_definition(with));
    ASSERT_OK(bench.client.put_item(
        {.table = with.table, .item = {{"pk", "SENSOR#old"}, {"sk", "READ#"}, {"value", 1}}}));
  }
  // Deletes a reading, like time to live.
  void erase(const std::string& table, const Reading& gone) {
    const Time year_1 = at("0001-01-01T00:00:00Z");
    std::string seconds = std::to_string(gone.at.unix_seconds() - year_1.unix_seconds());
    seconds.insert(0, 12 - seconds.size(), '0');
    const auto erased = bench.client.delete_item(
        {.table = table,
         .key = {{"pk", "SENSOR#" + gone.sensor.text}, {"sk", "READ#" + seconds + "000000000"}},
         .condition = "attribute_exists(pk)"});
    ASSERT_OK(erased);
  }
  // A stored roll-up of two readings. If the first has been deleted, only one guard keeps the
  // roll-up: the stored retention, or the `expires_at` of the second reading.
  enum class Guard { kStoredRetention, kExpiryOfReadings };
  struct RolledUpHour {
    SensorOptions options;  // without a retention
    Reading first;          // 5 s after the start of the hour
    RollUp roll_up;
  };
  RolledUpHour rolled_up_hour(Guard guard) {
    bench.time.set_wall(at("2024-05-01T12:00:00Z"));
    SensorOptions with = kept(2h, guard == Guard::kStoredRetention ? "SensorsTable" : "Legacy");
    if (guard == Guard::kExpiryOfReadings) create_legacy(with);
    const SensorRegistry sensors(bench.client, with);
    const std::vector<Reading> readings{reading(now() - 2h + 5s, 1), reading(now() - 70min, 2)};
    EXPECT_OK(sensors.record(readings, Check::kNone));
    EXPECT_OK(sensors.roll_up(kId, Period::kHour));
    with.retention.reset();
    const auto found =
        bench.client.scan({.table = with.table, .filter = "attribute_exists(expires_at)"});
    for (Item item : found.value().items) {
      if (guard == Guard::kExpiryOfReadings) break;
      item.erase("expires_at");
      EXPECT_OK(bench.client.put_item({.table = with.table, .item = item}));
    }
    const RollUp hour = only_hour(sensors);
    EXPECT_EQ(hour.count, 2);
    return {.options = with, .first = readings[0], .roll_up = hour};
  }
  static RollUp only_hour(const SensorRegistry& sensors) {
    const auto page = sensors.roll_ups(kId, Period::kHour).value();
    EXPECT_EQ(page.items.size(), 1U);
    return page.items.at(0);
  }
  void add_some(const SensorRegistry& sensors, int first, int count) {
    for (int i = first; i < first + count; ++i) {
      ASSERT_OK(sensors.add(sensor("s" + std::to_string(i))));
    }
  }
  static int greatest_shard(const SensorRegistry& sensors, int first, int count) {
    int greatest = 0;
    for (int i = first; i < first + count; ++i) {
      greatest = std::max(greatest, sensors.get({"s" + std::to_string(i)}).value().shard);
    }
    return greatest;
  }
};
STATOR_SENSOR_HOMES(SensorSettingsTest);

// ---- Retention

TEST_P(SensorSettingsTest, RollUpsOfAPartlyExpiredPeriodStay) {
  const SensorRegistry sensors(bench.client, kept(2h));
  const std::vector<Reading> readings{reading(now() - 110min, 1), reading(now() - 70min, 2)};
  ASSERT_OK(sensors.record(readings, Check::kNone));
  ASSERT_OK(sensors.roll_up(kId, Period::kHour));
  const RollUp whole = only_hour(sensors);
  EXPECT_EQ(whole.count, 2);
  bench.time.advance(30min);
  erase("SensorsTable", readings[0]);
  // Like `stator sensor rollup` without --retention, and like a roll-up of given readings.
  const SensorRegistry plain(bench.client, options());
  ASSERT_OK(plain.roll_up(kId, Period::kHour));
  ASSERT_OK(plain.roll_up(std::span(&readings[1], 1), Period::kHour));
  EXPECT_EQ(only_hour(plain), whole);
}

TEST_P(SensorSettingsTest, RollUpsOfAHalfExpiredPeriodStayInATableWithoutSettings) {
  create_legacy(kept(2h, "Legacy"));
  const SensorRegistry sensors(bench.client, kept(2h, "Legacy"));
  const std::vector<Reading> readings{reading(now() - 110min, 1), reading(now() - 70min, 2)};
  ASSERT_OK(sensors.record(readings, Check::kNone));
  ASSERT_OK(sensors.roll_up(kId, Period::kHour));
  EXPECT_EQ(sensors.settings().value(), SensorSettings());
  bench.time.advance(40min);
  erase("Legacy", readings[0]);
  SensorOptions without = options();
  without.table = "Legacy";
  const SensorRegistry plain(bench.client, without);
  ASSERT_OK(plain.roll_up(kId, Period::kHour));
  EXPECT_EQ(only_hour(plain).count, 2);
  // Others keep their values until the settings are stored.
  const SensorRegistry other(bench.client, kept(3h, "Legacy"));
  ASSERT_OK(other.record(reading(now(), 3), Check::kNone));
  ASSERT_OK(other.change_settings({.retention = 3h}));
  EXPECT_EQ(other.settings().value().retention, 3h);
  bench.time.advance(2min);
  EXPECT_FAILS(Code::kLimitsDisagree, sensors.record(reading(now(), 3), Check::kNone));
}

TEST_P(SensorSettingsTest, EachGuardAloneKeepsTheRollUpOfAPartlyExpiredPeriod) {
  for (const Guard guard : {Guard::kStoredRetention, Guard::kExpiryOfReadings}) {
    const RolledUpHour hour = rolled_up_hour(guard);
    bench.time.advance(10min + 5s);
    erase(hour.options.table, hour.first);
    const SensorRegistry plain(bench.client, hour.options);
    ASSERT_OK(plain.roll_up(kId, Period::kHour));
    EXPECT_EQ(only_hour(plain), hour.roll_up);
  }
}

TEST_P(SensorSettingsTest, EachGuardAloneKeepsItAlsoWithAClockThatIsBehindByLessThanTenMinutes) {
  for (const Guard guard : {Guard::kStoredRetention, Guard::kExpiryOfReadings}) {
    RolledUpHour hour = rolled_up_hour(guard);
    bench.time.advance(10min + 5s);  // `expires_at`
    erase(hour.options.table, hour.first);
    FakeTime slow(now() - 9min - 59s);
    hour.options.time = &slow;
    const SensorRegistry plain(bench.client, hour.options);
    ASSERT_OK(plain.roll_up(kId, Period::kHour));
    EXPECT_EQ(only_hour(plain), hour.roll_up);
  }
}

TEST_P(SensorSettingsTest, EachGuardAloneKeepsItAlsoIfTheReadingIsDeletedDuringTheCall) {
  for (const Guard guard : {Guard::kStoredRetention, Guard::kExpiryOfReadings}) {
    const RolledUpHour hour = rolled_up_hour(guard);
    const SensorRegistry plain(*bench.home.client, hour.options);
    // The process is suspended between its queries for roll-ups and readings.
    FaultyClient client(*bench.home.client);
    client.before([&](std::string_view operation, int nth) {
      if (operation == "Query" && nth == 2) {
        bench.time.advance(10min + 5s);
        erase(hour.options.table, hour.first);
      }
      return pass();
    });
    ASSERT_OK(SensorRegistry(client, hour.options)
                  .roll_up(kId, Period::kHour, {.from = now() - 3h, .to = now()}));
    EXPECT_EQ(client.sent("Query"), 2);
    EXPECT_EQ(only_hour(plain), hour.roll_up);
  }
}

TEST_P(SensorSettingsTest, ACallerWithoutRetentionUsesTheStoredOne) {
  ASSERT_OK(SensorRegistry(bench.client, kept(1h)).record(reading(now(), 1), Check::kNone));
  const SensorRegistry plain(bench.client, options());
  const Recorded recorded =
      plain.record(std::vector{reading(now() - 30min, 2), reading(now() - 61min, 3)}, Check::kNone)
          .value();
  EXPECT_EQ(recorded.stored, 1);
  EXPECT_EQ(recorded.expired, 1);
  const auto items =
      bench.client.scan({.table = "SensorsTable", .filter = "attribute_exists(expires_at)"});
  EXPECT_EQ(items.value().items.size(), 2U);
  bench.time.advance(45min);
  EXPECT_THAT(plain.readings(kId).value().items, ElementsAre(reading(now() - 45min, 1)));
}

TEST_P(SensorSettingsTest, AnotherRetentionIsAnErrorThatNamesBoth) {
  ASSERT_OK(SensorRegistry(bench.client, kept(1h)).record(reading(now(), 1), Check::kNone));
  const SensorRegistry other(bench.client, kept(2h));
  const auto refused = other.record(reading(now(), 2), Check::kNone);
  EXPECT_FAILS(Code::kLimitsDisagree, refused);
  EXPECT_THAT(refused.error().message, AllOf(HasSubstr("retention 7200 s"), HasSubstr("3600 s")));
  EXPECT_FAILS(Code::kLimitsDisagree, other.roll_up(kId, Period::kDay));
  EXPECT_FAILS(Code::kLimitsDisagree, other.readings(kId));
  EXPECT_FAILS(Code::kLimitsDisagree, other.add(sensor()));
  SensorOptions roll_ups = options();
  roll_ups.roll_up_retention = 24h;
  ASSERT_OK(SensorRegistry(bench.client, roll_ups).roll_up(kId, Period::kDay));
  roll_ups.roll_up_retention = 25h;
  EXPECT_FAILS(Code::kLimitsDisagree,
               SensorRegistry(bench.client, roll_ups).roll_up(kId, Period::kDay));
}

TEST_P(SensorSettingsTest, ALongerRetentionBringsNothingBackThatTheShorterOneDeleted) {
  const SensorRegistry sensors(bench.client, kept(2h));
  const std::vector<Reading> readings{reading(now() - 110min, 1), reading(now() - 70min, 2)};
  ASSERT_OK(sensors.record(readings, Check::kNone));
  ASSERT_OK(sensors.roll_up(kId, Period::kHour));
  const RollUp whole = only_hour(sensors);
  ASSERT_OK(sensors.change_settings({.retention = 240h}));
  bench.time.advance(40min);
  for (const Reading& gone : readings) erase("SensorsTable", gone);
  // A late reading, which expires with the new retention.
  const SensorRegistry plain(bench.client, options());
  ASSERT_OK(plain.record(reading(now() - 110min, 9), Check::kNone));
  ASSERT_OK(plain.roll_up(kId, Period::kHour));
  EXPECT_EQ(only_hour(plain), whole);
}

TEST_P(SensorSettingsTest, AreReadOnceInAMinute) {
  const SensorRegistry sensors(bench.client, kept(1h));
  ASSERT_OK(sensors.record(reading(now(), 1), Check::kNone));
  const auto one = [&] {
    return bench.cost_of([&] { ASSERT_OK(sensors.record(reading(now(), 1), Check::kNone)); })
        .requests;
  };
  EXPECT_EQ(one(), 1);
  bench.time.advance(59s);
  EXPECT_EQ(one(), 1);
  bench.time.advance(1s);
  EXPECT_EQ(one(), 2);
}

// ---- Shards

TEST_P(SensorSettingsTest, AReaderWithoutCityShardsGetsThemFromTheTable) {
  bench.create(SensorRegistry::table_definition(sharded(5)));
  // A registry that has read before settings were stored.
  const SensorRegistry early = sharded_registry(0);
  if (kind() != Kind::kMultiAttribute) {
    EXPECT_THAT(ids_at(early, {.city = "Poznan"}), IsEmpty());
  }
  const SensorRegistry writer = sharded_registry(5);
  add_some(writer, 10, 12);
  EXPECT_GT(greatest_shard(writer, 10, 12), 0);
  EXPECT_EQ(ids_at(early, {.city = "Poznan"}).size(), 12U);
  const SensorRegistry plain = sharded_registry(0);
  EXPECT_EQ(ids_at(plain, {.city = "Poznan"}).size(), 12U);
  EXPECT_EQ(plain.settings().value().city_shards.at("Poznan"), 5);
}

TEST_P(SensorSettingsTest, AnotherNumberOfShardsIsAnErrorThatNamesBoth) {
  bench.create(SensorRegistry::table_definition(sharded(5)));
  add_some(sharded_registry(5), 10, 3);
  for (const int shards : {4, 6}) {
    const auto found = sharded_registry(shards).at({.city = "Poznan"});
    EXPECT_FAILS(Code::kLimitsDisagree, found);
    EXPECT_THAT(found.error().message,
                AllOf(HasSubstr("city_shards of Poznan " + std::to_string(shards)),
                      HasSubstr("the stored 5")));
    EXPECT_FAILS(Code::kLimitsDisagree, sharded_registry(shards).add(sensor("new")));
  }
}

TEST_P(SensorSettingsTest, RaisingTheShardsOmitsNoSensorAtAnyTime) {
  bench.create(SensorRegistry::table_definition(sharded(2)));
  const SensorRegistry writer = sharded_registry(0);
  add_some(sharded_registry(2), 0, 10);
  const SensorRegistry reader = sharded_registry(0);
  EXPECT_EQ(ids_at(reader, {.city = "Poznan"}).size(), 10U);
  ASSERT_OK(writer.change_settings({.city_shards = {{"Poznan", 40}}}));
  add_some(writer, 10, 10);
  // For up to a minute, the reader queries the old shards, which have the new sensors.
  EXPECT_EQ(ids_at(reader, {.city = "Poznan"}).size(), 20U);
  EXPECT_LE(greatest_shard(writer, 0, 20), 1);
  bench.time.advance(15min);
  add_some(writer, 20, 20);
  EXPECT_GT(greatest_shard(writer, 20, 20), 2);
  EXPECT_EQ(ids_at(reader, {.city = "Poznan"}).size(), 40U);
  EXPECT_FAILS(Code::kLimitsDisagree, writer.change_settings({.city_shards = {{"Poznan", 39}}}));
  EXPECT_FAILS(Code::kInvalidArgument, writer.change_settings({.city_shards = {{"Poznan", 257}}}));
}

TEST_P(SensorSettingsTest, ACityIsSpreadLaterByAnOptionThatWasNotStored) {
  if (kind() == Kind::kMultiAttribute) GTEST_SKIP() << "the index has no shard in its key";
  const SensorRegistry reader = registry();
  ASSERT_OK(registry().add(sensor("s0")));
  SensorOptions spread = options();
  spread.city_shards = {{"Poznan", 50}};
  const SensorRegistry writer(bench.client, spread);
  add_some(writer, 1, 9);
  EXPECT_EQ(ids_at(reader, {.city = "Poznan"}).size(), 10U);
  EXPECT_EQ(greatest_shard(writer, 0, 10), 0);
  bench.time.advance(15min);
  add_some(writer, 10, 10);
  EXPECT_GT(greatest_shard(writer, 10, 10), 0);
  EXPECT_EQ(ids_at(reader, {.city = "Poznan"}).size(), 20U);
}

TEST_P(SensorSettingsTest, AnIndexWithoutAShardInItsKeyRefusesToSpreadACity) {
  if (kind() != Kind::kMultiAttribute) GTEST_SKIP() << "the shard is in the key";
  ASSERT_OK(registry().add(sensor()));
  EXPECT_FAILS(Code::kLimitsDisagree, registry().change_settings({.city_shards = {{"Poznan", 2}}}));
  SensorOptions spread = options();
  spread.city_shards = {{"Poznan", 2}};
  EXPECT_FAILS(Code::kLimitsDisagree, SensorRegistry(bench.client, spread).add(sensor("new")));
  EXPECT_THAT(ids_at({.city = "Poznan"}), ElementsAre("sensor-1"));
}

// ---- Layout

TEST_P(SensorSettingsTest, AnotherLayoutIsAnErrorThatNamesBoth) {
  ASSERT_OK(registry().add(sensor()));
  SensorOptions other = options();
  const bool indexed = kind() != Kind::kLocationItems;
  other.layout = indexed ? SensorLayout::kLocationItems : SensorLayout::kIndexed;
  const SensorRegistry wrong(bench.client, other);
  const auto found = wrong.at({.city = "Poznan"});
  EXPECT_FAILS(Code::kLimitsDisagree, found);
  EXPECT_THAT(found.error().message,
              AllOf(HasSubstr("layout"), HasSubstr("location_items"), HasSubstr("stored")));
  EXPECT_FAILS(Code::kLimitsDisagree, wrong.add(sensor("new")));
  EXPECT_FAILS(Code::kLimitsDisagree, wrong.decommission(kId));
  // Readings are the same in all layouts.
  EXPECT_OK(wrong.record(reading(now(), 1)));
}

TEST_P(SensorSettingsTest, AreStoredOnceByManyAtOnce) {
  bench.create(SensorRegistry::table_definition(sharded(3)));
  bool raced = false;
  bench.client.before([&](std::string_view operation, int) {
    // Another writer is first, after this one has found no settings.
    if (operation == "PutItem" && !std::exchange(raced, true)) {
      SensorOptions other = sharded(3);
      other.retention = 1h;
      EXPECT_OK(SensorRegistry(*bench.home.client, other).add(sensor("s1")));
    }
    return pass();
  });
  const SensorRegistry late = sharded_registry(3);
  ASSERT_OK(late.add(sensor("s2")));
  bench.client.before({});
  EXPECT_TRUE(raced);
  EXPECT_EQ(late.settings().value(),
            (SensorSettings{.retention = 1h, .city_shards = {{"Poznan", 3}}}));
  EXPECT_EQ(ids_at(late, {.city = "Poznan"}).size(), 2U);
}

// ---- Tables with other items

TEST_P(SensorSettingsTest, AreStoredForEachPrefixOfATableWithOtherItems) {
  bench.create(SensorRegistry::table_definition(sharded(5)));
  ASSERT_OK(bench.client.put_item({.table = "Sharded", .item = {{"pk", "USER#1"}, {"sk", "X"}}}));
  // The items of the first prefix begin with the second, too, if the index can separate them.
  const char* first = kind() == Kind::kMultiAttribute ? "EUROPE#" : "SENSOR#EU#";
  for (const std::string prefix : {first, "SENSOR#"}) {
    const auto prefixed = [&](int shards, std::optional<std::chrono::seconds> retention) {
      SensorOptions with = sharded(shards);
      with.names.sensor_prefix = prefix;
      with.names.city_prefix = "AT " + prefix;
      with.retention = retention;
      return SensorRegistry(bench.client, with);
    };
    add_some(prefixed(5, 1h), 10, 12);
    const SensorRegistry plain = prefixed(0, {});
    EXPECT_EQ(ids_at(plain, {.city = "Poznan"}).size(), 12U);
    EXPECT_EQ(plain.settings().value(),
              (SensorSettings{.retention = 1h, .city_shards = {{"Poznan", 5}}}));
    EXPECT_FAILS(Code::kLimitsDisagree, prefixed(4, {}).at({.city = "Poznan"}));
    EXPECT_FAILS(Code::kLimitsDisagree, prefixed(0, 2h).record(reading(now(), 1, "s10")));
  }
}

TEST_P(SensorSettingsTest, AreStoredByAClientThatMayNotScan) {
  bench.create(SensorRegistry::table_definition(kept(1h, "Unscanned")));
  bench.client.first("Scan", 1, refuse(Code::kAccessDenied));
  ASSERT_OK(
      SensorRegistry(bench.client, kept(1h, "Unscanned")).record(reading(now(), 1), Check::kNone));
  EXPECT_FAILS(Code::kLimitsDisagree,
               SensorRegistry(bench.client, kept(2h, "Unscanned")).readings(kId));
}

TEST_P(SensorSettingsTest, AreStoredByTheFirstWriteThoughItsRegistryHasFoundNone) {
  bench.create(SensorRegistry::table_definition(sharded(5)));
  const SensorRegistry plain = sharded_registry(0);
  EXPECT_FAILS(Code::kNotFound, plain.latest(kId, 1));
  ASSERT_OK(plain.record(reading(now(), 1), Check::kNone));
  // Otherwise, the reading would count as one of an earlier release.
  add_some(sharded_registry(5), 0, 12);
  EXPECT_EQ(ids_at(plain, {.city = "Poznan"}).size(), 12U);
}

TEST_P(SensorSettingsTest, AreFoundThoughAnotherWriterStoredThemDuringTheSearch) {
  bench.create(SensorRegistry::table_definition(kept(1h, "Raced")));
  bench.client.before([&, raced = false](std::string_view operation, int) mutable {
    if (operation == "Scan" && !std::exchange(raced, true)) {
      EXPECT_OK(SensorRegistry(*bench.home.client, kept(1h, "Raced"))
                    .record(reading(now(), 1), Check::kNone));
    }
    return pass();
  });
  const SensorRegistry late(bench.client, kept(2h, "Raced"));
  EXPECT_FAILS(Code::kLimitsDisagree, late.record(reading(now(), 2), Check::kNone));
  bench.client.before({});
}

TEST_P(SensorSettingsTest, ATableOfAnEarlierReleaseIsSearchedOnceByEachRegistry) {
  create_legacy(kept(1h, "Legacy"));
  for (int i = 0; i < 30; ++i) {
    const std::string user = "USER#" + std::to_string(i);
    ASSERT_OK(bench.client.put_item({.table = "Legacy", .item = {{"pk", user}, {"sk", "X"}}}));
  }
  const SensorRegistry sensors(bench.client, kept(1h, "Legacy"));
  ASSERT_OK(sensors.record(reading(now(), 1), Check::kNone));
  EXPECT_EQ(sensors.settings().value(), SensorSettings());
  const int searched = bench.client.sent("Scan");
  bench.time.advance(1min);
  const auto cost =
      bench.cost_of([&] { ASSERT_OK(sensors.record(reading(now(), 2), Check::kNone)); });
  EXPECT_EQ(cost.requests, 2);
  EXPECT_EQ(bench.client.sent("Scan"), searched);
}

}  // namespace
}  // namespace stator
