// SPDX-License-Identifier: Apache-2.0
// The settings that a table stores for all its toggles, combined with one toggle's options.
#pragma once

#include <memory>
#include <optional>

#include "recipes/common/settings.h"
#include "stator/recipes/toggle.h"

namespace stator::recipes {

struct ToggleTerms {
  std::optional<std::chrono::seconds> retention = {};
  Map stored = {};
  bool legacy = false;  // see StoredSettings

  // States before this time might be unknown. Absent: all are known.
  std::optional<Time> known_since(Time now) const { return kept_since(stored, retention, now); }
};

// Thread safety: any thread. Lifetime: borrows all constructor arguments.
class ToggleSettingsItem {
 public:
  ToggleSettingsItem(Client& client, const ToggleOptions& options, TimeSource& time);

  // At most kSettingsAge old. Writers store their options that are not stored yet.
  // Errors: kLimitsDisagree if an option differs from the stored setting.
  Result<std::shared_ptr<const ToggleTerms>> terms(bool writes) const;

  Result<void> change_retention(std::chrono::seconds to) const;

 private:
  Result<void> check(const Map& stored) const;
  Map missing(const Map& stored) const;

  const ToggleOptions& options_;
  TimeSource& time_;
  SettingsItem item_;
  mutable Aging<ToggleTerms> kept_;
};

}  // namespace stator::recipes
