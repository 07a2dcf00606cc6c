// SPDX-License-Identifier: Apache-2.0
// A city's shards are stored as {count, before, from}. Readers query `count` shards at once;
// writers place sensors in the first `before` of them until `from`, when all readers use the new
// number.
#include "recipes/sensors/sensor_settings.h"

#include <algorithm>
#include <utility>

#include "recipes/common/keys.h"
#include "recipes/sensors/sensor_items.h"

namespace stator::recipes {
namespace {

constexpr const char* kLayout = "layout";
constexpr const char* kRollUpRetention = "roll_up_retention_s";
constexpr const char* kCityShards = "city_shards";
constexpr const char* kAttributes = "attributes";
constexpr const char* kAttributesAndShard = "attributes_and_shard";

struct Spread {
  int count = 1;
  int before = 1;
  int64_t from = 0;  // Unix seconds
};

std::string layout_name(const SensorOptions& options) {
  if (options.layout == SensorLayout::kLocationItems) return "location_items";
  if (!is_multi_attribute(options)) return "composed";
  return options.city_shards.empty() ? kAttributes : kAttributesAndShard;
}

const Map* cities_in(const Map& stored) {
  const auto found = stored.find(kCityShards);
  return found != stored.end() ? found->second.get_if<Map>() : nullptr;
}

int shards_in(const Map& spread, const char* name, int otherwise) {
  const int64_t count = int64_in(spread, name).value_or(otherwise);
  return static_cast<int>(std::clamp<int64_t>(count, 1, kMaxShards));
}

std::optional<Spread> spread_in(const Map& stored, const std::string& city) {
  const Map* cities = cities_in(stored);
  if (cities == nullptr) return std::nullopt;
  const auto found = cities->find(city);
  const Map* spread = found != cities->end() ? found->second.get_if<Map>() : nullptr;
  if (spread == nullptr) return std::nullopt;
  Spread made{.count = shards_in(*spread, "count", 1)};
  made.before = shards_in(*spread, "before", made.count);
  made.from = int64_in(*spread, "from").value_or(0);
  return made;
}

int placing(const Spread& spread, Time now) {
  return now.unix_seconds() < spread.from ? spread.before : spread.count;
}

Map spread_at_once(int count) {
  return Map{{"count", count}};
}

Map spread_later(int count, int before, Time now) {
  return Map{{"count", count}, {"before", before}, {"from", (now + kChangeDelay).unix_seconds()}};
}

}  // namespace

int SensorTerms::shard_for(const std::string& city, const SensorId& id, Time now) const {
  const auto spread = spread_in(stored, city);
  return shard_of(spread ? placing(*spread, now) : shards_of(options, city), id);
}

SensorSettingsItem::SensorSettingsItem(Client& client, const SensorOptions& options,
                                       TimeSource& time)
    : options_(options),
      time_(time),
      // No sensor has this partition, because `#` is escaped in ids.
      item_(client, time, options.retry, options.table,
            key_of(options, options.names.sensor_prefix + "#SETTINGS", "SETTINGS"),
            [&options](const Item& item) { return is_sensor_item(options, item); }) {}

Result<void> SensorSettingsItem::check(const Map& stored, bool places) const {
  STATOR_RETURN_IF_ERROR(check_seconds(options_.table, "retention", options_.retention,
                                       seconds_in(stored, kRetention)));
  STATOR_RETURN_IF_ERROR(check_seconds(options_.table, "roll_up_retention",
                                       options_.roll_up_retention,
                                       seconds_in(stored, kRollUpRetention)));
  if (!places) return {};
  const std::string* layout = text_in(stored, kLayout);
  const std::string own = layout_name(options_);
  const bool takes_shards_from_there =
      own == kAttributes && layout != nullptr && *layout == kAttributesAndShard;
  if (layout != nullptr && *layout != own && !takes_shards_from_there) {
    return disagree(options_.table, "layout", own, *layout);
  }
  for (const auto& [city, count] : options_.city_shards) {
    const auto spread = spread_in(stored, city);
    if (!spread || spread->count == count) continue;
    return disagree(options_.table, "city_shards of " + city, std::to_string(count),
                    std::to_string(spread->count));
  }
  return {};
}

// The options that the first writer stores.
Map SensorSettingsItem::missing(const Map& stored, bool places) const {
  Map missing;
  if (options_.retention && !stored.contains(kRetention)) {
    missing.emplace(kRetention, options_.retention->count());
  }
  if (options_.roll_up_retention && !stored.contains(kRollUpRetention)) {
    missing.emplace(kRollUpRetention, options_.roll_up_retention->count());
  }
  if (!places) return missing;
  const bool has_layout = stored.contains(kLayout);
  if (!has_layout) missing.emplace(kLayout, layout_name(options_));
  const Map* stored_cities = cities_in(stored);
  Map cities = stored_cities != nullptr ? *stored_cities : Map();
  const std::size_t before = cities.size();
  for (const auto& [city, count] : options_.city_shards) {
    // Readers that know the layout assume one shard for a city that is not stored.
    cities.try_emplace(city,
                       has_layout ? spread_later(count, 1, time_.now()) : spread_at_once(count));
  }
  if (cities.size() != before) missing.emplace(kCityShards, std::move(cities));
  return missing;
}

SensorTerms SensorSettingsItem::make_terms(StoredSettings stored) const {
  SensorTerms terms{
      .options = options_, .stored = std::move(stored.settings), .legacy = stored.legacy};
  if (const auto retention = seconds_in(terms.stored, kRetention)) {
    terms.options.retention = retention;
  }
  if (const auto retention = seconds_in(terms.stored, kRollUpRetention)) {
    terms.options.roll_up_retention = retention;
  }
  if (const Map* cities = cities_in(terms.stored)) {
    for (const auto& [city, spread] : *cities) {
      const auto made = spread_in(terms.stored, city);
      if (made) terms.options.city_shards.insert_or_assign(city, made->count);
    }
  }
  return terms;
}

Result<std::shared_ptr<const SensorTerms>> SensorSettingsItem::terms(SensorUse use) const {
  const bool places = use == SensorUse::kReadPlaces || use == SensorUse::kWritePlaces;
  const bool writes = use == SensorUse::kWriteReadings || use == SensorUse::kWritePlaces;
  const auto since = time_.since_boot();
  const auto usable = [&](const SensorTerms& kept) {
    // A read might have found no settings; a write must store them even if no option is missing.
    if (writes) {
      return kept.legacy || (!kept.stored.empty() && missing(kept.stored, places).empty());
    }
    // While no layout is stored, another writer might be about to spread a city over shards.
    return !places || kept.stores_layout();
  };
  auto kept = kept_.get(since);
  if (!kept || !usable(*kept)) {
    StoredSettings stored;
    if (writes) {
      STATOR_ASSIGN_OR_RETURN(
          stored, item_.complete([&](const Map& current) { return check(current, places); },
                                 [&](const Map& current) { return missing(current, places); }));
    } else {
      STATOR_ASSIGN_OR_RETURN(stored.settings, item_.read());
    }
    kept = kept_.set(make_terms(std::move(stored)), since);
  }
  STATOR_RETURN_IF_ERROR(check(kept->stored, places));
  return kept;
}

Result<SensorSettings> SensorSettingsItem::read() const {
  STATOR_ASSIGN_OR_RETURN(const Map stored, item_.read());
  SensorSettings settings{.retention = seconds_in(stored, kRetention),
                          .roll_up_retention = seconds_in(stored, kRollUpRetention)};
  if (const Map* cities = cities_in(stored)) {
    for (const auto& [city, spread] : *cities) {
      const auto made = spread_in(stored, city);
      if (made) settings.city_shards.emplace(city, made->count);
    }
  }
  return settings;
}

Result<Map> SensorSettingsItem::changes(const Map& stored, const SensorSettings& to) const {
  const Time now = time_.now();
  const std::string* layout = text_in(stored, kLayout);
  Map changed;
  if (layout == nullptr) changed.emplace(kLayout, layout_name(options_));
  if (to.retention) changed.merge(retention_change(stored, *to.retention, now));
  if (to.roll_up_retention && seconds_in(stored, kRollUpRetention) != to.roll_up_retention) {
    changed.emplace(kRollUpRetention, to.roll_up_retention->count());
  }
  if (to.city_shards.empty()) return changed;
  if (is_multi_attribute(options_) &&
      (layout != nullptr ? *layout : layout_name(options_)) != kAttributesAndShard) {
    return fail(Code::kLimitsDisagree,
                "the index of the table " + options_.table + " has no shard in its key");
  }
  const Map* stored_cities = cities_in(stored);
  Map cities = stored_cities != nullptr ? *stored_cities : Map();
  for (const auto& [city, count] : to.city_shards) {
    const Spread spread = spread_in(stored, city).value_or(Spread());
    if (count < spread.count) {
      return fail(Code::kLimitsDisagree, "city_shards of " + city + " cannot be lowered from " +
                                             std::to_string(spread.count) + " to " +
                                             std::to_string(count));
    }
    if (count == spread.count && cities.contains(city)) continue;
    cities.insert_or_assign(city, layout == nullptr
                                      ? spread_at_once(count)
                                      : spread_later(count, placing(spread, now), now));
  }
  if (stored_cities == nullptr || cities != *stored_cities) {
    changed.emplace(kCityShards, std::move(cities));
  }
  return changed;
}

Result<SensorSettings> SensorSettingsItem::change(const SensorSettings& to) const {
  SensorOptions wanted = options_;
  if (to.retention) wanted.retention = to.retention;
  if (to.roll_up_retention) wanted.roll_up_retention = to.roll_up_retention;
  wanted.city_shards = to.city_shards;
  STATOR_RETURN_IF_ERROR(check_options(wanted));
  STATOR_RETURN_IF_ERROR(item_.change([&](const Map& stored) { return changes(stored, to); }));
  kept_.forget();
  return read();
}

}  // namespace stator::recipes
