// SPDX-License-Identifier: Apache-2.0
// Roll-ups of readings by minute, hour and day.
//
// Lifetime: borrows all constructor arguments.
#pragma once

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "recipes/sensors/sensor_settings.h"
#include "stator/recipes/sensors.h"

namespace stator::recipes {

// The first instant after the years that keys can represent.
inline constexpr Time kEndOfTime =
    Time(std::chrono::sys_seconds(std::chrono::seconds(Time::kMaxSeconds + 1)));

// The start of the period that contains an instant.
Time period_begin(Period period, Time at);
std::chrono::seconds period_length(Period period);
// "HOUR#" and the time: the key prefix of roll-ups that begin then.
std::string roll_up_prefix(Period period, Time begin);
// Absent for items of other kinds.
std::optional<RollUp> roll_up_of(const SensorOptions& options, Period period, const Item& item);

class SensorRollUps {
 public:
  SensorRollUps(Client& client, const SensorTerms& terms, TimeSource& time)
      : client_(client), terms_(terms), options_(terms.options), time_(time) {}

  // Makes the roll-ups of every period that begins from `from` (inclusive) to `to` (exclusive),
  // which must be starts of periods and at most kEndOfTime.
  Result<RolledUp> make(const SensorId& id, Period period, Time from, Time to,
                        const std::stop_token& stop) const;

 private:
  struct Stored {
    RollUp roll_up;
    int64_t version = 0;
  };
  using StoredByKey = std::map<std::string, Stored>;
  using RollUpByUnit = std::map<std::string, RollUp>;

  Time first_whole(Period period, Time from) const;
  Result<std::optional<Time>> next_reading(const SensorId& id, Time from, Time to) const;
  Result<RolledUp> make_window(const SensorId& id, Period period, Time from, Time to,
                               const std::stop_token& stop, int attempt) const;
  Result<StoredByKey> stored(const SensorId& id, Period period, Time from, Time to) const;
  Result<bool> store(const SensorId& id, const RollUp& roll_up, const StoredByKey& stored) const;
  Result<RolledUp> store_period(const SensorId& id, const RollUpByUnit& units,
                                const StoredByKey& stored) const;

  Client& client_;
  const SensorTerms& terms_;
  const SensorOptions& options_;
  TimeSource& time_;
};

}  // namespace stator::recipes
