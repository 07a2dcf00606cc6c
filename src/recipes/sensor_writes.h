// SPDX-License-Identifier: Apache-2.0
// How readings are stored, by the policy for duplicates.
//
// Lifetime: borrows everything that it is made with.
#pragma once

#include <span>
#include <vector>

#include "stator/recipes/sensors.h"

namespace stator::recipes {

class SensorWrites {
 public:
  SensorWrites(Client& client, const SensorOptions& options, TimeSource& time)
      : client_(client), options_(options), time_(time) {}

  // Readings that have been checked one by one.
  Result<Recorded> record(std::span<const Reading> readings, Check check) const;

 private:
  // One reading a key, by policy; `recorded` counts what is left out.
  Result<std::vector<const Reading*>> distinct(std::span<const Reading> readings,
                                               Recorded& recorded) const;
  Result<void> check_registered(const std::vector<const Reading*>& readings) const;
  // Up to 25, of different keys.
  Result<void> replace(std::span<const Reading* const> batch, Recorded& recorded) const;
  Result<void> add_new(std::span<const Reading* const> batch, Recorded& recorded) const;

  Client& client_;
  const SensorOptions& options_;
  TimeSource& time_;
};

}  // namespace stator::recipes
