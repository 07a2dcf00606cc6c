// SPDX-License-Identifier: Apache-2.0
// SensorPlaces: finds the sensors at a place, in all shards of its city.
//
// Lifetime: borrows all constructor arguments.
#pragma once

#include <string>
#include <vector>

#include "stator/recipes/sensors.h"

namespace stator::recipes {

class SensorPlaces {
 public:
  SensorPlaces(Client& client, const SensorOptions& options, TimeSource& time)
      : client_(client), options_(options), time_(time) {}

  // The arguments must have been checked.
  Result<Page<SensorId>> at(const Location& place, const PageOptions& page) const;

  // The start of a page: empty for the first, otherwise from the cursor.
  using Position = std::vector<std::string>;
  Result<Position> start_of(const Location& place, const PageOptions& page) const;

 private:
  Client& client_;
  const SensorOptions& options_;
  TimeSource& time_;
};

}  // namespace stator::recipes
