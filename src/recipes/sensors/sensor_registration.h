// SPDX-License-Identifier: Apache-2.0
// How sensors come, move and go. Arguments have been checked.
//
// Every write carries a nonce, so that one whose reply was lost is told from another's.
// Lifetime: borrows everything that it is made with.
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

  // A stored sensor; kLimitsDisagree where its shard is one that `at` would not ask.
  Result<Sensor> sensor_in(const Item& info) const;

 private:
  // The sensor's own item: `sent` with a refusal, or read.
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
