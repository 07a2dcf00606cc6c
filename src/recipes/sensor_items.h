// SPDX-License-Identifier: Apache-2.0
// The items of a SensorRegistry, by layout.
//
//   pk                 sk                                        in
//   SENSOR#<id>        SENSORINFO                                both
//   SENSOR#<id>        READ#<time>                               both; sorts before SENSORINFO
//   CITY#<city>        LOCATION#<building>#<floor>#<room>#<id>#  kLocationItems
//
// kIndexed has the index ByLocation over the SENSORINFO items: gsi_pk and gsi_sk with what pk and
// sk of the location item hold (kComposed), or city; building, floor, room, id (kMultiAttribute).
// Every name is escaped and followed by a delimiter, so that no place is a prefix of another.
#pragma once

#include <optional>
#include <string>

#include "stator/recipes/sensors.h"

namespace stator::recipes {

inline constexpr const char* kInfoKey = "SENSORINFO";
inline constexpr const char* kByLocation = "ByLocation";

std::string sensor_partition(const SensorId& id);
std::string city_partition(const std::string& city);
std::string reading_key(Time at);
// "LOCATION#A#2#" for building A, floor 2: as many names as are given, from the left.
std::string place_prefix(const Location& place);
std::string place_key(const Sensor& sensor);  // of a whole place, with the sensor's id

Item info_key(const SensorId& id);
Item info_item(const Sensor& sensor, const SensorOptions& options);
Item location_item(const Sensor& sensor);
Item reading_item(const Reading& reading, const SensorOptions& options);

// Absent for items of other kinds.
std::optional<Sensor> sensor_of(const Item& info);
std::optional<Reading> reading_of(const SensorId& id, const Item& item);
std::optional<SensorId> id_of_partition(const Item& item);

// What may be asked and stored: kInvalidArgument naming what is wrong.
Result<void> check_sensor_id(const SensorId& id);
Result<void> check_sensor(const Sensor& sensor);
Result<void> check_place(const Location& place);
Result<void> check_reading(const Reading& reading, const SensorOptions& options, Time now);

}  // namespace stator::recipes
