// SPDX-License-Identifier: Apache-2.0
// SensorWrites: stores readings, by the policy for duplicates.
//
// Lifetime: borrows all constructor arguments.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stator/recipes/sensors.h"

namespace stator::recipes {

// Sensors that were found registered, and when. Its size is bounded.
// Thread safety: any thread.
class RegisteredSensors {
 public:
  bool has(std::string_view id, std::chrono::nanoseconds not_before) const;
  void add(std::string_view id, std::chrono::nanoseconds now);
  void remove(std::string_view id);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::chrono::nanoseconds, std::less<>> found_;  // guarded by mutex_
};

class SensorWrites {
 public:
  SensorWrites(Client& client, const SensorOptions& options, TimeSource& time,
               RegisteredSensors& registered)
      : client_(client), options_(options), time_(time), registered_(registered) {}

  // Stores readings. Each must have been checked.
  Result<Recorded> record(std::span<const Reading> readings, Check check, Time now) const;

 private:
  // One reading per key, by policy, without expired ones; `recorded` counts those left out.
  Result<std::vector<const Reading*>> distinct(std::span<const Reading> readings, Time now,
                                               Recorded& recorded) const;
  Result<void> check_registered(const std::vector<const Reading*>& readings, Check check) const;
  // Stores up to 25 readings with different keys.
  Result<void> replace(std::span<const Reading* const> batch, Recorded& recorded) const;
  Result<void> add_new(std::span<const Reading* const> batch, Recorded& recorded) const;

  Client& client_;
  const SensorOptions& options_;
  TimeSource& time_;
  RegisteredSensors& registered_;
};

}  // namespace stator::recipes
