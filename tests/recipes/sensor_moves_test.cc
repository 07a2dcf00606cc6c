// SPDX-License-Identifier: Apache-2.0
// Moving and decommissioning sensors is atomic and versioned, despite lost requests and crashes.
#include <algorithm>
#include <thread>

#include "recipes/sensors_suite.h"

namespace stator {
namespace {

using namespace std::chrono_literals;
using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Location kOld{.city = "Poznan", .building = "A", .floor = "1", .room = "2"};
const Location kNew{.city = "Poznan", .building = "A#", .floor = "10", .room = "2"};
const Location kAbroad{.city = "Gdansk", .building = "A", .floor = "1", .room = "2"};

class SensorMoves : public SensorSuite {
 protected:
  // The sensor must be at exactly one place: the one in its own item.
  void expect_whole(const std::string& id = "sensor-1") {
    const Sensor stored = registry().get({id}).value();
    for (const Location& place : {kOld, kNew, kAbroad}) {
      const std::vector<std::string> ids = ids_at(place);
      EXPECT_EQ(std::ranges::count(ids, id), place == stored.location ? 1 : 0) << place.building;
    }
  }
};
STATOR_SENSOR_HOMES(SensorMoves);

TEST_P(SensorMoves, MoveASensorWithItsReadings) {
  const Sensor added = registry().add(sensor()).value();
  EXPECT_EQ(added, sensor());
  ASSERT_OK(registry().record(reading(now(), 1)));
  const Sensor moved = registry().move(added, kNew).value();
  EXPECT_EQ(moved.location, kNew);
  EXPECT_EQ(moved.version, 2);
  EXPECT_EQ(registry().get({"sensor-1"}).value(), moved);
  expect_whole();
  EXPECT_EQ(registry().latest({"sensor-1"}, 1).value().readings.size(), 1U);
  EXPECT_EQ(registry().move(moved, kAbroad).value().version, 3);
  expect_whole();
}

TEST_P(SensorMoves, ToTheSamePlaceChangeOnlyTheVersion) {
  const Sensor added = registry().add(sensor()).value();
  EXPECT_EQ(registry().move(added, kOld).value().version, 2);
  expect_whole();
}

TEST_P(SensorMoves, DoNotAffectOthersInTheRoom) {
  const Sensor added = registry().add(sensor()).value();
  ASSERT_OK(registry().add(sensor("sensor-2")));
  ASSERT_OK(registry().move(added, kNew));
  EXPECT_THAT(ids_at(kOld), ElementsAre("sensor-2"));
}

TEST_P(SensorMoves, FromAnOldVersionAreAConflict) {
  const Sensor added = registry().add(sensor()).value();
  ASSERT_OK(registry().move(added, kNew));
  const auto again = registry().move(added, kAbroad);
  EXPECT_FAILS(Code::kConflict, again);
  EXPECT_THAT(again.error().message, HasSubstr("is of version 2, not 1"));
  expect_whole();
  EXPECT_EQ(registry().get({"sensor-1"}).value().location, kNew);
  EXPECT_FAILS(Code::kNotFound, registry().move(sensor("ghost"), kNew));
}

TEST_P(SensorMoves, FromAnotherPlaceChangeNothing) {
  Sensor known = registry().add(sensor()).value();
  if (kind() != Kind::kLocationItems) GTEST_SKIP() << "the old place is in the item itself";
  known.location = kAbroad;
  EXPECT_FAILS(Code::kConflict, registry().move(known, kNew));
  expect_whole();
  EXPECT_EQ(registry().get({"sensor-1"}).value(), sensor());
}

TEST_P(SensorMoves, OfOneVersionSucceedOnce) {
  SensorOptions real = options();
  real.time = nullptr;
  const SensorRegistry sensors(bench.client, real);
  const Sensor added = sensors.add(sensor()).value();
  std::atomic<int> moved = 0;
  {
    std::vector<std::jthread> threads;
    for (const Location& place : {kNew, kAbroad, kNew, kAbroad, kNew}) {
      threads.emplace_back([&sensors, &added, &moved, place] {
        const auto result = sensors.move(added, place);
        if (result) {
          ++moved;
        } else {
          EXPECT_FAILS(Code::kConflict, result);
        }
      });
    }
  }
  EXPECT_EQ(moved, 1);
  expect_whole();
}

TEST_P(SensorMoves, HappenOnceWhenTheReplyIsLost) {
  const Sensor added = registry().add(sensor()).value();
  bench.client.first(moving(), 1, lose_reply());
  const auto moved = registry().move(added, kNew);
  ASSERT_OK(moved);
  EXPECT_EQ(moved->version, 2);
  EXPECT_EQ(registry().get({"sensor-1"}).value(), *moved);
  bench.client.first(moving(), 1, lose_request());
  EXPECT_EQ(registry().move(*moved, kAbroad).value().version, 3);
  expect_whole();
}

TEST_P(SensorMoves, ReportTheSameIfRefusalsHaveNoItems) {
  bench.client.withhold_items();
  bench.client.first(adding(), 1, lose_reply());
  const auto added = registry().add(sensor());
  ASSERT_OK(added);
  EXPECT_FAILS(Code::kAlreadyExists, registry().add(sensor()));
  bench.client.first(moving(), 1, lose_reply());
  EXPECT_OK(registry().move(*added, kNew));
  EXPECT_FAILS(Code::kConflict, registry().move(*added, kAbroad));
  EXPECT_FAILS(Code::kNotFound, registry().move(sensor("absent"), kAbroad));
  expect_whole();
  bench.client.first(moving(), 1, lose_reply());
  EXPECT_OK(registry().decommission({"sensor-1"}));
  EXPECT_FAILS(Code::kNotFound, registry().decommission({"absent"}));
}

TEST_P(SensorMoves, AreWholeWhereverTheirProcessDies) {
  int sent = 0;
  for (int survives = 0; survives < 4; ++survives) {
    const std::string id = "sensor-" + std::to_string(survives);
    const Sensor added = registry().add(sensor(id)).value();
    // From then on no request arrives, or one more arrives but its response is lost.
    for (const bool last_arrives : {true, false}) {
      int left = survives;
      bench.client.before([&, left](std::string_view, int) mutable {
        ++sent;
        if (left-- > 0) return pass();
        return left == -1 && last_arrives ? lose_reply() : lose_request();
      });
      const auto moved = registry().move(added, last_arrives ? kNew : kAbroad);
      bench.client.before({});
      expect_whole(id);
      if (moved) {
        EXPECT_EQ(registry().get({id}).value(), *moved);
      }
    }
  }
  EXPECT_GE(sent, 8);
}

TEST_P(SensorMoves, RepeatConflictsAndTakeThemForNothingElse) {
  if (kind() != Kind::kLocationItems) GTEST_SKIP() << "moves by an update";
  const Sensor added = registry().add(sensor()).value();
  bench.client.first("TransactWriteItems", 2, cancel({"TransactionConflict", "None", "None"}));
  EXPECT_OK(registry().move(added, kNew));
  bench.client.first("TransactWriteItems", 1'000, cancel({"ThrottlingError", "None", "None"}));
  EXPECT_FAILS(Code::kThrottling, registry().move(added, kAbroad));
}

TEST_P(SensorMoves, CostThreeUnitsInOneRequestOrSixAsATransaction) {
  STATOR_NEEDS(units());
  const Sensor added = registry().add(sensor()).value();
  const auto moving = bench.cost_of([&] { ASSERT_OK(registry().move(added, kNew)); });
  EXPECT_EQ(moving.requests, 1);
  EXPECT_EQ(moving.write_units, kind() == Kind::kLocationItems ? 6 : 3);
  const auto going = bench.cost_of([&] { ASSERT_OK(registry().decommission(added.id)); });
  EXPECT_EQ(going.requests, kind() == Kind::kLocationItems ? 2 : 1);
  EXPECT_EQ(going.write_units, kind() == Kind::kLocationItems ? 4 : 2);
}

// ---- Decommissioning

TEST_P(SensorMoves, DecommissioningLeavesThePlaceAndKeepsTheHistory) {
  const Sensor added = registry().add(sensor()).value();
  ASSERT_OK(registry().record(reading(now(), 1)));
  ASSERT_OK(registry().decommission(added.id));
  EXPECT_THAT(ids_at({.city = "Poznan"}), IsEmpty());
  const Sensor gone = registry().get(added.id).value();
  EXPECT_EQ(gone.decommissioned, now());
  EXPECT_EQ(gone.location, kOld);
  EXPECT_EQ(gone.type, "Gas");
  EXPECT_EQ(registry().latest(added.id, 5).value().sensor, gone);
  EXPECT_EQ(registry().latest(added.id, 5).value().readings.size(), 1U);
  EXPECT_EQ(registry().readings(added.id).value().items.size(), 1U);

  EXPECT_FAILS(Code::kNotFound, registry().record(reading(now(), 2)));
  EXPECT_FAILS(Code::kAlreadyExists, registry().add(sensor()));
  const auto moved = registry().move(gone, kNew);
  EXPECT_FAILS(Code::kConflict, moved);
  EXPECT_THAT(moved.error().message, HasSubstr("was decommissioned at 2024"));
  bench.time.advance(1min);
  EXPECT_OK(registry().decommission(added.id));
  EXPECT_EQ(registry().get(added.id).value(), gone) << "the second time changes nothing";
  EXPECT_FAILS(Code::kNotFound, registry().decommission({"ghost"}));
}

TEST_P(SensorMoves, DecommissioningHappensOnceWhenTheReplyIsLost) {
  ASSERT_OK(registry().add(sensor()));
  bench.client.first(moving(), 1, lose_reply());
  ASSERT_OK(registry().decommission({"sensor-1"}));
  EXPECT_EQ(registry().get({"sensor-1"}).value().version, 2);
  EXPECT_THAT(ids_at({.city = "Poznan"}), IsEmpty());
}

TEST_P(SensorMoves, DecommissioningFailsWithARetryableErrorIfTheSensorAlwaysMoves) {
  if (kind() != Kind::kLocationItems) GTEST_SKIP() << "it requires no version";
  Sensor known = registry().add(sensor()).value();
  const SensorRegistry other(*bench.home.client, options());
  bench.client.before([&](std::string_view operation, int) {
    if (operation == "TransactWriteItems") {
      known = other.move(known, known.location == kNew ? kOld : kNew).value();
    }
    return pass();
  });
  const auto gone = registry().decommission(known.id);
  bench.client.before({});
  EXPECT_FAILS(Code::kTransactionConflict, gone);
  EXPECT_TRUE(gone.error().retryable());
  EXPECT_OK(registry().decommission(known.id));
}

TEST_P(SensorMoves, DecommissioningFollowsASensorThatMoves) {
  const Sensor added = registry().add(sensor()).value();
  const SensorRegistry other(*bench.home.client, options());
  bool moved = false;
  bench.client.before([&](std::string_view operation, int) {
    if (operation == moving() && !std::exchange(moved, true)) {
      EXPECT_OK(other.move(added, kNew));
    }
    return pass();
  });
  ASSERT_OK(registry().decommission(added.id));
  EXPECT_TRUE(moved);
  EXPECT_THAT(ids_at({.city = "Poznan"}), IsEmpty());
  EXPECT_EQ(registry().get(added.id).value().location, kNew);
}

}  // namespace
}  // namespace stator
