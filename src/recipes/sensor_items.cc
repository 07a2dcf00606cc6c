// SPDX-License-Identifier: Apache-2.0
#include "recipes/sensor_items.h"

#include <array>
#include <string_view>
#include <utility>

#include "recipes/keys.h"

namespace stator::recipes {
namespace {

constexpr std::string_view kSensorPrefix = "SENSOR#";
constexpr std::string_view kReadingPrefix = "READ#";
constexpr std::size_t kMaxWordBytes = 256;  // a type, a unit

// The names below the city, from the coarsest.
std::array<std::pair<std::string_view, const std::string*>, 3> names_of(const Location& place) {
  return {{{"building", &place.building}, {"floor", &place.floor}, {"room", &place.room}}};
}

}  // namespace

std::string sensor_partition(const SensorId& id) {
  return std::string(kSensorPrefix) + escape(id.text);
}

std::string city_partition(const std::string& city) {
  return "CITY#" + escape(city);
}

std::string reading_key(Time at) {
  return std::string(kReadingPrefix) + time_key(at);
}

std::string place_prefix(const Location& place) {
  std::string prefix = "LOCATION#";
  for (const auto& [argument, name] : names_of(place)) {
    if (name->empty()) break;
    prefix += escape(*name);
    prefix += '#';
  }
  return prefix;
}

std::string place_key(const Sensor& sensor) {
  return place_prefix(sensor.location) + escape(sensor.id.text) + "#";
}

Item info_key(const SensorId& id) {
  return {{"pk", sensor_partition(id)}, {"sk", kInfoKey}};
}

Item info_item(const Sensor& sensor, const SensorOptions& options) {
  Item item = info_key(sensor.id);
  item.emplace("id", sensor.id.text);
  item.emplace("city", sensor.location.city);
  for (const auto& [attribute, name] : names_of(sensor.location)) item.emplace(attribute, *name);
  if (!sensor.type.empty()) item.emplace("type", sensor.type);
  if (options.layout == SensorLayout::kIndexed &&
      options.location_keys == LocationKeys::kComposed) {
    item.emplace("gsi_pk", city_partition(sensor.location.city));
    item.emplace("gsi_sk", place_key(sensor));
  }
  return item;
}

Item location_item(const Sensor& sensor) {
  return {{"pk", city_partition(sensor.location.city)},
          {"sk", place_key(sensor)},
          {"id", sensor.id.text}};
}

Item reading_item(const Reading& reading, const SensorOptions& options) {
  Item item{{"pk", sensor_partition(reading.sensor)},
            {"sk", reading_key(reading.at)},
            {"value", reading.value}};
  if (!reading.unit.empty()) item.emplace("unit", reading.unit);
  if (options.retention) {
    item.emplace("expires_at", reading.at.unix_seconds() + options.retention->count());
  }
  return item;
}

std::optional<Sensor> sensor_of(const Item& info) {
  const std::string* id = text_in(info, "id");
  const std::string* city = text_in(info, "city");
  const std::string* building = text_in(info, "building");
  const std::string* floor = text_in(info, "floor");
  const std::string* room = text_in(info, "room");
  if (!id || !city || !building || !floor || !room) return std::nullopt;
  Sensor sensor{.id = {*id},
                .location = {.city = *city, .building = *building, .floor = *floor, .room = *room},
                .type = {}};
  if (const std::string* type = text_in(info, "type")) sensor.type = *type;
  return sensor;
}

std::optional<Reading> reading_of(const SensorId& id, const Item& item) {
  const std::string* sk = text_in(item, "sk");
  const Number* value = number_in(item, "value");
  if (sk == nullptr || value == nullptr || !sk->starts_with(kReadingPrefix)) return std::nullopt;
  const auto at = time_from_key(std::string_view(*sk).substr(kReadingPrefix.size()));
  if (!at) return std::nullopt;
  const std::string* unit = text_in(item, "unit");
  return Reading{
      .sensor = id, .at = *at, .value = *value, .unit = unit != nullptr ? *unit : std::string()};
}

std::optional<SensorId> id_of_partition(const Item& item) {
  const std::string* pk = text_in(item, "pk");
  if (pk == nullptr || !pk->starts_with(kSensorPrefix)) return std::nullopt;
  auto id = unescape(std::string_view(*pk).substr(kSensorPrefix.size()));
  return id ? std::optional<SensorId>(SensorId{*std::move(id)}) : std::nullopt;
}

Result<void> check_sensor_id(const SensorId& id) {
  STATOR_CHECK_OK(check_text("id", id.text, kMaxPartitionKeyBytes));
  return check_key("id", sensor_partition(id), kMaxPartitionKeyBytes);
}

Result<void> check_place(const Location& place) {
  STATOR_CHECK_OK(check_text("city", place.city, kMaxPartitionKeyBytes));
  STATOR_CHECK_OK(check_key("city", city_partition(place.city), kMaxPartitionKeyBytes));
  std::string_view missing;
  for (const auto& [argument, name] : names_of(place)) {
    if (name->empty()) {
      if (missing.empty()) missing = argument;
      continue;
    }
    if (!missing.empty()) {
      return invalid(missing, "must be given where a " + std::string(argument) + " is");
    }
    STATOR_CHECK_OK(check_text(argument, *name, kMaxSortKeyBytes));
  }
  return check_key("location", place_prefix(place), kMaxSortKeyBytes);
}

Result<void> check_sensor(const Sensor& sensor) {
  STATOR_CHECK_OK(check_sensor_id(sensor.id));
  STATOR_CHECK_OK(check_place(sensor.location));
  for (const auto& [argument, name] : names_of(sensor.location)) {
    if (name->empty()) return invalid(argument, "must not be empty");
  }
  if (!sensor.type.empty()) STATOR_CHECK_OK(check_text("type", sensor.type, kMaxWordBytes));
  return check_key("location", place_key(sensor), kMaxSortKeyBytes);
}

Result<void> check_reading(const Reading& reading, const SensorOptions& options, Time now) {
  STATOR_CHECK_OK(check_sensor_id(reading.sensor));
  STATOR_CHECK_OK(check_event_time("at", reading.at, now, options.max_skew));
  if (!reading.unit.empty()) STATOR_CHECK_OK(check_text("unit", reading.unit, kMaxWordBytes));
  return {};
}

}  // namespace stator::recipes
