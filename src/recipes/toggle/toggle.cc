// SPDX-License-Identifier: Apache-2.0
// Items of a toggle share the partition `TOGGLE#<id>` (options.id_prefix before the id):
//
//   LOG#<time><event id>   one per event, ordered by (time, event id)
//   LATEST                 kGated only: the greatest event, which a gated save compares with
//
// In both modes, readers return the last event of the log as the latest, so they see events saved
// in the other mode. The partition `TOGGLE##SETTINGS` stores the mode and the retention.
//
// With a retention, a superseded entry expires that long, plus a grace period, after the event that
// superseded it. So the log contains every state within the retention.
//
// The event id is at the end of its key, unescaped, because escaping would change the order.
// docs/decisions/0010-toggle-answers.md explains why a save is a put followed by a query.
#include "stator/recipes/toggle.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/random.h"
#include "recipes/common/cursor.h"
#include "recipes/common/keys.h"
#include "recipes/common/requests.h"
#include "recipes/common/stop_limit.h"
#include "recipes/toggle/toggle_settings.h"
#include "recipes/toggle/value_text.h"

namespace stator {

using namespace recipes;

namespace {

constexpr std::string_view kLogPrefix = "LOG#";
constexpr std::string_view kLogFirst = "LOG#";
constexpr std::string_view kLatestKey = "LATEST";
constexpr std::string_view kLogPast = "LOG$";  // '$' follows '#'
constexpr std::size_t kMaxEventIdBytes = 900;
constexpr int kMaxParallel = 64;
constexpr int kSupersededLooked = 10;  // entries that a save with retention reads

struct Event {
  std::string pk;
  std::string sk;
  std::string event;
  std::string nonce;
  Time at;
  const AttributeValue* state = nullptr;
};

std::string log_key(Time at, std::string_view event) {
  return std::string(kLogPrefix) + time_key(at) + "#" + std::string(event);
}

Result<void> check_options(const ToggleOptions& options) {
  STATOR_RETURN_IF_ERROR(check_table(options.table));
  STATOR_RETURN_IF_ERROR(check_text("partition_key", options.partition_key, kMaxNameBytes));
  STATOR_RETURN_IF_ERROR(check_text("sort_key", options.sort_key, kMaxNameBytes));
  if (options.partition_key == options.sort_key) {
    return invalid("sort_key", "must not be the partition key");
  }
  return check_retention("retention", options.retention);
}

// Checks the options and the id, and returns the toggle's partition.
Result<std::string> checked_partition(const ToggleOptions& options, const ToggleId& id) {
  STATOR_RETURN_IF_ERROR(check_options(options));
  STATOR_RETURN_IF_ERROR(check_text("id", id.text, kMaxPartitionKeyBytes));
  std::string pk = options.id_prefix + escape(id.text);
  STATOR_RETURN_IF_ERROR(check_key("id", pk, kMaxPartitionKeyBytes));
  return pk;
}

Item key_of(const ToggleOptions& options, std::string_view pk, std::string_view sk) {
  return {{options.partition_key, std::string(pk)}, {options.sort_key, std::string(sk)}};
}

using SharedTerms = std::shared_ptr<const ToggleTerms>;

Failure foreign_event() {
  return fail(Code::kConflict, "the item at this key does not belong to a toggle");
}

constexpr std::size_t kLogTimeEnd = kLogPrefix.size() + kTimeKeyBytes;

std::optional<Time> time_of_log(std::string_view sk) {
  if (sk.size() <= kLogTimeEnd || sk[kLogTimeEnd] != '#') return std::nullopt;
  return time_from_key(sk.substr(kLogPrefix.size(), kTimeKeyBytes));
}

Result<Switch<AttributeValue>> switch_of_log(const ToggleOptions& options, const Item& item) {
  const std::string* sk = text_in(item, options.sort_key);
  const auto state = item.find("state");
  const auto at = sk != nullptr ? time_of_log(*sk) : std::nullopt;
  if (!at || state == item.end()) return foreign_event();
  return Switch<AttributeValue>{state->second, *at, EventId{sk->substr(kLogTimeEnd + 1)}};
}

Result<Switch<AttributeValue>> switch_of_latest(const Item& item) {
  const Number* stamp = number_in(item, "stamp");
  const std::string* event = text_in(item, "event_id");
  const auto state = item.find("state");
  if (stamp == nullptr || event == nullptr || state == item.end()) return foreign_event();
  const auto at = time_from_number(*stamp);
  if (!at) return foreign_event();
  return Switch<AttributeValue>{state->second, *at, EventId{*event}};
}

Item log_item(const ToggleOptions& options, const Event& event) {
  Item item = key_of(options, event.pk, event.sk);
  item.emplace("state", *event.state);
  item.emplace("created_at", event.at.text());
  item.emplace("nonce", event.nonce);
  return item;
}

// Interprets the item that the log already has at the event's key: an earlier attempt of this
// request, the same event delivered again, or a misused event id. Absent: it has expired since.
Result<Saved> meaning_of_existing(const Event& event, const std::optional<Item>& existing) {
  if (!existing) return Saved::kDuplicate;
  const std::string* nonce = text_in(*existing, "nonce");
  if (nonce != nullptr && *nonce == event.nonce) return Saved::kStored;
  const auto state = existing->find("state");
  if (state != existing->end() && state->second == *event.state) return Saved::kDuplicate;
  return fail(Code::kConflict, "event: it was saved before at this time, with another state");
}

// An error about the event has a message that begins with the argument's name. If the table has
// other keys, the request for the settings has failed before.
Failure not_written(Error error) {
  if (error.code == Code::kTransactionCanceled && !error.retryable() && error.detail) {
    for (const CancellationReason& reason : error.detail->reasons) {
      if (reason.code != "ValidationError") continue;
      error.code = Code::kValidation;
      error.message = reason.message;
      break;
    }
  }
  if (error.code == Code::kValidation) error.message = "event: " + error.message;
  return Failure(std::move(error));
}

// Indexes of the two actions of a gated save.
constexpr std::size_t kLatestAction = 0;
constexpr std::size_t kLogAction = 1;

TransactWriteItemsRequest gated_request(const ToggleOptions& options, const Event& event) {
  TransactWriteItem latest{
      .action = TransactAction::kUpdate,
      .table = options.table,
      .item = key_of(options, event.pk, kLatestKey),
      .update = "SET #state = :state, stamp = :stamp, event_id = :event, created_at = :created",
      .condition =
          "attribute_not_exists(#pk) OR stamp < :stamp OR (stamp = :stamp AND event_id < :event)",
      .names = Names{{"#pk", options.partition_key}, {"#state", "state"}},
      .values = Values{{":state", *event.state},
                       {":stamp", time_number(event.at)},
                       {":event", event.event},
                       {":created", event.at.text()}},
      .on_condition_failure = ReturnValuesOnConditionCheckFailure::kAllOld};
  TransactWriteItem log{.action = TransactAction::kPut,
                        .table = options.table,
                        .item = log_item(options, event),
                        .condition = "attribute_not_exists(#pk)",
                        .names = Names{{"#pk", options.partition_key}},
                        .on_condition_failure = ReturnValuesOnConditionCheckFailure::kAllOld};
  return {.items = {std::move(latest), std::move(log)}};
}

}  // namespace

const char* saved_name(Saved saved) {
  switch (saved) {
    case Saved::kNewest:
      return "newest";
    case Saved::kLate:
      return "late";
    case Saved::kDuplicate:
      return "duplicate";
    case Saved::kStored:
      return "stored";
  }
  return "unknown";
}

struct AnyToggle::State {
  Client& client;
  ToggleOptions options;
  TimeSource& time;
  ToggleSettingsItem settings{client, options, time};

  QueryRequest log_query(const std::string& pk, std::string first, std::string last) const {
    return {.table = options.table,
            .key_condition = "#pk = :pk AND #sk BETWEEN :first AND :last",
            .names = Names{{"#pk", options.partition_key}, {"#sk", options.sort_key}},
            .values = Values{{":pk", pk}, {":first", std::move(first)}, {":last", std::move(last)}},
            .forward = false,
            .consistent_read = true};
  }

  Result<std::optional<Item>> refused(const Event& event, std::string_view sk,
                                      const Item* sent) const {
    return with_retries(options.retry, time, [&] {
      return refused_item(client, options.table, key_of(options, event.pk, sk), sent);
    });
  }

  Result<Saved> save_in_log(const Event& event, const SharedTerms& terms) const {
    const PutItemRequest put{.table = options.table,
                             .item = log_item(options, event),
                             .condition = "attribute_not_exists(#pk)",
                             .names = Names{{"#pk", options.partition_key}},
                             .on_condition_failure = ReturnValuesOnConditionCheckFailure::kAllOld};
    auto written = with_retries(options.retry, time, [&] { return client.put_item(put); });
    if (!written) {
      if (written.error().code != Code::kConditionalCheckFailed) {
        return not_written(written.error());
      }
      STATOR_ASSIGN_OR_RETURN(const auto existing,
                              refused(event, event.sk, item_in(written.error())));
      STATOR_ASSIGN_OR_RETURN(const Saved meaning, meaning_of_existing(event, existing));
      if (meaning == Saved::kDuplicate) return settled(meaning, event, terms);
    }
    if (options.answer == Answer::kStored) return settled(Saved::kStored, event, terms);
    const Result<bool> newest = settle(event, terms);
    if (!newest && terms->retention) return Failure(newest.error());
    if (!newest) return Saved::kStored;
    return *newest ? Saved::kNewest : Saved::kLate;
  }

  Result<Saved> save_gated(const Event& event, const SharedTerms& terms) const {
    const TransactWriteItemsRequest request = gated_request(options, event);
    auto written =
        with_retries(options.retry, time, [&] { return client.transact_write_items(request); });
    if (written) return settled(Saved::kNewest, event, terms);
    const Error& error = written.error();
    if (condition_failed_at(error, kLogAction)) {
      STATOR_ASSIGN_OR_RETURN(const auto existing,
                              refused(event, event.sk, item_at(error, kLogAction)));
      STATOR_ASSIGN_OR_RETURN(const Saved meaning, meaning_of_existing(event, existing));
      return settled(meaning == Saved::kStored ? Saved::kNewest : meaning, event, terms);
    }
    if (!condition_failed_at(error, kLatestAction)) return not_written(error);
    STATOR_ASSIGN_OR_RETURN(const auto latest,
                            refused(event, kLatestKey, item_at(error, kLatestAction)));
    if (!latest) return Saved::kLate;
    STATOR_ASSIGN_OR_RETURN(const Switch<AttributeValue> current, switch_of_latest(*latest));
    const bool same = current.at == event.at && current.event.text == event.event;
    return same ? Saved::kDuplicate : Saved::kLate;  // the log entry of the same event has expired
  }

  // Returns `saved` after setting the expiry that retention requires. Returns an error if that
  // fails, so that the event is delivered again: otherwise it would never expire.
  Result<Saved> settled(Saved saved, const Event& event, const SharedTerms& terms) const {
    if (terms->retention) STATOR_RETURN_IF_ERROR(settle(event, terms));
    return saved;
  }

  // Returns whether the event that was just stored is the last of the log. With retention, sets the
  // expiry of superseded entries that have none: this event, wherever it is, the entry just before
  // it, and the entries just before the last. Every superseded entry gets an expiry in this way:
  // the event just after it is the last one that is stored between them.
  Result<bool> settle(const Event& event, const SharedTerms& terms) const {
    QueryRequest request = log_query(event.pk, std::string(kLogFirst), std::string(kLogPast));
    request.projection = "#sk, expires_at";
    request.limit = terms->retention ? kSupersededLooked : 1;
    STATOR_ASSIGN_OR_RETURN(
        PageResult found, with_retries(options.retry, time, [&] { return client.query(request); }));
    const std::string* last =
        found.items.empty() ? nullptr : text_in(found.items[0], options.sort_key);
    const bool newest = last != nullptr && *last <= event.sk;
    if (!terms->retention || last == nullptr) return newest;
    STATOR_ASSIGN_OR_RETURN(const Expiring expiring, expire_superseded(event, found, {}, terms));
    if (expiring.before || !found.last_evaluated_key) return newest;
    request.values->at(":last") = event.sk;
    request.limit = 2;  // this event and the entry just before it
    STATOR_ASSIGN_OR_RETURN(
        found, with_retries(options.retry, time, [&] { return client.query(request); }));
    STATOR_RETURN_IF_ERROR(expire_superseded(event, found, expiring, terms));
    return newest;
  }

  // How far a save has come that sets expiries in descending order.
  struct Expiring {
    std::string later = {};  // the last entry that was looked at
    bool own = false;        // the entry of the saved event was among them
    bool before = false;     // so was the entry just before it
  };

  Result<Expiring> expire_superseded(const Event& event, const PageResult& found, Expiring so_far,
                                     const SharedTerms& terms) const {
    for (const Item& item : found.items) {
      const std::string* sk = text_in(item, options.sort_key);
      if (sk == nullptr) return foreign_event();
      const bool is_own = *sk == event.sk;
      const bool is_before = so_far.own && !so_far.before && !is_own;
      if (!so_far.later.empty() && so_far.later != *sk && !item.contains("expires_at")) {
        const auto expiring = expire(event.pk, *sk, so_far.later, terms);
        // Nothing can be done about an entry that is too large for another attribute: it stays.
        if (!expiring && ((is_own && expiring.error().code != Code::kValidation) ||
                          (is_before && expiring.error().retryable()))) {
          return Failure(expiring.error());
        }
      }
      so_far = {.later = *sk, .own = so_far.own || is_own, .before = so_far.before || is_before};
    }
    return so_far;
  }

  // Sets the expiry of the entry `sk`, which the entry `later` supersedes.
  Result<void> expire(const std::string& pk, const std::string& sk, const std::string& later,
                      const SharedTerms& terms) const {
    const Time now = time.now();
    const Time superseded = std::max(now, time_of_log(later).value_or(now));
    const int64_t expires_at = (superseded + *terms->retention + kDeletionGrace).unix_seconds();
    const UpdateItemRequest update{
        .table = options.table,
        .key = key_of(options, pk, sk),
        .update = "SET expires_at = :at",
        .condition = "attribute_exists(#pk) AND attribute_not_exists(expires_at)",
        .names = Names{{"#pk", options.partition_key}},
        .values = Values{{":at", expires_at}}};
    auto updated = with_retries(options.retry, time, [&] { return client.update_item(update); });
    if (updated || updated.error().code == Code::kConditionalCheckFailed) return {};
    return failure_of(std::move(updated));
  }

  // Whether the log has an event after `key`.
  Result<bool> has_after(const std::string& pk, std::string key) const {
    QueryRequest request = log_query(pk, std::move(key), std::string(kLogPast));
    request.forward = true;
    request.limit = 1;
    STATOR_ASSIGN_OR_RETURN(const PageResult found, with_retries(options.retry, time, [&] {
                              return client.query(request);
                            }));
    return !found.items.empty();
  }

  Result<Switch<AttributeValue>> last_up_to(const std::string& pk, std::string last) const {
    QueryRequest request = log_query(pk, std::string(kLogFirst), std::move(last));
    request.limit = 1;
    STATOR_ASSIGN_OR_RETURN(const PageResult found, with_retries(options.retry, time, [&] {
                              return client.query(request);
                            }));
    if (found.items.empty()) return fail(Code::kNotFound, "the toggle has no event there");
    return switch_of_log(options, found.items[0]);
  }
};

AnyToggle::AnyToggle(Client& client, ToggleOptions options) {
  TimeSource* const time = options.time != nullptr ? options.time : &system_time();
  state_ = std::make_shared<const State>(client, std::move(options), *time);
}

Result<Saved> AnyToggle::save(const ToggleId& id, const AttributeValue& state, Time at,
                              const EventId& event) const {
  const ToggleOptions& options = state_->options;
  STATOR_ASSIGN_OR_RETURN(std::string pk, checked_partition(options, id));
  if (!event.text.empty())
    STATOR_RETURN_IF_ERROR(check_text("event", event.text, kMaxEventIdBytes));
  STATOR_RETURN_IF_ERROR(check_event_time("at", at, state_->time.now(), options.max_skew));
  Event saved{.pk = std::move(pk),
              .sk = {},
              .event = event.text.empty() ? "=" + digest_of(state) : event.text,
              .nonce = random_uuid(),
              .at = at,
              .state = &state};
  saved.sk = log_key(at, saved.event);
  STATOR_RETURN_IF_ERROR(check_key("event", saved.sk, kMaxSortKeyBytes));
  STATOR_ASSIGN_OR_RETURN(const SharedTerms terms, state_->settings.terms(true));
  return options.mode == ToggleMode::kGated ? state_->save_gated(saved, terms)
                                            : state_->save_in_log(saved, terms);
}

std::vector<Result<Saved>> AnyToggle::save_all(std::span<const ToggleEvent> events, int parallel,
                                               const std::stop_token& stop) const {
  std::vector<Result<Saved>> results(events.size(),
                                     fail(Code::kCancelled, "stopped before it was saved"));
  if (parallel < 1 || parallel > kMaxParallel) {
    std::ranges::fill(results, invalid("parallel", "must be 1 to 64"));
    return results;
  }
  std::atomic<std::size_t> next = 0;
  const auto work = [&, callers = current_bounds()] {
    const StopLimit limit(stop, callers);
    for (std::size_t i = next++; i < events.size() && !stop.stop_requested(); i = next++) {
      const ToggleEvent& event = events[i];
      results[i] = save(event.id, event.state, event.at, event.event);
    }
  };
  std::vector<std::jthread> threads(std::min(static_cast<std::size_t>(parallel), events.size()));
  for (std::jthread& thread : threads) thread = std::jthread(work);
  threads.clear();  // joins them
  return results;
}

Result<Switch<AttributeValue>> AnyToggle::latest(const ToggleId& id) const {
  STATOR_ASSIGN_OR_RETURN(const std::string pk, checked_partition(state_->options, id));
  STATOR_ASSIGN_OR_RETURN(const SharedTerms terms, state_->settings.terms(false));
  return state_->last_up_to(pk, std::string(kLogPast));
}

Result<Switch<AttributeValue>> AnyToggle::as_of(const ToggleId& id, Time at) const {
  STATOR_ASSIGN_OR_RETURN(const std::string pk, checked_partition(state_->options, id));
  if (!at.in_range()) return invalid("at", "is not in the years 1 to 9999");
  const std::string last = std::string(kLogPrefix) + time_key(at) + "$";
  auto found = state_->last_up_to(pk, last);
  if (!found && found.error().code != Code::kNotFound) return found;
  // The clock and the settings are read after the log: this process might have been paused since.
  STATOR_ASSIGN_OR_RETURN(const SharedTerms terms, state_->settings.terms(false));
  const auto known_since = terms->known_since(state_->time.now());
  if (known_since && at < *known_since) {
    // The state at that time might have expired, unless nothing has superseded it.
    STATOR_ASSIGN_OR_RETURN(const bool superseded, state_->has_after(pk, last));
    if (superseded) {
      return fail(Code::kExpired, "what held at " + at.text() + " is unknown: it is before " +
                                      known_since->text() + ", the end of the retention");
    }
  }
  return found;
}

Result<Page<Switch<AttributeValue>>> AnyToggle::history(const ToggleId& id, const TimeRange& range,
                                                        const PageOptions& page) const {
  const ToggleOptions& options = state_->options;
  STATOR_ASSIGN_OR_RETURN(const std::string pk, checked_partition(options, id));
  STATOR_RETURN_IF_ERROR(check_range(range));
  STATOR_RETURN_IF_ERROR(check_limit("limit", page.limit));

  // A bound without an event id sorts before every event of its time.
  std::string first =
      range.from ? std::string(kLogPrefix) + time_key(*range.from) : std::string(kLogFirst);
  std::string last =
      range.to ? std::string(kLogPrefix) + time_key(*range.to) : std::string(kLogPast);
  const CursorSeal seal{
      .key = options.cursor_key,
      .question = {"toggle", options.table, pk, first, last, page.newest_first ? "new" : "old"}};
  QueryRequest request = state_->log_query(pk, std::move(first), std::move(last));
  request.forward = !page.newest_first;
  if (!page.cursor.empty()) {
    STATOR_ASSIGN_OR_RETURN(const std::vector<std::string> parts,
                            read_cursor(seal, page.cursor, 1));
    request.exclusive_start_key = key_of(options, pk, parts[0]);
  }
  STATOR_ASSIGN_OR_RETURN(const SharedTerms terms, state_->settings.terms(false));
  STATOR_ASSIGN_OR_RETURN(
      const ItemPage found,
      query_page(state_->client, options.retry, state_->time, std::move(request), page.limit));
  Page<Switch<AttributeValue>> result;
  for (const Item& item : found.items) {
    STATOR_ASSIGN_OR_RETURN(Switch<AttributeValue> entry, switch_of_log(options, item));
    result.items.push_back(std::move(entry));
  }
  if (found.more) result.next = make_cursor(seal, {*text_in(found.items.back(), options.sort_key)});
  return result;
}

Result<void> AnyToggle::change_retention(std::chrono::seconds to) const {
  STATOR_RETURN_IF_ERROR(check_options(state_->options));
  return state_->settings.change_retention(to);
}

RecipeTable AnyToggle::table_definition(const ToggleOptions& options) {
  CreateTableRequest table{
      .table = options.table,
      .attributes = {{options.partition_key, ScalarType::kS}, {options.sort_key, ScalarType::kS}},
      .key_schema = {{options.partition_key, KeyType::kHash}, {options.sort_key, KeyType::kRange}},
      .billing_mode = BillingMode::kPayPerRequest};
  return {std::move(table), options.retention ? "expires_at" : ""};
}

}  // namespace stator
