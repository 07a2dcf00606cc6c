// SPDX-License-Identifier: Apache-2.0
// The settings that a table stores for all who use its toggles, and what they make of one user's
// options.
#pragma once

#include <memory>
#include <optional>

#include "recipes/common/settings.h"
#include "stator/recipes/toggle.h"

namespace stator::recipes {

struct ToggleTerms {
  std::optional<std::chrono::seconds> retention = {};
  Map stored = {};
  bool legacy = false;  // the table has data and stores no settings

  // What held before this may be unknown. Absent: all is known.
  std::optional<Time> known_since(Time now) const { return kept_since(stored, retention, now); }
};

// Thread safety: every method from any thread at once. Lifetime: borrows all that it is made with.
class ToggleSettingsItem {
 public:
  ToggleSettingsItem(Client& client, const ToggleOptions& options, TimeSource& time);

  // As of at most kSettingsAge ago. Writers store those of their options that are not stored.
  // kLimitsDisagree if an option differs from what is stored.
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
