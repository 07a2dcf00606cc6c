// SPDX-License-Identifier: Apache-2.0
// The settings that a table stores for all registries of its sensors, and what they make of one
// registry's options.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "recipes/common/settings.h"
#include "stator/recipes/sensors.h"

namespace stator::recipes {

struct SensorTerms {
  SensorOptions options;  // completed by what is stored
  Map stored = {};
  bool legacy = false;  // the table has data and stores no settings

  bool stores_layout() const { return stored.contains("layout"); }
  // The shard for a sensor that is placed now.
  int shard_for(const std::string& city, const SensorId& id, Time now) const;
  // Readings before this may be gone. Absent: none are.
  std::optional<Time> whole_from(Time now) const {
    return kept_since(stored, options.retention, now);
  }
};

enum class SensorUse {
  kReadReadings,
  kWriteReadings,
  kReadPlaces,
  kWritePlaces,
};

// Thread safety: every method from any thread at once. Lifetime: borrows all that it is made with.
class SensorSettingsItem {
 public:
  SensorSettingsItem(Client& client, const SensorOptions& options, TimeSource& time);

  // As of at most kSettingsAge ago. Writers store those of their options that are not stored.
  // kLimitsDisagree if an option differs from what is stored.
  Result<std::shared_ptr<const SensorTerms>> terms(SensorUse use) const;

  Result<SensorSettings> read() const;
  Result<SensorSettings> change(const SensorSettings& to) const;

 private:
  Result<void> check(const Map& stored, bool places) const;
  Map missing(const Map& stored, bool places) const;
  SensorTerms make_terms(StoredSettings stored) const;
  Result<Map> changes(const Map& stored, const SensorSettings& to) const;

  const SensorOptions& options_;
  TimeSource& time_;
  SettingsItem item_;
  mutable Aging<SensorTerms> kept_;
};

}  // namespace stator::recipes
