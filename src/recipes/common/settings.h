// SPDX-License-Identifier: Apache-2.0
// The item in which a recipe stores the settings that all who use a table must share.
//
// A table that earlier releases filled has none: there everybody's own options hold.
#pragma once

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
// Readings and switches are deleted that long after they expire, so that a clock that is behind by
// less takes none of them for present.
inline constexpr std::chrono::minutes kDeletionGrace{10};
// By then everybody whose clock is less than max_skew off uses a changed setting.
inline constexpr std::chrono::minutes kChangeDelay{15};

struct StoredSettings {
  Map settings = {};
  bool legacy = false;  // the table has data and stores no settings
};

// Lifetime: borrows the client, the time source and the policy.
class SettingsItem {
 public:
  SettingsItem(Client& client, TimeSource& time, const RetryPolicy& retry, std::string table,
               Item key)
      : client_(client),
        time_(time),
        retry_(retry),
        table_(std::move(table)),
        key_(std::move(key)) {}

  // Empty if the table stores none.
  Result<Map> read() const;

  // Replaces what `change` returns of the settings; nothing if it returns an empty map. Concurrent
  // changes do not overwrite each other: `change` is called again with what is stored by then.
  // Returns what is stored in the end.
  using Change = std::function<Result<Map>(const Map& stored)>;
  Result<Map> change(const Change& change) const;

  // For writers, who see to it that `missing` settings are stored: in a table that has settings, or
  // is empty. Both are asked with what is stored; `check` may refuse it.
  using Check = std::function<Result<void>(const Map& stored)>;
  using Missing = std::function<Map(const Map& stored)>;
  Result<StoredSettings> complete(const Check& check, const Missing& missing) const;

 private:
  Result<Item> stored_item() const;
  Result<bool> is_table_empty() const;  // false if this client may not scan

  Client& client_;
  TimeSource& time_;
  const RetryPolicy& retry_;
  std::string table_;
  Item key_;
};

// What was made of settings, for as long as they may be used.
// Thread safety: every method from any thread at once.
template <class T>
class Aging {
 public:
  // Null if there is none, or none that is young enough.
  std::shared_ptr<const T> get(std::chrono::nanoseconds now) const {
    const std::scoped_lock lock(mutex_);
    return value_ && now - since_ < kSettingsAge ? value_ : nullptr;
  }
  // `since`: from before the settings were read.
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
// What replaces the stored retention by another, of things that are stored from `now` on.
Map retention_change(const Map& stored, std::chrono::seconds to, Time now);
// Nothing from then on has expired. Absent: nothing ever has. `retention`: the current one.
std::optional<Time> kept_since(const Map& stored, std::optional<std::chrono::seconds> retention,
                               Time now);
inline constexpr const char* kRetention = "retention_s";
// kLimitsDisagree if both are there and differ.
Result<void> check_seconds(const std::string& table, std::string_view setting,
                           std::optional<std::chrono::seconds> given,
                           std::optional<std::chrono::seconds> stored);
// A caller's setting that differs from the stored one: kLimitsDisagree, naming both.
Failure disagree(const std::string& table, std::string_view setting, const std::string& given,
                 const std::string& stored);

}  // namespace stator::recipes
