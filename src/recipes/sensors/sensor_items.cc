// SPDX-License-Identifier: Apache-2.0
#include "recipes/sensors/sensor_items.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "base/fnv_hash.h"
#include "recipes/common/keys.h"
#include "recipes/common/settings.h"

namespace stator::recipes {
namespace {

// The names below the city, from the coarsest.
std::array<std::pair<std::string_view, const std::string*>, 3> names_of(const Location& place) {
  return {{{"building", &place.building}, {"floor", &place.floor}, {"room", &place.room}}};
}

}  // namespace

bool is_multi_attribute(const SensorOptions& options) {
  return options.layout == SensorLayout::kIndexed &&
         options.location_keys == LocationKeys::kMultiAttribute;
}

int shards_of(const SensorOptions& options, const std::string& city) {
  const auto found = options.city_shards.find(city);
  return found == options.city_shards.end() ? 1 : found->second;
}

int shard_of(int shards, const SensorId& id) {
  // A sensor's shard is stored with it, so another writer can choose differently.
  return static_cast<int>(fnv_hash(id.text) % static_cast<uint64_t>(shards));
}

std::string sensor_partition(const SensorOptions& options, const SensorId& id) {
  return options.names.sensor_prefix + escape(id.text);
}

std::string city_partition(const SensorOptions& options, const std::string& city, int shard) {
  const std::string partition = options.names.city_prefix + escape(city);
  return shard == 0 ? partition : partition + "#" + std::to_string(shard);
}

std::string reading_key(const SensorOptions& options, Time at) {
  return options.names.reading_prefix + time_key(at);
}

std::string first_reading_key(const SensorOptions& options) {
  return options.names.reading_prefix;
}

std::string last_reading_key(const SensorOptions& options) {
  return options.names.reading_prefix + ":";  // after all digits
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

Item key_of(const SensorOptions& options, std::string partition, std::string sort) {
  Item key;
  key.emplace(options.names.partition_key, std::move(partition));
  key.emplace(options.names.sort_key, std::move(sort));
  return key;
}

Item info_key(const SensorOptions& options, const SensorId& id) {
  return key_of(options, sensor_partition(options, id), kInfoKey);
}

Item place_attributes(const SensorOptions& options, const Sensor& sensor) {
  Item item{{"city", sensor.location.city}};
  for (const auto& [attribute, name] : names_of(sensor.location)) item.emplace(attribute, *name);
  if (!options.city_shards.empty()) item.emplace("shard", sensor.shard);
  if (options.layout == SensorLayout::kIndexed && !is_multi_attribute(options)) {
    item.emplace(options.names.index_partition_key,
                 city_partition(options, sensor.location.city, sensor.shard));
    item.emplace(options.names.index_sort_key, place_key(sensor));
  }
  return item;
}

Item info_item(const SensorOptions& options, const Sensor& sensor) {
  Item item = place_attributes(options, sensor);
  item.merge(info_key(options, sensor.id));
  item.emplace("id", sensor.id.text);
  item.emplace("version", sensor.version);
  if (!sensor.type.empty()) item.emplace("type", sensor.type);
  return item;
}

Item location_key(const SensorOptions& options, const Sensor& sensor) {
  return key_of(options, city_partition(options, sensor.location.city, sensor.shard),
                place_key(sensor));
}

Item reading_item(const SensorOptions& options, const Reading& reading) {
  Item item =
      key_of(options, sensor_partition(options, reading.sensor), reading_key(options, reading.at));
  item.emplace("value", reading.value);
  if (!reading.unit.empty()) item.emplace("unit", reading.unit);
  if (options.retention) {
    item.emplace(options.names.expiry, reading.at.unix_seconds() + options.retention->count() +
                                           std::chrono::seconds(kDeletionGrace).count());
  }
  return item;
}

std::optional<Sensor> sensor_of(const SensorOptions& options, const Item& info) {
  const auto id = id_of_partition(options, info);
  const std::string* city = text_in(info, "city");
  const std::string* building = text_in(info, "building");
  const std::string* floor = text_in(info, "floor");
  const std::string* room = text_in(info, "room");
  if (!id || !city || !building || !floor || !room) return std::nullopt;
  Sensor sensor{.id = *id,
                .location = {.city = *city, .building = *building, .floor = *floor, .room = *room}};
  if (const std::string* type = text_in(info, "type")) sensor.type = *type;
  sensor.version = int64_in(info, "version").value_or(0);
  const int64_t shard = int64_in(info, "shard").value_or(0);
  if (shard < 0 || shard >= kMaxShards) return std::nullopt;
  sensor.shard = static_cast<int>(shard);
  if (const std::string* at = text_in(info, "decommissioned_at")) {
    const auto time = Time::parse(*at);
    if (!time) return std::nullopt;
    sensor.decommissioned = *time;
  }
  return sensor;
}

std::optional<Reading> reading_of(const SensorOptions& options, const SensorId& id,
                                  const Item& item) {
  const std::string& prefix = options.names.reading_prefix;
  const std::string* sk = text_in(item, options.names.sort_key);
  const Number* value = number_in(item, "value");
  if (sk == nullptr || value == nullptr || !sk->starts_with(prefix)) return std::nullopt;
  const auto at = time_from_key(std::string_view(*sk).substr(prefix.size()));
  if (!at) return std::nullopt;
  const std::string* unit = text_in(item, "unit");
  return Reading{
      .sensor = id, .at = *at, .value = *value, .unit = unit != nullptr ? *unit : std::string()};
}

std::optional<SensorId> id_of_partition(const SensorOptions& options, const Item& item) {
  const std::string* pk = text_in(item, options.names.partition_key);
  if (pk == nullptr || !pk->starts_with(options.names.sensor_prefix)) return std::nullopt;
  auto id = unescape(std::string_view(*pk).substr(options.names.sensor_prefix.size()));
  return id ? std::optional<SensorId>(SensorId{*std::move(id)}) : std::nullopt;
}

bool is_sensor_item(const SensorOptions& options, const Item& item) {
  const std::string* sk = text_in(item, options.names.sort_key);
  return sk != nullptr && (*sk == kInfoKey || sk->starts_with(options.names.reading_prefix)) &&
         id_of_partition(options, item);
}

Result<void> check_options(const SensorOptions& options) {
  STATOR_RETURN_IF_ERROR(check_table(options.table));
  const SensorNames& names = options.names;
  // The recipe's own attributes, which cannot be keys of the table.
  std::set<std::string_view> taken{"city",
                                   "building",
                                   "floor",
                                   "room",
                                   "id",
                                   "type",
                                   "version",
                                   "shard",
                                   "nonce",
                                   "unit",
                                   "value",
                                   "count",
                                   "sum",
                                   "min",
                                   "max",
                                   "first",
                                   "last",
                                   "decommissioned_at",
                                   "stator_settings",
                                   "stator_version"};
  for (const auto& [argument, name] :
       {std::pair("names.partition_key", &names.partition_key),
        std::pair("names.sort_key", &names.sort_key),
        std::pair("names.index_partition_key", &names.index_partition_key),
        std::pair("names.index_sort_key", &names.index_sort_key),
        std::pair("names.expiry", &names.expiry)}) {
    STATOR_RETURN_IF_ERROR(check_text(argument, *name, kMaxNameBytes));
    if (!taken.insert(*name).second) return invalid(argument, *name + " has another use");
  }
  STATOR_RETURN_IF_ERROR(check_text("names.index", names.index, kMaxNameBytes));
  for (const auto& [argument, prefix] :
       {std::pair("names.sensor_prefix", &names.sensor_prefix),
        std::pair("names.city_prefix", &names.city_prefix),
        std::pair("names.reading_prefix", &names.reading_prefix)}) {
    STATOR_RETURN_IF_ERROR(check_text(argument, *prefix, kMaxWordBytes));
  }
  // A partition must not belong to both a sensor and a city.
  if (names.sensor_prefix.starts_with(names.city_prefix) ||
      names.city_prefix.starts_with(names.sensor_prefix)) {
    return invalid("names.city_prefix", "and names.sensor_prefix begin alike");
  }
  // Readings must sort between the roll-ups and SENSORINFO, so that latest() finds no other items.
  if (names.reading_prefix <= "MINUTE$" || names.reading_prefix + ":" >= kInfoKey) {
    return invalid("names.reading_prefix", "must be after MINUTE# and before SENSORINFO");
  }
  STATOR_RETURN_IF_ERROR(check_retention("retention", options.retention));
  STATOR_RETURN_IF_ERROR(check_retention("roll_up_retention", options.roll_up_retention));
  for (const auto& [city, shards] : options.city_shards) {
    if (shards < 1 || shards > kMaxShards) {
      return invalid("city_shards", "must be 1 to 256 for each city");
    }
  }
  return {};
}

Result<void> check_sensor_id(const SensorOptions& options, const SensorId& id) {
  STATOR_RETURN_IF_ERROR(check_text("id", id.text, kMaxPartitionKeyBytes));
  return check_key("id", sensor_partition(options, id), kMaxPartitionKeyBytes);
}

Result<void> check_place(const SensorOptions& options, const Location& place) {
  STATOR_RETURN_IF_ERROR(check_text("city", place.city, kMaxPartitionKeyBytes));
  STATOR_RETURN_IF_ERROR(
      check_key("city", city_partition(options, place.city, shards_of(options, place.city) - 1),
                kMaxPartitionKeyBytes));
  std::string_view missing;
  for (const auto& [argument, name] : names_of(place)) {
    if (name->empty()) {
      if (missing.empty()) missing = argument;
      continue;
    }
    if (!missing.empty()) {
      return invalid(missing, "must be given where a " + std::string(argument) + " is");
    }
    STATOR_RETURN_IF_ERROR(check_text(argument, *name, kMaxSortKeyBytes));
  }
  return check_key("location", place_prefix(place), kMaxSortKeyBytes);
}

Result<void> check_sensor(const SensorOptions& options, const Sensor& sensor) {
  STATOR_RETURN_IF_ERROR(check_sensor_id(options, sensor.id));
  STATOR_RETURN_IF_ERROR(check_place(options, sensor.location));
  for (const auto& [argument, name] : names_of(sensor.location)) {
    if (name->empty()) return invalid(argument, "must not be empty");
  }
  if (!sensor.type.empty()) STATOR_RETURN_IF_ERROR(check_text("type", sensor.type, kMaxWordBytes));
  return check_key("location", place_key(sensor), kMaxSortKeyBytes);
}

Result<void> check_reading(const SensorOptions& options, const Reading& reading, Time now) {
  STATOR_RETURN_IF_ERROR(check_sensor_id(options, reading.sensor));
  STATOR_RETURN_IF_ERROR(check_event_time("at", reading.at, now, options.max_skew));
  if (!reading.unit.empty())
    STATOR_RETURN_IF_ERROR(check_text("unit", reading.unit, kMaxWordBytes));
  return {};
}

Failure foreign_item() {
  return fail(Code::kConflict, "the item at this key does not belong to a sensor");
}

Failure not_registered(const SensorId& id) {
  return fail(Code::kNotFound, "no sensor " + id.text + " is registered");
}

}  // namespace stator::recipes
