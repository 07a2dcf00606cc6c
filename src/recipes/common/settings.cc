// SPDX-License-Identifier: Apache-2.0
#include "recipes/common/settings.h"

#include <algorithm>

#include "recipes/common/keys.h"
#include "recipes/common/requests.h"

namespace stator::recipes {
namespace {

constexpr const char* kSettings = "stator_settings";
constexpr const char* kSettingsVersion = "stator_version";
constexpr const char* kFormat = "format";
constexpr const char* kRetentionBefore = "retention_before_s";
constexpr const char* kRetentionChanged = "retention_changed_s";
constexpr int kFirstSearched = 10;

}  // namespace

Result<Item> SettingsItem::stored_item() const {
  const GetItemRequest get{.table = table_, .key = key_, .consistent_read = true};
  STATOR_ASSIGN_OR_RETURN(GetItemResult found,
                          with_retries(retry_, time_, [&] { return client_.get_item(get); }));
  return std::move(found.item).value_or(Item());
}

Result<Map> SettingsItem::read() const {
  STATOR_ASSIGN_OR_RETURN(const Item item, stored_item());
  const auto settings = item.find(kSettings);
  if (settings == item.end()) return Map();
  const Map* map = settings->second.get_if<Map>();
  return map != nullptr ? *map : Map();
}

Result<Map> SettingsItem::change(const Change& change) const {
  for (int tried = 0;; ++tried) {
    STATOR_ASSIGN_OR_RETURN(const Item item, stored_item());
    const auto settings = item.find(kSettings);
    const Map* stored = settings != item.end() ? settings->second.get_if<Map>() : nullptr;
    Map merged = stored != nullptr ? *stored : Map();
    STATOR_ASSIGN_OR_RETURN(const Map changed, change(merged));
    if (changed.empty()) return merged;
    merged.try_emplace(kFormat, 1);
    for (const auto& [name, value] : changed) merged.insert_or_assign(name, value);
    const int64_t version = int64_in(item, kSettingsVersion).value_or(0);
    if (version == 0 && !item.empty()) {
      return fail(Code::kConflict, "the item at the key of the settings of " + table_ +
                                       " has another program's attributes");
    }
    PutItemRequest put{.table = table_, .item = key_};
    put.item.insert_or_assign(kSettings, AttributeValue(merged));
    put.item.insert_or_assign(kSettingsVersion, version + 1);
    if (version == 0) {
      put.condition = "attribute_not_exists(#key)";
      put.names = Names{{"#key", key_.begin()->first}};
    } else {
      put.condition = "#version = :version";
      put.names = Names{{"#version", kSettingsVersion}};
      put.values = Values{{":version", version}};
    }
    const auto written = with_retries(retry_, time_, [&] { return client_.put_item(put); });
    if (written) return merged;
    if (written.error().code != Code::kConditionalCheckFailed) return Failure(written.error());
    if (tried + 1 >= retry_.max_attempts) {
      return fail(Code::kTransactionConflict, "others keep changing the settings of " + table_);
    }
    time_.sleep(jittered(retry_.backoff_base, retry_.backoff_max, tried), {});
  }
}

Result<StoredSettings> SettingsItem::complete(const Check& check, const Missing& missing) const {
  STATOR_ASSIGN_OR_RETURN(Map stored, read());
  if (stored.empty() && !legacy_) {
    STATOR_ASSIGN_OR_RETURN(const bool found, finds_own_items());
    if (found) {
      // Settings are stored before any data, so a reader that has found data finds them too.
      STATOR_ASSIGN_OR_RETURN(stored, read());
      legacy_ = stored.empty();
    }
  }
  STATOR_RETURN_IF_ERROR(check(stored));
  if (stored.empty() && legacy_) return StoredSettings{.legacy = true};
  if (!stored.empty() && missing(stored).empty()) return StoredSettings{std::move(stored)};
  const auto add_missing = [&](const Map& current) -> Result<Map> {
    STATOR_RETURN_IF_ERROR(check(current));
    Map added = missing(current);
    // Even without options: this marks the items as those of a release that stores settings.
    if (current.empty()) added.try_emplace(kFormat, 1);
    return added;
  };
  STATOR_ASSIGN_OR_RETURN(stored, change(add_missing));
  return StoredSettings{std::move(stored)};
}

Result<bool> SettingsItem::finds_own_items() const {
  ScanRequest scan{.table = table_};
  // Most tables of earlier releases have such an item among the first few.
  for (const int64_t limit : {kFirstSearched, kSearchedItems - kFirstSearched}) {
    scan.limit = limit;
    auto page = with_retries(retry_, time_, [&] { return client_.scan(scan); });
    if (!page) {
      // Roles might lack the permission, because the recipe's other calls do not scan.
      if (page.error().code == Code::kAccessDenied) return false;
      return failure_of(std::move(page));
    }
    if (std::ranges::any_of(page->items, owns_)) return true;
    if (!page->last_evaluated_key) return false;
    scan.exclusive_start_key = std::move(page->last_evaluated_key);
  }
  return false;
}

Result<void> check_retention(std::string_view argument,
                             std::optional<std::chrono::seconds> retention) {
  if (!retention) return {};
  if (retention->count() < 0) return invalid(argument, "must not be negative");
  if (*retention > kMaxRetention) return invalid(argument, "must be at most 36,500 days");
  return {};
}

std::optional<std::chrono::seconds> seconds_in(const Map& stored, std::string_view name) {
  const auto count = int64_in(stored, name);
  if (!count) return std::nullopt;
  return std::clamp(std::chrono::seconds(*count), std::chrono::seconds(0), kMaxRetention);
}

Map retention_change(const Map& stored, std::chrono::seconds to, Time now) {
  const auto old = seconds_in(stored, kRetention);
  if (old == to) return {};
  Map changed{{kRetention, to.count()}};
  if (old) {
    const auto before = seconds_in(stored, kRetentionBefore).value_or(*old);
    changed.emplace(kRetentionBefore, std::min(*old, before).count());
    changed.emplace(kRetentionChanged, (now + kChangeDelay).unix_seconds());
  }
  return changed;
}

std::optional<Time> kept_since(const Map& stored, std::optional<std::chrono::seconds> retention,
                               Time now) {
  if (!retention) return std::nullopt;
  const Time since = now - *retention;
  const auto before = seconds_in(stored, kRetentionBefore);
  const auto changed = int64_in(stored, kRetentionChanged);
  if (!before || !changed) return since;
  // Items stored before the change expire by the shortest retention so far.
  const Time change{std::chrono::sys_seconds(std::chrono::seconds(*changed))};
  return std::max(since, std::min(now - *before, change));
}

Result<void> check_seconds(const std::string& table, std::string_view setting,
                           std::optional<std::chrono::seconds> given,
                           std::optional<std::chrono::seconds> stored) {
  if (!given || !stored || *given == *stored) return {};
  return disagree(table, setting, std::to_string(given->count()) + " s",
                  std::to_string(stored->count()) + " s");
}

Failure disagree(const std::string& table, std::string_view setting, const std::string& given,
                 const std::string& stored) {
  return fail(Code::kLimitsDisagree, std::string(setting) + " " + given +
                                         " differs from the stored " + stored + " of the table " +
                                         table);
}

}  // namespace stator::recipes
