// SPDX-License-Identifier: Apache-2.0
// Toggle: the latest state of switches whose events arrive late, twice and out of order, and the
// log of their switches. A last-writer-wins register of any value, with history.
//
// Guarantee: for any order, duplication and concurrency of one set of events, the latest is the
// accepted event with the greatest (time, event id); so replicas that saw the same events agree.
// An event is identified by its id and time; redelivery has no effect.
// Settings: the mode and the retention are stored in the table (per id_prefix), so that all who use
// it agree. The first who saves in an empty table stores them; a retention that is not set may be
// added later. A toggle whose mode or retention differs gets kLimitsDisagree from every call,
// naming both values. One without a retention uses the stored one. In tables that earlier releases
// filled nothing is stored until change_retention(): there each toggle's own options hold.
// Cost: a toggle reads the settings before its first request and again after a minute: one request
// and 1 RCU. The first save in a table costs a scan and a write in addition.
// Visibility: what was saved is seen by every later call, from any process (consistent reads).
// Thread safety: every method may be called from any thread at once.
// Lifetime: borrows the client and the time source.
// Errors: kInvalidArgument, kInFuture, kNotFound, kExpired, kConflict, kLimitsDisagree, kBadCursor,
// and the client's. Error::retryable() is true for transient ones; kConflict is permanent.
// Cost, items under 1 KB: see ToggleMode and Answer. Layout: docs/formats/recipes.md.
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
  std::string text;  // 1 to about 2,000 bytes of UTF-8, `#` included
};

// Of the event that switched. Empty: made from the value, so that one event is one (time, value).
struct EventId {
  std::string text;  // up to 900 bytes of UTF-8
  auto operator<=>(const EventId&) const = default;
};

enum class ToggleMode {
  // Each event is one conditional put into the log, which is ordered by (time, event id); the
  // latest is the log's last. Writes never conflict; late events land in history where they
  // belong. A save costs 1 WCU.
  kOrderedLog,
  // One transaction writes the latest and the log if the event is newer; a late event leaves
  // nothing behind. A save costs 4 WCU in one round trip.
  kGated,
};

// How much a save in kOrderedLog finds out. The put alone can tell a duplicate; whether there is
// a later event, only a read can. kGated always answers exactly.
enum class Answer {
  kExact,   // kNewest, kLate or kDuplicate: the put, then a consistent query (1 RCU more)
  kStored,  // kStored or kDuplicate: the put alone, one round trip
};

enum class Saved {
  kNewest,     // it is the latest now
  kLate,       // a later event was there already
  kDuplicate,  // this very event had been saved before
  kStored,     // it is in the log; whether it is the latest was not asked, or failed to be read
};
const char* saved_name(Saved saved);  // "newest", "late", "duplicate", "stored"

struct ToggleOptions {
  std::string table;
  ToggleMode mode = ToggleMode::kOrderedLog;
  Answer answer = Answer::kExact;
  // Events dated further ahead of this machine's clock than this are refused as kInFuture. The
  // clock may be the one that is wrong: deliver such events again later.
  std::chrono::nanoseconds max_skew = std::chrono::minutes(10);
  // When given (up to 36,500 days): an event that has been superseded, when it is saved or later,
  // gets the attribute `expires_at` (Unix seconds, for a time-to-live setting on the table), that
  // long and ten minutes after. So history and as_of know what held at any time within the
  // retention, if no clock is more than ten minutes off. The latest event never expires. A save
  // costs 1 RCU and 1 WCU more; if it fails although its event is stored, saving again is safe.
  std::optional<std::chrono::seconds> retention = {};
  std::string cursor_key = {};  // secret of the cursors' tags; set it to share it between hosts
  // Of the table's keys, both strings, where it is not the toggle's own; and what stands before a
  // toggle's id in the partition key, so that other entities can live beside it.
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

// One switch, as it was published.
struct ToggleEvent {
  ToggleId id;
  AttributeValue state;
  Time at;
  EventId event = {};
};

// A toggle of any attribute value. Toggle<T> below is the same with a type.
class AnyToggle {
 public:
  AnyToggle(Client& client, ToggleOptions options);

  // Saves one event. kInFuture when it is dated beyond max_skew; kConflict when the same event id
  // and time were saved with another state.
  Result<Saved> save(const ToggleId& id, const AttributeValue& state, Time at,
                     const EventId& event = {}) const;

  // Saves many, in any order, `parallel` (1 to 64) at a time: on as many threads of its own, which
  // end with the call. A result for each event as save() gives it; kCancelled for those that `stop`
  // left out.
  std::vector<Result<Saved>> save_all(std::span<const ToggleEvent> events, int parallel = 16,
                                      const std::stop_token& stop = {}) const;

  // The event with the greatest (time, event id). kNotFound when there is none.
  Result<Switch<AttributeValue>> latest(const ToggleId& id) const;

  // The latest of the events at or before `at`. kNotFound when there is none. kExpired when `at` is
  // longer ago than the retention and later events exist: what held then is unknown. Asking about
  // times before the retention costs one request and 1 RCU more.
  Result<Switch<AttributeValue>> as_of(const ToggleId& id, Time at) const;

  // The log, newest first unless asked otherwise; in kGated only the accepted events. Before the
  // retention, events may be missing.
  Result<Page<Switch<AttributeValue>>> history(const ToggleId& id, const TimeRange& range = {},
                                               const PageOptions& page = {}) const;

  // Stores another retention (up to 36,500 days) for all who use the table, within a minute. It
  // holds for events that are superseded from then on. Toggles whose own option differs get
  // kLimitsDisagree from then on: remove or change it.
  Result<void> change_retention(std::chrono::seconds to) const;

  // The table that the options need: on demand, partition key `pk`, sort key `sk`.
  static RecipeTable table_definition(const ToggleOptions& options);

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

// How a C++ type is kept as an attribute value. Specialise it for your own.
template <class T>
struct ToggleValue;

template <class T>
class Toggle {
 public:
  Toggle(Client& client, ToggleOptions options) : any_(client, std::move(options)) {}

  Result<Saved> save(const ToggleId& id, const T& state, Time at, const EventId& event = {}) const {
    return any_.save(id, ToggleValue<T>::to_attribute(state), at, event);
  }
  // As AnyToggle's; kConflict when what is stored is no T.
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
