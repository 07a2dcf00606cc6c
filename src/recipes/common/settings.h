// SPDX-License-Identifier: Apache-2.0
// The item in which a recipe stores the settings that all its users of a table and prefix must
// share.
//
// The first write of a toggle or sensor stores it (feeds: feed_settings.h), unless the table has
// items of the recipe with this prefix: an earlier release wrote them, and all users apply their
// own options to them. To find that out, a writer sends two scans, together at most kSearchedItems
// items, 1 MB each. If they find none, or it may not scan the table, it stores the settings: then
// programs with other options get an error, and nothing is omitted or truncated silently.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "stator/recipes/common.h"

namespace stator::recipes {

// How long settings are used before they are read again.
inline constexpr std::chrono::seconds kSettingsAge{60};
// How long readings and events are kept after their expiry. A user whose clock is behind by less
// never misses an item that is current by that clock.
inline constexpr std::chrono::minutes kDeletionGrace{10};
// After this time, every user applies a changed setting, if clocks differ by less than ten minutes.
inline constexpr std::chrono::minutes kChangeDelay{15};

inline constexpr int kSearchedItems = 1'000;

struct StoredSettings {
  Map settings = {};
  bool legacy = false;  // an earlier release wrote the recipe's items, without settings
};

// Thread safety: any thread.
// Lifetime: borrows the client, the time source and the policy.
class SettingsItem {
 public:
  // `owns`: whether an item is the recipe's and has its prefix; false for settings.
  using Owns = std::function<bool(const Item& item)>;
  SettingsItem(Client& client, TimeSource& time, const RetryPolicy& retry, std::string table,
               Item key, Owns owns)
      : client_(client),
        time_(time),
        retry_(retry),
        table_(std::move(table)),
        key_(std::move(key)),
        owns_(std::move(owns)) {}

  // Empty if the table stores none.
  Result<Map> read() const;

  // Stores the settings that `change` returns; an empty map changes nothing. Concurrent changes do
  // not overwrite each other: `change` is called again with the newly stored settings. Returns the
  // settings that are stored at the end.
  using Change = std::function<Result<Map>(const Map& stored)>;
  Result<Map> change(const Change& change) const;

  // For writers: stores `missing` settings, except if StoredSettings::legacy. Both callbacks get
  // the stored settings; `check` can reject them.
  using Check = std::function<Result<void>(const Map& stored)>;
  using Missing = std::function<Map(const Map& stored)>;
  Result<StoredSettings> complete(const Check& check, const Missing& missing) const;

 private:
  Result<Item> stored_item() const;
  // False also if this client has no permission to scan.
  Result<bool> finds_own_items() const;

  Client& client_;
  TimeSource& time_;
  const RetryPolicy& retry_;
  std::string table_;
  Item key_;
  Owns owns_;
  // Whether the recipe's items were found without settings: searching again would not help.
  mutable std::atomic<bool> legacy_ = false;
};

// A cached value derived from settings, with a limited age.
// Thread safety: any thread.
template <class T>
class Aging {
 public:
  // Null if there is no value or it is too old.
  std::shared_ptr<const T> get(std::chrono::nanoseconds now) const {
    const std::scoped_lock lock(mutex_);
    return value_ && now - since_ < kSettingsAge ? value_ : nullptr;
  }
  // `since`: a time before the settings were read.
  std::shared_ptr<const T> set(T value, std::chrono::nanoseconds since) {
    auto made = std::make_shared<const T>(std::move(value));
    const std::scoped_lock lock(mutex_);
    value_ = made;
    since_ = since;
    return made;
  }
  void forget() {
    const std::scoped_lock lock(mutex_);
    value_ = nullptr;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const T> value_;     // guarded by mutex_
  std::chrono::nanoseconds since_{0};  // guarded by mutex_
};

inline constexpr std::chrono::seconds kMaxRetention = std::chrono::days(36'500);
Result<void> check_retention(std::string_view argument,
                             std::optional<std::chrono::seconds> retention);
// A stored number of seconds, within the bounds of a retention.
std::optional<std::chrono::seconds> seconds_in(const Map& stored, std::string_view name);
// The change of settings that sets another retention for entries stored from `now` on.
Map retention_change(const Map& stored, std::chrono::seconds to, Time now);
// The time after which no entry has expired. Absent: no entry ever expired. `retention`: the
// current one.
std::optional<Time> kept_since(const Map& stored, std::optional<std::chrono::seconds> retention,
                               Time now);
inline constexpr const char* kRetention = "retention_s";
// Errors: kLimitsDisagree if both are set and differ.
Result<void> check_seconds(const std::string& table, std::string_view setting,
                           std::optional<std::chrono::seconds> given,
                           std::optional<std::chrono::seconds> stored);
// kLimitsDisagree for an option that differs from the stored setting; the message contains both.
Failure disagree(const std::string& table, std::string_view setting, const std::string& given,
                 const std::string& stored);

}  // namespace stator::recipes
