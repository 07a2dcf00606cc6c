// SPDX-License-Identifier: Apache-2.0
// Common parts of the suites of SensorRegistry, which run on each backend with each layout.
#pragma once

#include "stator/recipes/sensors.h"

#include <optional>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "recipes/recipe_test.h"

namespace stator {

// For GoogleTest's messages.
inline void PrintTo(const RollUp& roll_up, std::ostream* out) {
  *out << roll_up.from.text() << " " << roll_up.unit << " of " << roll_up.count << ": "
       << (roll_up.sum ? roll_up.sum->to_string() : "no sum") << ", " << roll_up.min.to_string()
       << " to " << roll_up.max.to_string() << ", " << roll_up.first.to_string() << " first, "
       << roll_up.last.to_string() << " last";
}
inline void PrintTo(const Reading& reading, std::ostream* out) {
  *out << reading.sensor.text << " " << reading.at.text() << " " << reading.value.to_string();
}

}  // namespace stator

namespace stator::test {

// The sensor of most tests.
inline const SensorId kId{"sensor-1"};

enum class SensorKind { kLocationItems, kComposed, kMultiAttribute };

inline std::string kind_name(SensorKind kind) {
  switch (kind) {
    case SensorKind::kLocationItems:
      return "LocationItems";
    case SensorKind::kComposed:
      return "Composed";
    case SensorKind::kMultiAttribute:
      return "MultiAttribute";
  }
  return "";
}

class SensorSuite : public testing::TestWithParam<std::tuple<std::string, SensorKind>> {
 protected:
  using Kind = SensorKind;

  void SetUp() override {
    if (kind() == Kind::kLocationItems) STATOR_NEEDS(Ability::kTransactions);
    if (kind() == Kind::kMultiAttribute) STATOR_NEEDS(Ability::kMultiAttributeKeys);
    bench.create(SensorRegistry::table_definition(options()));
    // Stored before the test, so that faults affect only the test's own requests.
    ASSERT_OK(SensorRegistry(*bench.home.client, options())
                  .change_settings({.city_shards = options().city_shards}));
  }
  // The ability that an endpoint needs for the cost of registrations.
  Ability units() const {
    return kind() == Kind::kLocationItems ? Ability::kUnitsOfTransactions
                                          : Ability::kUnitsOfIndexes;
  }

  Kind kind() const { return std::get<Kind>(GetParam()); }
  virtual SensorOptions options() {
    return {.table = "SensorsTable",
            .layout = kind() == Kind::kLocationItems ? SensorLayout::kLocationItems
                                                     : SensorLayout::kIndexed,
            .location_keys = kind() == Kind::kMultiAttribute ? LocationKeys::kMultiAttribute
                                                             : LocationKeys::kComposed,
            .time = &bench.time};
  }
  SensorOptions options(Duplicates duplicates) {
    SensorOptions with = options();
    with.duplicates = duplicates;
    return with;
  }
  // Returns the same object each time. It reads the table's settings once.
  SensorRegistry registry() {
    if (!registry_) registry_.emplace(bench.client, options());
    return *registry_;
  }
  SensorRegistry registry(Duplicates duplicates) { return {bench.client, options(duplicates)}; }
  // The operations that add and move a sensor.
  const char* adding() const {
    return kind() == Kind::kLocationItems ? "TransactWriteItems" : "PutItem";
  }
  const char* moving() const {
    return kind() == Kind::kLocationItems ? "TransactWriteItems" : "UpdateItem";
  }
  Time now() { return bench.time.now(); }

  static Sensor sensor(const std::string& id = "sensor-1") {
    return {.id = {id},
            .location = {.city = "Poznan", .building = "A", .floor = "1", .room = "2"},
            .type = "Gas",
            .version = 1};
  }
  static Reading reading(Time time, int value, const std::string& id = "sensor-1") {
    return {.sensor = {id}, .at = time, .value = value, .unit = "ppm"};
  }
  std::vector<std::string> ids_at(const Location& place) { return ids_at(registry(), place); }
  static std::vector<std::string> ids_at(const SensorRegistry& sensors, const Location& place) {
    std::vector<std::string> ids;
    const auto page = sensors.at(place).value();
    ids.reserve(page.items.size());
    for (const SensorId& id : page.items) ids.push_back(id.text);
    return ids;
  }
  void add(const std::string& id, const Location& location) {
    ASSERT_OK(registry().add({.id = {id}, .location = location}));
  }

  Bench bench{std::get<std::string>(GetParam())};

 private:
  std::optional<SensorRegistry> registry_;
};

#define STATOR_SENSOR_HOMES(suite)                                                        \
  INSTANTIATE_TEST_SUITE_P(                                                               \
      Homes, suite,                                                                       \
      testing::Combine(testing::ValuesIn(recipe_home_kinds()),                            \
                       testing::Values(SensorKind::kLocationItems, SensorKind::kComposed, \
                                       SensorKind::kMultiAttribute)),                     \
      [](const auto& test) {                                                              \
        return std::get<0>(test.param) + kind_name(std::get<1>(test.param));              \
      })

}  // namespace stator::test
