// SPDX-License-Identifier: Apache-2.0
// Registering and finding sensors, and recording their readings.
#include <algorithm>
#include <limits>
#include <thread>

#include "recipes/sensors_suite.h"

namespace stator {
namespace {

using namespace std::chrono_literals;
using namespace test;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class SensorsTest : public SensorSuite {};
STATOR_SENSOR_HOMES(SensorsTest);

// ---- The article's suite

TEST_P(SensorsTest, RegistersASensorAndGetsIt) {
  ASSERT_OK(registry().add(sensor()));
  EXPECT_EQ(registry().get({"sensor-1"}).value(), sensor());
}

TEST_P(SensorsTest, DoesNotAllowToRegisterManyTimes) {
  ASSERT_OK(registry().add(sensor()));
  const auto again = registry().add(sensor());
  EXPECT_FAILS(Code::kAlreadyExists, again);
  EXPECT_THAT(again.error().message, testing::HasSubstr("already registered"));
  Sensor elsewhere = sensor();
  elsewhere.location.city = "Gdansk";
  EXPECT_FAILS(Code::kAlreadyExists, registry().add(elsewhere));
  EXPECT_THAT(ids_at({.city = "Gdansk"}), IsEmpty());
}

TEST_P(SensorsTest, SavesANewReading) {
  ASSERT_OK(registry().add(sensor()));
  ASSERT_OK(registry().record(
      {.sensor = {"sensor-1"}, .at = now(), .value = Number::parse("0.67").value()}));
  const auto latest = registry().latest({"sensor-1"}, 1).value();
  ASSERT_EQ(latest.readings.size(), 1U);
  EXPECT_EQ(latest.readings[0].value.to_string(), "0.67");
}

TEST_P(SensorsTest, GetsTheLastReadingsAndTheSensor) {
  ASSERT_OK(registry().add(sensor()));
  ASSERT_OK(registry().record(reading(now() - 20s, 3)));
  ASSERT_OK(registry().record(reading(now() - 10s, 5)));
  ASSERT_OK(registry().record(reading(now(), 67)));
  const auto latest = registry().latest({"sensor-1"}, 2).value();
  EXPECT_EQ(latest.sensor, sensor());
  EXPECT_THAT(latest.readings, ElementsAre(reading(now(), 67), reading(now() - 10s, 5)));
}

TEST_P(SensorsTest, GetsSensorsByLocation) {
  add("sensor-1", {.city = "Poznan", .building = "A", .floor = "1", .room = "2"});
  add("sensor-2", {.city = "Poznan", .building = "A", .floor = "2", .room = "4"});
  add("sensor-3", {.city = "Poznan", .building = "A", .floor = "2", .room = "5"});
  EXPECT_THAT(ids_at({.city = "Poznan", .building = "A", .floor = "2"}),
              ElementsAre("sensor-2", "sensor-3"));
}

// ---- Errors of the article's solution

TEST_P(SensorsTest, DoesNotConfuseFloor10WithFloor1) {
  add("one", {.city = "Poznan", .building = "A", .floor = "1", .room = "2"});
  add("ten", {.city = "Poznan", .building = "A", .floor = "10", .room = "2"});
  add("other", {.city = "Poznan", .building = "AB", .floor = "1", .room = "2"});
  EXPECT_THAT(ids_at({.city = "Poznan", .building = "A", .floor = "1"}), ElementsAre("one"));
  EXPECT_THAT(ids_at({.city = "Poznan", .building = "A"}), UnorderedElementsAre("one", "ten"));
  EXPECT_THAT(ids_at({.city = "Pozna"}), IsEmpty());
}

TEST_P(SensorsTest, SeparatesPlacesWithAnyNames) {
  add("hash", {.city = "Poznan", .building = "A#2", .floor = "3", .room = "4"});
  add("plain", {.city = "Poznan", .building = "A", .floor = "2", .room = "3"});
  add("escaped", {.city = "Poznan", .building = "A%232", .floor = "3", .room = "4"});
  EXPECT_THAT(ids_at({.city = "Poznan", .building = "A", .floor = "2"}), ElementsAre("plain"));
  EXPECT_THAT(ids_at({.city = "Poznan", .building = "A#2"}), ElementsAre("hash"));
  EXPECT_THAT(ids_at({.city = "Poznan", .building = "A%232", .floor = "3", .room = "4"}),
              ElementsAre("escaped"));
  EXPECT_EQ(registry().get({"hash"}).value().location.building, "A#2");
}

TEST_P(SensorsTest, AllowsSeveralSensorsInARoom) {
  const Location room{.city = "Poznan", .building = "A", .floor = "1", .room = "2"};
  add("a", room);
  add("b", room);
  EXPECT_THAT(ids_at(room), ElementsAre("a", "b"));
}

TEST_P(SensorsTest, KeepsIdsUnchanged) {
  for (const char* id : {"NORTH-1", "TH-1", "a#b", "a", "SENSOR#x", "%23", "#"}) {
    add(id, {.city = "Poznan", .building = "A", .floor = "1", .room = id});
    EXPECT_EQ(registry().get({id}).value().id.text, id);
    ASSERT_OK(registry().record(reading(now(), 1, id)));
    EXPECT_EQ(registry().latest({id}, 5).value().readings.size(), 1U);
    EXPECT_THAT(ids_at({.city = "Poznan", .building = "A", .floor = "1", .room = id}),
                ElementsAre(id));
  }
  EXPECT_EQ(ids_at({.city = "Poznan"}).size(), 7U);
}

TEST_P(SensorsTest, ReturnsNotFoundForAnAbsentSensor) {
  EXPECT_FAILS(Code::kNotFound, registry().get({"none"}));
  EXPECT_FAILS(Code::kNotFound, registry().latest({"none"}, 1));
}

TEST_P(SensorsTest, ReturnsASensorWithoutReadings) {
  ASSERT_OK(registry().add(sensor()));
  const auto latest = registry().latest({"sensor-1"}, 3).value();
  EXPECT_EQ(latest.sensor, sensor());
  EXPECT_THAT(latest.readings, IsEmpty());
}

TEST_P(SensorsTest, DoesNotConfuseAReadingWithTheSensor) {
  ASSERT_OK(registry().record(reading(now(), 1), Check::kNone));
  EXPECT_FAILS(Code::kNotFound, registry().latest({"sensor-1"}, 1));
  EXPECT_EQ(registry().readings({"sensor-1"}).value().items.size(), 1U);
}

TEST_P(SensorsTest, KeepsReadingsOfOneSecondApart) {
  ASSERT_OK(registry().add(sensor()));
  std::vector<Reading> readings;
  readings.reserve(130);
  for (int i = 0; i < 5; ++i) {
    readings.push_back(reading(now() - std::chrono::nanoseconds(i), i));
  }
  EXPECT_EQ(registry().record(readings).value().stored, 5);
  EXPECT_EQ(registry().latest({"sensor-1"}, 10).value().readings, readings);
}

TEST_P(SensorsTest, OrdersReadingsOfAllZonesByInstant) {
  ASSERT_OK(registry().add(sensor()));
  ASSERT_OK(registry().record(reading(at("2024-01-01T12:00:00+05:00"), 1)));
  ASSERT_OK(registry().record(reading(at("2024-01-01T10:00:00Z"), 2)));
  ASSERT_OK(registry().record(reading(at("1969-06-01T00:00:00Z"), 0)));
  EXPECT_EQ(registry().latest({"sensor-1"}, 1).value().readings[0].value, Number(2));
}

TEST_P(SensorsTest, FindsSensorsAtAnyPrecision) {
  add("a", {.city = "Poznan", .building = "A", .floor = "1", .room = "2"});
  add("b", {.city = "Poznan", .building = "A", .floor = "1", .room = "3"});
  add("c", {.city = "Poznan", .building = "B", .floor = "1", .room = "2"});
  add("d", {.city = "Gdansk", .building = "A", .floor = "1", .room = "2"});
  EXPECT_EQ(ids_at({.city = "Poznan"}).size(), 3U);
  EXPECT_THAT(ids_at({.city = "Poznan", .building = "A"}), ElementsAre("a", "b"));
  EXPECT_THAT(ids_at({.city = "Poznan", .building = "A", .floor = "1", .room = "3"}),
              ElementsAre("b"));
}

TEST_P(SensorsTest, RefusesBadArgumentsBeforeAnyRequest) {
  const SensorRegistry sensors = registry();
  const int before = bench.client.sent();
  const auto refuses = [&](const auto& result, const char* argument) {
    EXPECT_FAILS(Code::kInvalidArgument, result);
    EXPECT_THAT(result.error().message, testing::StartsWith(argument));
  };
  refuses(sensors.at({.city = "P", .floor = "2"}), "building");
  refuses(sensors.at({.city = "P", .building = "A", .room = "2"}), "floor");
  refuses(sensors.at({.city = ""}), "city");
  refuses(sensors.at({.city = "P"}, {.limit = 0}), "limit");
  refuses(sensors.get({""}), "id");
  refuses(sensors.get({std::string(2049, 'x')}), "id");
  refuses(sensors.latest({"s"}, 0), "count");
  refuses(sensors.latest({"s"}, -1), "count");
  refuses(sensors.readings({"s"}, {}, {.limit = -3}), "limit");
  refuses(sensors.add({.id = {"s"}, .location = {.city = "P", .building = "A", .floor = "1"}}),
          "room");
  Sensor wide = sensor();
  wide.location.room = std::string(1020, 'r');
  refuses(sensors.add(wide), "location");
  refuses(sensors.record(reading(now(), 1, "")), "id");
  EXPECT_FAILS(Code::kInFuture, sensors.record(reading(now() + 11min, 1)));
  EXPECT_FAILS(Code::kBadCursor, sensors.at({.city = "P"}, {.cursor = "x"}));
  EXPECT_EQ(bench.client.sent(), before);
}

TEST_P(SensorsTest, ReportsAlreadyRegisteredOnlyForAFailedCondition) {
  if (kind() != Kind::kLocationItems) GTEST_SKIP() << "registers by a put";
  bench.client.first("TransactWriteItems", 2, cancel({"None", "TransactionConflict"}));
  EXPECT_OK(registry().add(sensor()));
  bench.client.first("TransactWriteItems", 1'000, cancel({"TransactionConflict", "None"}));
  EXPECT_FAILS(Code::kTransactionConflict, registry().add(sensor("sensor-2")));
  bench.client.first("TransactWriteItems", 1'000, cancel({"ThrottlingError", "None"}));
  EXPECT_FAILS(Code::kThrottling, registry().add(sensor("sensor-2")));
  bench.client.first("TransactWriteItems", 1'000, cancel({"None", "ValidationError"}));
  EXPECT_FAILS(Code::kTransactionCanceled, registry().add(sensor("sensor-2")));
}

TEST_P(SensorsTest, RegistersOnceWhenTheReplyIsLost) {
  bench.client.first(adding(), 1, lose_reply());
  EXPECT_OK(registry().add(sensor()));
  bench.client.first(adding(), 1, lose_request());
  EXPECT_OK(registry().add(sensor("sensor-2")));
  EXPECT_FAILS(Code::kAlreadyExists, registry().add(sensor()));
  EXPECT_EQ(ids_at({.city = "Poznan"}).size(), 2U);
}

TEST_P(SensorsTest, RegistersOneOfManyAtOnce) {
  SensorOptions real = options();
  real.time = nullptr;
  const SensorRegistry sensors(bench.client, real);
  std::atomic<int> added = 0;
  {
    std::vector<std::jthread> threads;
    threads.reserve(6);
    for (int i = 0; i < 6; ++i) {
      threads.emplace_back([&, i] {
        Sensor mine = sensor();
        mine.location.room = std::to_string(i);
        const auto result = sensors.add(mine);
        if (result) {
          ++added;
        } else {
          EXPECT_FAILS(Code::kAlreadyExists, result);
        }
      });
    }
  }
  EXPECT_EQ(added, 1);
  EXPECT_EQ(ids_at({.city = "Poznan"}).size(), 1U);
}

// ---- Readings

TEST_P(SensorsTest, RefusesReadingsOfUnregisteredSensors) {
  ASSERT_OK(registry().add(sensor()));
  const std::vector<Reading> readings{reading(now(), 1), reading(now(), 2, "ghost")};
  const auto refused = registry().record(readings);
  EXPECT_FAILS(Code::kNotFound, refused);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("ghost"));
  EXPECT_THAT(registry().latest({"sensor-1"}, 1).value().readings, IsEmpty());
  EXPECT_EQ(registry().record(readings, Check::kNone).value().stored, 2);
}

TEST_P(SensorsTest, RecordsAnyNumberOfReadingsAndPagesThroughThem) {
  ASSERT_OK(registry().add(sensor()));
  std::vector<Reading> readings;
  readings.reserve(130);
  for (int i = 0; i < 130; ++i) {
    readings.push_back(reading(now() - std::chrono::minutes(130 - i), i));
  }
  bench.client.process_at_most(10);
  EXPECT_EQ(registry().record(readings).value().stored, 130);
  for (const bool newest_first : {true, false}) {
    std::vector<Reading> seen;
    PageOptions page{.limit = 33, .newest_first = newest_first};
    do {
      const auto part = registry().readings({"sensor-1"}, {}, page).value();
      seen.insert(seen.end(), part.items.begin(), part.items.end());
      page.cursor = part.next;
    } while (!page.cursor.empty());
    if (newest_first) std::ranges::reverse(seen);
    EXPECT_EQ(seen, readings);
  }
  const auto some =
      registry().readings({"sensor-1"}, {.from = readings[10].at, .to = readings[20].at}).value();
  ASSERT_EQ(some.items.size(), 10U);
  EXPECT_EQ(some.items.front(), readings[19]);
  EXPECT_EQ(some.items.back(), readings[10]);
  EXPECT_TRUE(
      registry().readings({"sensor-1"}, {.from = now(), .to = now()}).value().items.empty());
  EXPECT_EQ(registry().latest({"sensor-1"}, 130).value().readings.size(), 130U);
}

TEST_P(SensorsTest, ReplacesAReadingOfTheSameTimeByDefault) {
  ASSERT_OK(registry().add(sensor()));
  ASSERT_OK(registry().record(reading(now(), 1)));
  ASSERT_OK(registry().record(std::vector{reading(now(), 2), reading(now(), 3)}));
  EXPECT_THAT(registry().latest({"sensor-1"}, 5).value().readings, ElementsAre(reading(now(), 3)));
}

TEST_P(SensorsTest, KeepsTheFirstReadingIfRequested) {
  STATOR_NEEDS(Ability::kTransactions);
  const SensorRegistry sensors = registry(Duplicates::kKeepFirst);
  ASSERT_OK(sensors.add(sensor()));
  ASSERT_OK(sensors.record(reading(now(), 1)));
  const auto recorded = sensors.record(
      std::vector{reading(now(), 2), reading(now() - 1s, 3), reading(now() - 1s, 4)});
  ASSERT_OK(recorded);
  EXPECT_EQ(recorded->stored, 1);
  EXPECT_EQ(recorded->duplicates, 2);
  EXPECT_THAT(sensors.latest({"sensor-1"}, 5).value().readings,
              ElementsAre(reading(now(), 1), reading(now() - 1s, 3)));
}

TEST_P(SensorsTest, RejectsAnotherReadingOfTheSameTimeIfRequested) {
  STATOR_NEEDS(Ability::kTransactions);
  const SensorRegistry sensors = registry(Duplicates::kRefuse);
  ASSERT_OK(sensors.add(sensor()));
  ASSERT_OK(sensors.record(reading(now(), 1)));
  EXPECT_FAILS(Code::kAlreadyExists,
               sensors.record(std::vector{reading(now() - 1s, 3), reading(now(), 2)}));
  EXPECT_FAILS(Code::kAlreadyExists,
               sensors.record(std::vector{reading(now() - 2s, 3), reading(now() - 2s, 2)}));
  EXPECT_EQ(sensors.latest({"sensor-1"}, 5).value().readings.size(), 1U);
  // Delivered again, with one more reading.
  const auto again = sensors.record(std::vector{reading(now(), 1), reading(now() - 1s, 3)});
  ASSERT_OK(again);
  EXPECT_EQ(again->stored, 1);
  EXPECT_EQ(again->duplicates, 1);
}

TEST_P(SensorsTest, RecordsOnceWhenTheReplyIsLost) {
  STATOR_NEEDS(Ability::kTransactions);
  for (const Duplicates policy :
       {Duplicates::kReplace, Duplicates::kKeepFirst, Duplicates::kRefuse}) {
    const std::string id = "s" + std::to_string(static_cast<int>(policy));
    const SensorRegistry sensors = registry(policy);
    ASSERT_OK(sensors.add(sensor(id)));
    bench.client.first(policy == Duplicates::kReplace ? "BatchWriteItem" : "TransactWriteItems", 1,
                       lose_reply());
    const Reading one = reading(now(), 1, id);
    EXPECT_OK(sensors.record(one));
    EXPECT_THAT(sensors.latest({id}, 5).value().readings, ElementsAre(one));
  }
}

TEST_P(SensorsTest, MarksReadingsWithTheirExpiry) {
  SensorOptions kept = options();
  kept.retention = 24h;
  const SensorRegistry sensors(bench.client, kept);
  ASSERT_OK(sensors.add(sensor()));
  ASSERT_OK(sensors.record(reading(now(), 1)));
  const auto items =
      bench.client.scan({.table = "SensorsTable", .filter = "attribute_exists(expires_at)"});
  ASSERT_OK(items);
  ASSERT_EQ(items->items.size(), 1U);
  EXPECT_EQ(items->items[0].at("expires_at"), AttributeValue((now() + 24h + 10min).unix_seconds()));
}

TEST_P(SensorsTest, PagesThroughAPlaceInItsOrder) {
  std::vector<std::string> ids;
  ids.reserve(11);
  for (int i = 0; i < 11; ++i) {
    const std::string number = std::to_string(10 + i);
    add("id#" + number, {.city = "Poznan", .building = "A", .floor = "1", .room = "r" + number});
    ids.push_back("id#" + number);
  }
  std::vector<std::string> seen;
  PageOptions page{.limit = 3};
  do {
    const auto part = registry().at({.city = "Poznan", .building = "A"}, page).value();
    for (const SensorId& id : part.items) seen.push_back(id.text);
    page.cursor = part.next;
  } while (!page.cursor.empty());
  EXPECT_EQ(seen, ids);
  page.cursor = registry().at({.city = "Poznan"}, {.limit = 3}).value().next;
  EXPECT_FAILS(Code::kBadCursor, registry().at({.city = "Poznan", .building = "A"}, page));
}

TEST_P(SensorsTest, CostsTheDocumentedUnits) {
  STATOR_NEEDS(units());
  EXPECT_FAILS(Code::kNotFound, registry().get({"none"}));  // reads the settings
  const auto adding_one = bench.cost_of([&] { ASSERT_OK(registry().add(sensor())); });
  EXPECT_EQ(adding_one.requests, 1);
  EXPECT_EQ(adding_one.write_units, kind() == Kind::kLocationItems ? 4 : 2);
  std::vector<Reading> readings;
  readings.reserve(130);
  for (int i = 0; i < 25; ++i) readings.push_back(reading(now() - std::chrono::seconds(i), i));
  const auto recording =
      bench.cost_of([&] { ASSERT_OK(registry().record(readings, Check::kNone)); });
  EXPECT_EQ(recording.requests, 1);
  EXPECT_EQ(recording.write_units, 25);
  const auto checked = bench.cost_of([&] { ASSERT_OK(registry().record(readings)); });
  EXPECT_EQ(checked.requests, 2);
  const auto latest = bench.cost_of([&] { ASSERT_OK(registry().latest({"sensor-1"}, 10)); });
  EXPECT_EQ(latest.requests, 1);
  EXPECT_EQ(latest.read_units, 1);
  const auto finding = bench.cost_of([&] { ASSERT_OK(registry().at({.city = "Poznan"})); });
  EXPECT_EQ(finding.requests, 1);
  EXPECT_LE(finding.read_units, 1);
}

TEST_P(SensorsTest, ChecksRegistrationOnceAndThenRemembersIt) {
  ASSERT_OK(registry().add(sensor()));
  const SensorRegistry sensors = registry();
  const auto asked = [&] { return bench.client.sent("BatchGetItem"); };
  EXPECT_FAILS(Code::kNotFound, sensors.record(reading(now(), 1, "ghost"), Check::kCached));
  const int before = asked();
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK(sensors.record(reading(now() - std::chrono::seconds(i), i), Check::kCached));
  }
  EXPECT_EQ(asked(), before + 1);
  EXPECT_FAILS(Code::kNotFound, sensors.record(reading(now(), 1, "ghost"), Check::kCached));
  bench.time.advance(2min);
  ASSERT_OK(sensors.record(reading(now(), 4), Check::kCached));
  EXPECT_EQ(asked(), before + 3);
  // It knows of its own decommissioning immediately.
  ASSERT_OK(sensors.decommission({"sensor-1"}));
  EXPECT_FAILS(Code::kNotFound, sensors.record(reading(now(), 5), Check::kCached));
}

TEST_P(SensorsTest, ItsTableExpiresReadingsIfThereIsARetention) {
  STATOR_NEEDS(Ability::kTimeToLive);
  SensorOptions kept = options();
  kept.table = "Kept";
  kept.retention = 1h;
  ASSERT_OK(create_table_if_missing(bench.client, SensorRegistry::table_definition(kept)));
  EXPECT_EQ(bench.client.describe_time_to_live({.table = "Kept"}).value().attribute, "expires_at");
}

TEST_P(SensorsTest, NeitherStoresNorReturnsExpiredReadings) {
  SensorOptions kept = options();
  kept.retention = 1h;
  const SensorRegistry sensors(bench.client, kept);
  ASSERT_OK(sensors.add(sensor()));
  std::vector<Reading> readings;
  for (int i = 0; i < 10; ++i) readings.push_back(reading(now() - i * 10min, i));
  const Recorded recorded = sensors.record(readings).value();
  EXPECT_EQ(recorded.stored, 7);
  EXPECT_EQ(recorded.expired, 3);
  EXPECT_EQ(sensors.latest({"sensor-1"}, 50).value().readings.size(), 7U);
  for (const bool newest_first : {true, false}) {
    PageOptions page{.limit = 2, .newest_first = newest_first};
    page.cursor = sensors.readings({"sensor-1"}, {}, page).value().next;
    bench.time.advance(20min);
    std::vector<Reading> rest;
    while (!page.cursor.empty()) {
      const auto part = sensors.readings({"sensor-1"}, {}, page).value();
      rest.insert(rest.end(), part.items.begin(), part.items.end());
      page.cursor = part.next;
    }
    // The two oldest readings have expired. If `newest_first`, they were not in the first page;
    // otherwise they were.
    EXPECT_EQ(rest.size(), 3U) << newest_first;
    EXPECT_EQ(sensors.latest({"sensor-1"}, 50).value().readings.size(), newest_first ? 5U : 3U);
  }
  bench.time.advance(2h);
  EXPECT_THAT(sensors.latest({"sensor-1"}, 50).value().readings, IsEmpty());
  EXPECT_THAT(sensors.readings({"sensor-1"}).value().items, IsEmpty());
  EXPECT_THAT(registry().readings({"sensor-1"}).value().items, IsEmpty());
  const auto swept =
      bench.client.query({.table = "SensorsTable",
                          .key_condition = "pk = :pk AND begins_with(sk, :read)",
                          .values = Values{{":pk", "SENSOR#sensor-1"}, {":read", "READ#"}}});
  EXPECT_EQ(swept.value().items.size(), 7U) << "is not swept";
}

TEST_P(SensorsTest, KeepsNumbersOf38DigitsAndRejectsOthers) {
  ASSERT_OK(registry().add(sensor()));
  const std::string digits = "-0.12345678901234567890123456789012345678";
  ASSERT_OK(registry().record({.sensor = {"sensor-1"},
                               .at = now(),
                               .value = Number::parse(digits).value(),
                               .unit = "\xc2\xb0"
                                       "C"}));
  const auto stored = registry().latest({"sensor-1"}, 1).value().readings.at(0);
  EXPECT_EQ(stored.value.to_string(), digits);
  EXPECT_EQ(stored.unit,
            "\xc2\xb0"
            "C");
  for (const char* text : {"NaN", "nan", "inf", "-Infinity", "", " 1", "1e126", "0x10",
                           "123456789012345678901234567890123456789"}) {
    EXPECT_FAILS(Code::kValidation, Number::parse(text)) << text;
  }
  EXPECT_FAILS(Code::kValidation, Number::from_double(std::numeric_limits<double>::quiet_NaN()));
}

TEST_P(SensorsTest, AcceptsTheLongestKeysAndTheFirstAndTheLastInstant) {
  SensorOptions patient = options();
  patient.max_skew = 24h * 365 * 250;
  const SensorRegistry sensors(bench.client, patient);
  // The id is part of the place's key too, so that key's limit of 1,024 bytes applies; escaping
  // makes it longer.
  const Location room{.city = std::string(2'043, 'c'), .building = "#", .floor = "%", .room = " "};
  const std::string id = std::string(1'000 - 7, 'x') + "#";
  ASSERT_OK(sensors.add({.id = {id}, .location = room}));
  EXPECT_THAT(ids_at(sensors, room), ElementsAre(id));
  const std::vector<Reading> readings{reading(at("2262-04-11T23:47:16.854775808Z"), 3, id),
                                      reading(at("1677-09-21T00:12:43.145224191Z"), 2, id),
                                      reading(at("0001-01-01T00:00:00Z"), 1, id)};
  ASSERT_OK(sensors.record(readings));
  EXPECT_EQ(sensors.latest({id}, 9).value().readings, readings);
  EXPECT_FAILS(Code::kInFuture, sensors.record(reading(at("9999-12-31T23:59:59Z"), 1, id)));
  EXPECT_FAILS(Code::kInvalidArgument,
               sensors.record(reading(at("9999-12-31T23:59:59Z") + 1s, 1, id)));
  EXPECT_EQ(sensors
                .readings({id}, {.from = at("0001-01-01T00:00:00Z"),
                                 .to = at("9999-12-31T23:59:59.999999999Z")})
                .value()
                .items,
            readings);
  // An id without a location can be as long as a partition key.
  const std::string longest(2'048 - 7, 'y');
  ASSERT_OK(sensors.record(reading(now(), 1, longest), Check::kNone));
  EXPECT_EQ(sensors.readings({longest}).value().items.size(), 1U);
  EXPECT_FAILS(Code::kInvalidArgument,
               sensors.record(reading(now(), 1, longest + "y"), Check::kNone));
}

}  // namespace
}  // namespace stator
