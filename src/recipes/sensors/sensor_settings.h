// SPDX-License-Identifier: Apache-2.0
// The settings that a table stores for all its registries, combined with one registry's options.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "recipes/common/settings.h"
#include "stator/recipes/sensors.h"

namespace stator::recipes {

struct SensorTerms {
  SensorOptions options;  // completed by stored settings
  Map stored = {};
  bool legacy = false;  // see StoredSettings

  bool stores_layout() const { return stored.contains("layout"); }
  // The shard for a sensor that is registered or moved now.
  int shard_for(const std::string& city, const SensorId& id, Time now) const;
  // Readings before this time might have expired. Absent: no reading has expired.
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

// Thread safety: any thread. Lifetime: borrows all constructor arguments.
class SensorSettingsItem {
 public:
  SensorSettingsItem(Client& client, const SensorOptions& options, TimeSource& time);

  // At most kSettingsAge old. Writers store their options that are not stored yet.
  // Errors: kLimitsDisagree if an option differs from the stored setting.
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
