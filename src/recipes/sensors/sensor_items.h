// SPDX-License-Identifier: Apache-2.0
// The items of a SensorRegistry, by layout, and argument checks.
//
//   pk                  sk                                        in
//   SENSOR#<id>         SENSORINFO                                both
//   SENSOR#<id>         READ#<time>                               both; next before SENSORINFO
//   SENSOR#<id>         MINUTE#, HOUR#, DAY#<time>#<unit>#        both; before READ#
//   CITY#<city>[#<n>]   LOCATION#<building>#<floor>#<room>#<id>#  kLocationItems; n: the shard
//
//   SENSOR##SETTINGS    SETTINGS                                  both; see sensor_settings.h
//
// kIndexed has an index over the SENSORINFO items of active sensors. Its key is gsi_pk and gsi_sk,
// with the values of pk and sk of a location item (kComposed), or city; building, floor, room, id
// (kMultiAttribute). Every name is escaped and followed by a delimiter, so that no place is a
// prefix of another.
#pragma once

#include <optional>
#include <string>

#include "stator/recipes/sensors.h"

namespace stator::recipes {

inline constexpr const char* kInfoKey = "SENSORINFO";
inline constexpr std::size_t kMaxWordBytes = 256;  // a type, a unit
inline constexpr int kMaxShards = 256;

bool is_multi_attribute(const SensorOptions& options);
int shards_of(const SensorOptions& options, const std::string& city);
int shard_of(int shards, const SensorId& id);

std::string sensor_partition(const SensorOptions& options, const SensorId& id);
std::string city_partition(const SensorOptions& options, const std::string& city, int shard);
std::string reading_key(const SensorOptions& options, Time at);
// The lower and upper bound of the readings' sort keys.
std::string first_reading_key(const SensorOptions& options);
std::string last_reading_key(const SensorOptions& options);
// "LOCATION#A#2#" for building A, floor 2: the nonempty names, from the left.
std::string place_prefix(const Location& place);
std::string place_key(const Sensor& sensor);  // of a whole place, with the sensor's id

Item key_of(const SensorOptions& options, std::string partition, std::string sort);
Item info_key(const SensorOptions& options, const SensorId& id);
// The attributes that contain a sensor's place, including those of the index.
Item place_attributes(const SensorOptions& options, const Sensor& sensor);
Item info_item(const SensorOptions& options, const Sensor& sensor);
Item location_key(const SensorOptions& options, const Sensor& sensor);
Item reading_item(const SensorOptions& options, const Reading& reading);

// Absent for items of other kinds.
std::optional<Sensor> sensor_of(const SensorOptions& options, const Item& info);
std::optional<Reading> reading_of(const SensorOptions& options, const SensorId& id,
                                  const Item& item);
std::optional<SensorId> id_of_partition(const SensorOptions& options, const Item& item);
// Whether it is a sensor's own item or a reading, by its key.
bool is_sensor_item(const SensorOptions& options, const Item& item);

// Argument checks. Errors: kInvalidArgument with the argument's name.
Result<void> check_options(const SensorOptions& options);
Result<void> check_sensor_id(const SensorOptions& options, const SensorId& id);
Result<void> check_sensor(const SensorOptions& options, const Sensor& sensor);
Result<void> check_place(const SensorOptions& options, const Location& place);
Result<void> check_reading(const SensorOptions& options, const Reading& reading, Time now);

Failure foreign_item();
Failure not_registered(const SensorId& id);

}  // namespace stator::recipes
