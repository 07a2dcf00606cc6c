// SPDX-License-Identifier: Apache-2.0
// SensorRegistration: registers, moves and decommissions sensors. Arguments must have been checked.
//
// Every write contains a nonce, which identifies it if its response was lost.
// Lifetime: borrows all constructor arguments.
#pragma once

#include "recipes/sensors/sensor_settings.h"
#include "stator/recipes/sensors.h"

namespace stator::recipes {

class SensorRegistration {
 public:
  SensorRegistration(Client& client, const SensorTerms& terms, TimeSource& time)
      : client_(client), terms_(terms), options_(terms.options), time_(time) {}

  Result<Sensor> add(Sensor sensor) const;
  Result<Sensor> get(const SensorId& id) const;
  Result<Sensor> move(const Sensor& known, const Location& to) const;
  Result<void> decommission(const SensorId& id) const;

  // A stored sensor. Errors: kLimitsDisagree if at() would not query its shard.
  Result<Sensor> sensor_in(const Item& info) const;

 private:
  // The sensor's own item: `sent` if it was returned with an error, otherwise read now.
  Result<std::optional<Item>> stored_info(const SensorId& id, const Item* sent) const;
  bool has_location_items() const { return options_.layout == SensorLayout::kLocationItems; }
  Result<void> write(TransactWriteItem info, std::vector<TransactWriteItem> places) const;
  TransactWriteItem update_of(const Sensor& known, Item set) const;
  Result<void> decommission_indexed(const SensorId& id) const;

  Client& client_;
  const SensorTerms& terms_;
  const SensorOptions& options_;
  TimeSource& time_;
};

}  // namespace stator::recipes
