// SPDX-License-Identifier: Apache-2.0
// Cities with several shards, shared tables, existing tables.
#include <algorithm>
#include <set>

#include "recipes/sensors_suite.h"

namespace stator {
namespace {

using namespace std::chrono_literals;
using namespace test;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

// ---- A hot city

class SensorShards : public SensorSuite {
 protected:
  SensorOptions options() override { return sharded(5); }
  SensorOptions sharded(int shards) {
    SensorOptions spread = SensorSuite::options();
    spread.city_shards = {{"Poznan", shards}, {"Unused", 3}};
    return spread;
  }
  // Adds sensors with ids from "id#10" on, on several floors and in several rooms. Returns the ids
  // in the order of at().
  std::vector<std::string> add_many(const SensorRegistry& sensors, int count) {
    std::vector<std::string> ids;
    for (int i = 10; i < 10 + count; ++i) {
      const std::string id = "id#" + std::to_string(i);
      const Location room{.city = "Poznan",
                          .building = i < 20 ? "A" : "B",
                          .floor = std::to_string(i % 2),
                          .room = "r" + std::to_string(i)};
      EXPECT_OK(sensors.add({.id = {id}, .location = room}));
      ids.push_back(id);
    }
    std::ranges::stable_sort(ids, {}, [](const std::string& id) {
      const int i = std::stoi(id.substr(3));
      return std::pair(i < 20 ? 0 : 1, i % 2);
    });
    return ids;
  }
  static std::vector<std::string> pages_at(const SensorRegistry& sensors, const Location& place,
                                           int limit) {
    std::vector<std::string> ids;
    PageOptions page{.limit = limit};
    do {
      const auto part = sensors.at(place, page).value();
      EXPECT_LE(part.items.size(), static_cast<std::size_t>(limit));
      for (const SensorId& id : part.items) ids.push_back(id.text);
      page.cursor = part.next;
    } while (!page.cursor.empty());
    return ids;
  }
};
STATOR_SENSOR_HOMES(SensorShards);

TEST_P(SensorShards, AreMergedInOrderAtAnyPrecisionAndPageSize) {
  const std::vector<std::string> ids = add_many(registry(), 23);
  std::set<int> shards;
  for (const std::string& id : ids) shards.insert(registry().get({id}).value().shard);
  EXPECT_GT(shards.size(), 2U);
  EXPECT_LE(*shards.rbegin(), 4);
  for (const int limit : {1, 2, 7, 22, 23, 24, 1000}) {
    EXPECT_EQ(pages_at(registry(), {.city = "Poznan"}, limit), ids) << limit;
  }
  const std::vector<std::string> in_a(ids.begin(), ids.begin() + 10);
  EXPECT_EQ(pages_at(registry(), {.city = "Poznan", .building = "A"}, 3), in_a);
  const std::vector<std::string> on_floor(in_a.begin(), in_a.begin() + 5);
  EXPECT_EQ(pages_at(registry(), {.city = "Poznan", .building = "A", .floor = "0"}, 2), on_floor);
  EXPECT_EQ(
      pages_at(registry(), {.city = "Poznan", .building = "A", .floor = "0", .room = "r12"}, 2),
      std::vector<std::string>{"id#12"});
}

TEST_P(SensorShards, CanIncrease) {
  const std::vector<std::string> ids = add_many(registry(), 12);
  SensorOptions any = sharded(5);
  any.city_shards.erase("Poznan");
  const SensorRegistry sensors(bench.client, any);
  ASSERT_OK(sensors.change_settings({.city_shards = {{"Poznan", 100}}}));
  EXPECT_EQ(pages_at(sensors, {.city = "Poznan"}, 5), ids);
  bench.time.advance(15min);
  // A moved sensor gets a shard like a new one.
  std::set<int> shards;
  for (const std::string& id : ids) {
    const Sensor known = sensors.get({id}).value();
    EXPECT_LE(known.shard, 4);
    Location next = known.location;
    next.room += "'";
    shards.insert(sensors.move(known, next).value().shard);
  }
  EXPECT_GT(*shards.rbegin(), 4);
  EXPECT_EQ(pages_at(sensors, {.city = "Poznan"}, 5), ids);
}

TEST_P(SensorShards, CannotDecrease) {
  add_many(registry(), 12);
  const SensorRegistry few(bench.client, sharded(1));
  EXPECT_FAILS(Code::kLimitsDisagree, few.at({.city = "Poznan"}));
  EXPECT_FAILS(Code::kLimitsDisagree, few.change_settings({.city_shards = {{"Poznan", 1}}}));
  // Sensors whose shard another program has chosen must not be omitted silently.
  const Sensor known = registry().get({"id#10"}).value();
  ASSERT_OK(bench.client.update_item({.table = "SensorsTable",
                                      .key = {{"pk", "SENSOR#id%2310"}, {"sk", "SENSORINFO"}},
                                      .update = "SET #shard = :beyond",
                                      .names = Names{{"#shard", "shard"}},
                                      .values = Values{{":beyond", 5}}}));
  EXPECT_FAILS(Code::kLimitsDisagree, registry().get(known.id));
}

TEST_P(SensorShards, AreLeftBySensorsThatMoveOrAreDecommissioned) {
  add_many(registry(), 8);
  for (int i = 10; i < 18; ++i) {
    const Sensor known = registry().get({"id#" + std::to_string(i)}).value();
    if (i % 2 == 0) {
      const Location away{.city = "Gdansk", .building = "A", .floor = "1", .room = "2"};
      EXPECT_EQ(registry().move(known, away).value().shard, 0);
    } else {
      ASSERT_OK(registry().decommission(known.id));
    }
  }
  EXPECT_THAT(ids_at({.city = "Poznan"}), IsEmpty());
  EXPECT_EQ(ids_at({.city = "Gdansk"}).size(), 4U);
}

TEST_P(SensorShards, CostARequestEach) {
  const auto one = [&](const char* city) {
    return bench.cost_of([&] { ASSERT_OK(registry().at({.city = city})); }).requests;
  };
  EXPECT_FAILS(Code::kNotFound, registry().get({"none"}));  // reads the settings
  EXPECT_EQ(one("Poznan"), 5);
  EXPECT_EQ(one("Gdansk"), 1);
}

// ---- Tables of other programs

class SensorTables : public SensorSuite {
 protected:
  SensorOptions named(const std::string& prefix) {
    SensorOptions options = SensorSuite::options();
    options.names = {.partition_key = "PK",
                     .sort_key = "SK",
                     .index = "Places",
                     .index_partition_key = "GSI1PK",
                     .index_sort_key = "GSI1SK",
                     .expiry = "ttl",
                     .sensor_prefix = prefix + "SENSOR#",
                     .city_prefix = prefix + "CITY#"};
    return options;
  }
  SensorOptions options() override { return named(""); }
};
STATOR_SENSOR_HOMES(SensorTables);

TEST_P(SensorTables, AreSharedByTwoRegistriesWithoutCollision) {
  const SensorRegistry one(bench.client, named("one/"));
  const SensorRegistry two(bench.client, named("two/"));
  for (const SensorRegistry& sensors : {one, two}) {
    ASSERT_OK(sensors.add(sensor()));
    ASSERT_OK(sensors.record(reading(now(), 1)));
    ASSERT_OK(sensors.roll_up({"sensor-1"}, Period::kHour));
  }
  EXPECT_THAT(ids_at(one, {.city = "Poznan"}), ElementsAre("sensor-1"));
  const Sensor known = one.get({"sensor-1"}).value();
  ASSERT_OK(one.decommission(known.id));
  EXPECT_EQ(two.get({"sensor-1"}).value(), sensor());
  EXPECT_THAT(ids_at(two, {.city = "Poznan"}), ElementsAre("sensor-1"));
  EXPECT_EQ(two.latest({"sensor-1"}, 9).value().readings.size(), 1U);
  // Each prefix has its settings.
  for (const char* prefix : {"one/", "two/"}) {
    SensorOptions other = named(prefix);
    other.layout =
        kind() == Kind::kLocationItems ? SensorLayout::kIndexed : SensorLayout::kLocationItems;
    EXPECT_FAILS(Code::kLimitsDisagree, SensorRegistry(bench.client, other).at({.city = "Poznan"}));
  }
}

TEST_P(SensorTables, RefuseNamesThatWouldCollide) {
  const int before = bench.client.sent();
  const auto refuses = [&](const char* argument, const std::function<void(SensorOptions&)>& set) {
    SensorOptions wrong = options();
    set(wrong);
    const auto result = SensorRegistry(bench.client, wrong).get({"s"});
    EXPECT_FAILS(Code::kInvalidArgument, result);
    EXPECT_THAT(result.error().message, StartsWith(argument));
  };
  refuses("table", [](SensorOptions& options) { options.table.clear(); });
  refuses("names.partition_key", [](SensorOptions& o) { o.names.partition_key = "id"; });
  refuses("names.sort_key", [](SensorOptions& o) { o.names.sort_key = o.names.partition_key; });
  refuses("names.index", [](SensorOptions& o) { o.names.index.clear(); });
  refuses("names.expiry", [](SensorOptions& o) { o.names.expiry = "value"; });
  refuses("names.city_prefix", [](SensorOptions& o) { o.names.city_prefix = "SENS"; });
  refuses("names.sensor_prefix", [](SensorOptions& o) { o.names.sensor_prefix = "\xff"; });
  for (const char* prefix : {"HOUR#", "MINUTE#", "ZREAD#", "SENSORINFO"}) {
    refuses("names.reading_prefix", [&](SensorOptions& o) { o.names.reading_prefix = prefix; });
  }
  refuses("retention", [](SensorOptions& o) { o.retention = -1s; });
  refuses("roll_up_retention", [](SensorOptions& o) { o.roll_up_retention = -1s; });
  refuses("city_shards", [](SensorOptions& o) { o.city_shards = {{"P", 0}}; });
  refuses("city_shards", [](SensorOptions& o) { o.city_shards = {{"P", 257}}; });
  EXPECT_EQ(bench.client.sent(), before);
}

// Items as the article's program stores them, in either version.
TEST_P(SensorTables, AreAdoptedWithItemsOfTheReferenceImplementation) {
  if (kind() == Kind::kMultiAttribute) GTEST_SKIP() << "the article's versions have no such index";
  SensorOptions adopting = options();
  adopting.names.reading_prefix = "READS#";  // the article's readings begin with READ# and a text
  const SensorRegistry sensors(bench.client, adopting);
  Item info{{"PK", "SENSOR#old"}, {"SK", "SENSORINFO"}, {"city", "Poznan"},
            {"building", "A"},    {"floor", "2"},       {"room", "13"}};
  if (kind() == Kind::kComposed) {
    info.emplace("GSI1PK", "CITY#Poznan");
    info.emplace("GSI1SK", "LOCATION#A#2#13");
  } else {
    ASSERT_OK(bench.client.put_item(
        {.table = "SensorsTable",
         .item = {{"PK", "CITY#Poznan"}, {"SK", "LOCATION#A#2#13"}, {"id", "old"}}}));
  }
  ASSERT_OK(bench.client.put_item({.table = "SensorsTable", .item = info}));
  ASSERT_OK(bench.client.put_item(
      {.table = "SensorsTable",
       .item = {{"PK", "SENSOR#old"}, {"SK", "READ#2020-03-01T12:30:00Z"}, {"value", "0.67"}}}));

  const Sensor known = sensors.get({"old"}).value();
  EXPECT_EQ(known.location,
            (Location{.city = "Poznan", .building = "A", .floor = "2", .room = "13"}));
  EXPECT_EQ(known.version, 0);
  EXPECT_FAILS(Code::kAlreadyExists, sensors.add(sensor("old")));
  ASSERT_OK(sensors.add({.id = {"new"}, .location = known.location}));
  EXPECT_THAT(ids_at(sensors, {.city = "Poznan", .building = "A", .floor = "2"}),
              ElementsAre("old", "new"));
  ASSERT_OK(sensors.record(reading(now(), 7, "old")));
  EXPECT_THAT(sensors.latest({"old"}, 9).value().readings, ElementsAre(reading(now(), 7, "old")));
  EXPECT_THAT(sensors.readings({"old"}).value().items, ElementsAre(reading(now(), 7, "old")));

  Location next = known.location;
  next.floor = "3";
  if (kind() == Kind::kLocationItems) {
    // The item of its place can belong to another sensor in the room too.
    EXPECT_FAILS(Code::kConflict, sensors.move(known, next));
    EXPECT_FAILS(Code::kConflict, sensors.decommission(known.id));
    return;
  }
  EXPECT_EQ(sensors.move(known, next).value().version, 1);
  EXPECT_THAT(ids_at(sensors, next), ElementsAre("old"));
  ASSERT_OK(sensors.decommission(known.id));
  EXPECT_THAT(ids_at(sensors, {.city = "Poznan"}), ElementsAre("new"));
}

}  // namespace
}  // namespace stator
