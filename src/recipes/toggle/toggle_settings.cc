// SPDX-License-Identifier: Apache-2.0
#include "recipes/toggle/toggle_settings.h"

#include <utility>

#include "recipes/common/keys.h"

namespace stator::recipes {
namespace {

constexpr const char* kMode = "mode";

const char* mode_name(ToggleMode mode) {
  return mode == ToggleMode::kGated ? "gated" : "ordered_log";
}

// Whether it is an event of a toggle, by its key.
bool is_toggle_item(const ToggleOptions& options, const Item& item) {
  const std::string* pk = text_in(item, options.partition_key);
  const std::string* sk = text_in(item, options.sort_key);
  return pk != nullptr && sk != nullptr && pk->starts_with(options.id_prefix) &&
         unescape(std::string_view(*pk).substr(options.id_prefix.size())) &&
         (*sk == "LATEST" || sk->starts_with("LOG#"));
}

}  // namespace

ToggleSettingsItem::ToggleSettingsItem(Client& client, const ToggleOptions& options,
                                       TimeSource& time)
    : options_(options),
      time_(time),
      // No toggle has this partition, because `#` is escaped in ids.
      item_(client, time, options.retry, options.table,
            Item{{options.partition_key, options.id_prefix + "#SETTINGS"},
                 {options.sort_key, "SETTINGS"}},
            [&options](const Item& item) { return is_toggle_item(options, item); }) {}

Result<void> ToggleSettingsItem::check(const Map& stored) const {
  const std::string* mode = text_in(stored, kMode);
  if (mode != nullptr && *mode != mode_name(options_.mode)) {
    return disagree(options_.table, "mode", mode_name(options_.mode), *mode);
  }
  return check_seconds(options_.table, "retention", options_.retention,
                       seconds_in(stored, kRetention));
}

// The options that the first writer stores.
Map ToggleSettingsItem::missing(const Map& stored) const {
  Map missing;
  if (!stored.contains(kMode)) missing.emplace(kMode, mode_name(options_.mode));
  if (options_.retention && !stored.contains(kRetention)) {
    missing.emplace(kRetention, options_.retention->count());
  }
  return missing;
}

Result<std::shared_ptr<const ToggleTerms>> ToggleSettingsItem::terms(bool writes) const {
  const auto since = time_.since_boot();
  auto kept = kept_.get(since);
  if (!kept || (writes && !kept->legacy && !missing(kept->stored).empty())) {
    StoredSettings stored;
    if (writes) {
      STATOR_ASSIGN_OR_RETURN(stored,
                              item_.complete([&](const Map& current) { return check(current); },
                                             [&](const Map& current) { return missing(current); }));
    } else {
      STATOR_ASSIGN_OR_RETURN(stored.settings, item_.read());
    }
    ToggleTerms terms{.stored = std::move(stored.settings), .legacy = stored.legacy};
    terms.retention = seconds_in(terms.stored, kRetention);
    if (!terms.retention) terms.retention = options_.retention;
    kept = kept_.set(std::move(terms), since);
  }
  STATOR_RETURN_IF_ERROR(check(kept->stored));
  return kept;
}

Result<void> ToggleSettingsItem::change_retention(std::chrono::seconds to) const {
  STATOR_RETURN_IF_ERROR(check_retention("retention", to));
  STATOR_RETURN_IF_ERROR(item_.change([&](const Map& stored) -> Result<Map> {
    Map changed = retention_change(stored, to, time_.now());
    if (!stored.contains(kMode)) changed.emplace(kMode, mode_name(options_.mode));
    return changed;
  }));
  kept_.forget();
  return {};
}

}  // namespace stator::recipes
