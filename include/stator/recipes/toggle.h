// SPDX-License-Identifier: Apache-2.0
// Toggle: the latest state and the history of switches whose events can arrive late, more than once
// and out of order. It is a last-writer-wins register of any value, with history.
//
// Guarantee: for any order, duplication and concurrency of a set of events, the latest event is the
// accepted one with the greatest (time, event id). Replicas that received the same events agree.
// Its id and time identify an event; redelivery has no effect.
// Settings: the mode and the retention are stored in the table, for each id_prefix, so that all its
// toggles agree. The first save stores them. A missing retention can be added later. If a toggle's
// mode or retention differs from the stored one, every call except change_retention() returns
// kLimitsDisagree, with both values in the message. A toggle without a retention uses the stored
// one. Exception: events that an earlier release wrote have no settings until change_retention();
// each toggle uses its own options. The first save looks for them with two scans, of at most 1 MB
// each and 1,000 items together. If they find none, or it may not scan, it stores the settings.
// Cost: see ToggleMode and Answer, for items under 1 KB. In addition, a toggle reads the settings
// before its first request and then at most once per minute: one request and 1 RCU. If there are
// none, the first save also costs these two scans and a write.
// Visibility: every later call, from any process, sees an acknowledged save (consistent reads).
// Thread safety: any thread can call every method.
// Lifetime: borrows the client and the time source.
// Errors: kInvalidArgument, kInFuture, kNotFound, kExpired, kConflict, kLimitsDisagree, kBadCursor,
// and the client's; kCancelled from save_all(). Error::retryable() is true for transient errors;
// kConflict is permanent.
// Layout: docs/formats/recipes.md.
#pragma once

#include <chrono>
#include <concepts>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "stator/recipes/common.h"

namespace stator {

struct ToggleId {
  std::string text;  // 1 to about 2,000 bytes of UTF-8; may contain `#`
};

// Identifies an event together with its time. Empty: derived from the value, so that two events
// with the same time and value are the same event.
struct EventId {
  std::string text;  // up to 900 bytes of UTF-8
  auto operator<=>(const EventId&) const = default;
};

enum class ToggleMode {
  // Each save is one conditional put into the log, which is ordered by (time, event id). The latest
  // event is the last one in the log. Writes never conflict, and late events are inserted at their
  // place in the history. A save costs 1 WCU.
  kOrderedLog,
  // If the event is newer, one transaction writes both the latest state and the log. Late events
  // are not stored. A save costs 4 WCU in one round trip.
  kGated,
};

// The result of a save in kOrderedLog. The put detects duplicates; only a read can show whether a
// later event exists. kGated always returns the exact result.
enum class Answer {
  // kNewest, kLate or kDuplicate: a put, then a consistent query (1 more RCU). kStored if the query
  // fails and the table has no retention.
  kExact,
  kStored,  // kStored or kDuplicate: without a retention, only the put of a new event
};

enum class Saved {
  kNewest,     // the event is now the latest
  kLate,       // a later event exists; in kGated, this one is not stored
  kDuplicate,  // the same event was saved before
  kStored,     // the event is in the log; whether it is the latest is unknown
};
const char* saved_name(Saved saved);  // "newest", "late", "duplicate", "stored"

struct ToggleOptions {
  std::string table;
  ToggleMode mode = ToggleMode::kOrderedLog;
  Answer answer = Answer::kExact;
  // save() rejects events dated further ahead of this machine's clock than this: kInFuture. The
  // clock might be wrong, so deliver such events again later.
  std::chrono::nanoseconds max_skew = std::chrono::minutes(10);
  // How long superseded events are kept, up to 36,500 days. When an event is superseded, it gets
  // the attribute `expires_at` (Unix seconds, for the table's time to live): the retention plus ten
  // minutes later. Within the retention, history() and as_of() are complete if no clock is more
  // than ten minutes off. The latest event never expires, nor does one that has no room for the
  // attribute because its item is within 20 bytes of 400 KB. A save costs 1 more RCU and 1 more
  // WCU, and another RCU if ten later events exist. If a save fails although its event is stored,
  // save the event again: otherwise, it or the event before it might never expire.
  std::optional<std::chrono::seconds> retention = {};
  std::string cursor_key = {};  // secret that signs cursors; set it to share cursors between hosts
  // Names of the table's key attributes, both strings. `id_prefix` precedes the toggle's id in the
  // partition key, so that the table can also store other entities.
  std::string partition_key = "pk";
  std::string sort_key = "sk";
  std::string id_prefix = "TOGGLE#";
  RetryPolicy retry = {};
  TimeSource* time = nullptr;  // null: system_time()
};

template <class T>
struct Switch {
  T state;
  Time at;
  EventId event;
  bool operator==(const Switch&) const = default;
};

// One event, as published.
struct ToggleEvent {
  ToggleId id;
  AttributeValue state;
  Time at;
  EventId event = {};
};

// A toggle whose state is any attribute value. Toggle<T> below is the typed form.
class AnyToggle {
 public:
  // With invalid options, every call returns kInvalidArgument.
  AnyToggle(Client& client, ToggleOptions options);

  // Saves one event. Errors: kInFuture if it is dated beyond max_skew; kConflict if the same event
  // id and time were saved with another state; kValidation if the item is too large. If an event
  // can never be saved, whatever the table, the error is kInvalidArgument, kConflict or
  // kValidation, and its message begins with `id: `, `at: ` or `event: `.
  Result<Saved> save(const ToggleId& id, const AttributeValue& state, Time at,
                     const EventId& event = {}) const;

  // Saves many events, in any order, on `parallel` (1 to 64) threads that end with the call.
  // Returns the result of save() for each event; kCancelled for those that `stop` prevented or
  // interrupted, which might have been saved.
  std::vector<Result<Saved>> save_all(std::span<const ToggleEvent> events, int parallel = 16,
                                      const std::stop_token& stop = {}) const;

  // Returns the event with the greatest (time, event id). Errors: kNotFound if none exists.
  Result<Switch<AttributeValue>> latest(const ToggleId& id) const;

  // Returns the latest event at or before `at`; in kGated, of those that were accepted. For times
  // before the retention, this costs one more request and 1 more RCU.
  // Errors: kNotFound if no such event exists; kExpired if `at` is before the retention and later
  // events exist, so the state at that time is unknown.
  Result<Switch<AttributeValue>> as_of(const ToggleId& id, Time at) const;

  // Returns the log, newest first by default; in kGated only the accepted events. Events older than
  // the retention might be missing.
  Result<Page<Switch<AttributeValue>>> history(const ToggleId& id, const TimeRange& range = {},
                                               const PageOptions& page = {}) const;

  // Stores a new retention (up to 36,500 days). All toggles of the table use it within a minute for
  // events that are superseded from then on. Toggles whose own option differs then return
  // kLimitsDisagree from every other call: remove or change that option.
  Result<void> change_retention(std::chrono::seconds to) const;

  // The table definition for these options: on demand, with their key names; with a retention, time
  // to live on `expires_at`.
  static RecipeTable table_definition(const ToggleOptions& options);

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

// Converts a C++ type to and from an attribute value. Specialize it for your own types.
template <class T>
struct ToggleValue;

template <class T>
class Toggle {
 public:
  Toggle(Client& client, ToggleOptions options) : any_(client, std::move(options)) {}

  Result<Saved> save(const ToggleId& id, const T& state, Time at, const EventId& event = {}) const {
    return any_.save(id, ToggleValue<T>::to_attribute(state), at, event);
  }
  // As in AnyToggle. Errors: also kConflict if the stored state is not a T.
  Result<Switch<T>> latest(const ToggleId& id) const { return typed(any_.latest(id)); }
  Result<Switch<T>> as_of(const ToggleId& id, Time at) const { return typed(any_.as_of(id, at)); }
  Result<Page<Switch<T>>> history(const ToggleId& id, const TimeRange& range = {},
                                  const PageOptions& page = {}) const {
    auto found = any_.history(id, range, page);
    if (!found) return failure_of(std::move(found));
    Page<Switch<T>> typed_page{.items = {}, .next = std::move(found->next)};
    typed_page.items.reserve(found->items.size());
    for (Switch<AttributeValue>& entry : found->items) {
      auto converted = typed(std::move(entry));
      if (!converted) return failure_of(std::move(converted));
      typed_page.items.push_back(*std::move(converted));
    }
    return typed_page;
  }

  static RecipeTable table_definition(const ToggleOptions& options) {
    return AnyToggle::table_definition(options);
  }

 private:
  static Result<Switch<T>> typed(Result<Switch<AttributeValue>> found) {
    if (!found) return failure_of(std::move(found));
    std::optional<T> state = ToggleValue<T>::from_attribute(found->state);
    if (!state) {
      return fail(Code::kConflict, "the stored state is of another type (" +
                                       std::string(type_name(found->state.type())) + ")");
    }
    return Switch<T>{*std::move(state), found->at, std::move(found->event)};
  }

  AnyToggle any_;
};

template <class T>
  requires(std::same_as<T, bool> || std::same_as<T, std::string> || std::same_as<T, Number>)
struct ToggleValue<T> {
  static AttributeValue to_attribute(const T& state) { return AttributeValue(T(state)); }
  static std::optional<T> from_attribute(const AttributeValue& value) {
    const T* state = value.get_if<T>();
    return state ? std::optional<T>(*state) : std::nullopt;
  }
};

template <>
struct ToggleValue<int64_t> {
  static AttributeValue to_attribute(int64_t state) { return AttributeValue(state); }
  static std::optional<int64_t> from_attribute(const AttributeValue& value) {
    const Number* number = value.get_if<Number>();
    return number ? number->to_int64() : std::nullopt;
  }
};

template <>
struct ToggleValue<AttributeValue> {
  static AttributeValue to_attribute(const AttributeValue& state) { return state; }
  static std::optional<AttributeValue> from_attribute(const AttributeValue& value) { return value; }
};

}  // namespace stator
