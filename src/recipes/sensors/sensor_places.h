// SPDX-License-Identifier: Apache-2.0
// Which sensors are at a place, over all shards of its city.
//
// Lifetime: borrows everything that it is made with.
#pragma once

#include <string>
#include <vector>

#include "stator/recipes/sensors.h"

namespace stator::recipes {

class SensorPlaces {
 public:
  SensorPlaces(Client& client, const SensorOptions& options, TimeSource& time)
      : client_(client), options_(options), time_(time) {}

  // Arguments that have been checked.
  Result<Page<SensorId>> at(const Location& place, const PageOptions& page) const;

  // Where a page begins: no position, or that of its cursor.
  using Position = std::vector<std::string>;
  Result<Position> start_of(const Location& place, const PageOptions& page) const;

 private:
  Client& client_;
  const SensorOptions& options_;
  TimeSource& time_;
};

}  // namespace stator::recipes
