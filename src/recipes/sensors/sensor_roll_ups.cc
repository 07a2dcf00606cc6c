// SPDX-License-Identifier: Apache-2.0
// A roll-up is replaced on condition of the version that was read before its readings. So a roll-up
// is made from readings that were read after its predecessor was stored, and an old sum never
// replaces a newer one. If the condition fails, the period is made again. Versions never restart:
// if no reading has a unit any more, its roll-up stays, with a count of 0 and the next version.
//
// A period is never made again if some of its readings might have been deleted, by the stored
// retention or by the expiry time of a reading. The clock is read after the readings, because the
// call might have waited. Deletion is kDeletionGrace after expiry, which allows for a slow clock.
#include "recipes/sensors/sensor_roll_ups.h"

#include <algorithm>
#include <utility>

#include "recipes/common/keys.h"
#include "recipes/common/requests.h"
#include "recipes/sensors/sensor_items.h"

namespace stator::recipes {
namespace {

constexpr int64_t kWindowPeriods = 1000;  // their stored roll-ups are in memory at once
constexpr int kPageReadings = 1000;

std::string_view prefix_of(Period period) {
  switch (period) {
    case Period::kMinute:
      return "MINUTE#";
    case Period::kHour:
      return "HOUR#";
    case Period::kDay:
      return "DAY#";
  }
  return "";
}

std::string roll_up_key(const RollUp& roll_up) {
  return roll_up_prefix(roll_up.period, roll_up.from) + "#" + escape(roll_up.unit) + "#";
}

void add(RolledUp& all, const RolledUp& some) {
  all.made += some.made;
  all.changed += some.changed;
}

void add_to(RollUp& roll_up, const Reading& reading) {
  if (roll_up.count == 0) {
    roll_up.first = roll_up.min = roll_up.max = reading.value;
    roll_up.sum = Number();
  }
  ++roll_up.count;
  roll_up.min = std::min(roll_up.min, reading.value);
  roll_up.max = std::max(roll_up.max, reading.value);
  roll_up.last = reading.value;
  if (!roll_up.sum) return;
  auto sum = roll_up.sum->plus(reading.value);
  roll_up.sum = sum ? std::optional(*sum) : std::nullopt;
}

Item item_of(const SensorOptions& options, const SensorId& id, const RollUp& roll_up) {
  Item item = key_of(options, sensor_partition(options, id), roll_up_key(roll_up));
  if (!roll_up.unit.empty()) item.emplace("unit", roll_up.unit);
  item.emplace("count", roll_up.count);
  if (roll_up.sum) item.emplace("sum", *roll_up.sum);
  item.emplace("min", roll_up.min);
  item.emplace("max", roll_up.max);
  item.emplace("first", roll_up.first);
  item.emplace("last", roll_up.last);
  if (options.roll_up_retention) {
    item.emplace(options.names.expiry, roll_up.from.unix_seconds() +
                                           period_length(roll_up.period).count() +
                                           options.roll_up_retention->count() +
                                           std::chrono::seconds(kDeletionGrace).count());
  }
  return item;
}

// A query for a sensor's items between two sort keys, both inclusive.
QueryRequest range_query(const SensorOptions& options, const SensorId& id, std::string first,
                         std::string last) {
  return {.table = options.table,
          .key_condition = "#pk = :pk AND #sk BETWEEN :first AND :last",
          .names = Names{{"#pk", options.names.partition_key}, {"#sk", options.names.sort_key}},
          .values = Values{{":pk", sensor_partition(options, id)},
                           {":first", std::move(first)},
                           {":last", std::move(last)}},
          .consistent_read = true};
}

// Whether a reading from the start of the period might have been deleted by now, by a clock that is
// kDeletionGrace ahead, if it had the lifetime of this one.
bool may_lack_readings(const SensorOptions& options, const Item& reading, Time at, Time begin,
                       Time now) {
  const auto expires_at = int64_in(reading, options.names.expiry);
  if (!expires_at || *expires_at < Time::kMinSeconds || *expires_at > Time::kMaxSeconds) {
    return false;
  }
  const int64_t lifetime =
      *expires_at - at.unix_seconds() - std::chrono::seconds(kDeletionGrace).count();
  return begin.unix_seconds() + lifetime < now.unix_seconds();
}

QueryRequest readings_query(const SensorOptions& options, const SensorId& id, Time from, Time to) {
  return range_query(options, id, reading_key(options, from),
                     reading_key(options, to - std::chrono::nanoseconds(1)));
}

}  // namespace

std::chrono::seconds period_length(Period period) {
  switch (period) {
    case Period::kMinute:
      return std::chrono::minutes(1);
    case Period::kHour:
      return std::chrono::hours(1);
    case Period::kDay:
      return std::chrono::days(1);
  }
  return {};
}

Time period_begin(Period period, Time at) {
  // Counts from the year 1, so that the remainder is never negative. Periods of every length start
  // at the start of 1970.
  const int64_t since = at.unix_seconds() - Time::kMinSeconds;
  const int64_t into = since % period_length(period).count();
  return Time(std::chrono::sys_seconds(std::chrono::seconds(at.unix_seconds() - into)));
}

std::string roll_up_prefix(Period period, Time begin) {
  return std::string(prefix_of(period)) + time_key(begin);
}

std::optional<RollUp> roll_up_of(const SensorOptions& options, Period period, const Item& item) {
  const std::string* key = text_in(item, options.names.sort_key);
  const std::string_view prefix = prefix_of(period);
  const Number* min = number_in(item, "min");
  const Number* max = number_in(item, "max");
  const Number* first = number_in(item, "first");
  const Number* last = number_in(item, "last");
  const auto count = int64_in(item, "count");
  if (!key || !min || !max || !first || !last || !count) return std::nullopt;
  if (!key->starts_with(prefix) || key->size() < prefix.size() + kTimeKeyBytes) return std::nullopt;
  const auto from = time_from_key(std::string_view(*key).substr(prefix.size(), kTimeKeyBytes));
  if (!from) return std::nullopt;
  RollUp roll_up{.period = period, .from = *from, .count = *count};
  if (const std::string* unit = text_in(item, "unit")) roll_up.unit = *unit;
  if (const Number* sum = number_in(item, "sum")) roll_up.sum = *sum;
  roll_up.min = *min;
  roll_up.max = *max;
  roll_up.first = *first;
  roll_up.last = *last;
  return roll_up;
}

Result<std::optional<Time>> SensorRollUps::next_reading(const SensorId& id, Time from,
                                                        Time to) const {
  STATOR_ASSIGN_OR_RETURN(
      const std::vector<Item> found,
      query_items(client_, options_.retry, time_, readings_query(options_, id, from, to), 1));
  if (found.empty()) return std::optional<Time>();
  const auto reading = reading_of(options_, id, found[0]);
  if (!reading) return foreign_item();
  return std::optional(reading->at);
}

// The first period at or after `from` whose readings and roll-up cannot have expired.
Time SensorRollUps::first_whole(Period period, Time from) const {
  const std::chrono::nanoseconds length = period_length(period);
  const Time now = time_.now();
  const auto not_before = [&](Time edge) {
    if (!edge.in_range()) return;
    const Time begin = period_begin(period, edge);
    from = std::max(from, begin < edge ? begin + length : begin);
  };
  if (const auto whole_from = terms_.whole_from(now)) not_before(*whole_from);
  if (options_.roll_up_retention) not_before(now - *options_.roll_up_retention - length);
  return from;
}

Result<RolledUp> SensorRollUps::make(const SensorId& id, Period period, Time from, Time to,
                                     const std::stop_token& stop) const {
  const std::chrono::nanoseconds length = period_length(period);
  from = first_whole(period, from);
  RolledUp all;
  while (from < to) {
    if (from + length * kWindowPeriods < to) {  // there can be long gaps
      STATOR_ASSIGN_OR_RETURN(const std::optional<Time> next, next_reading(id, from, to));
      if (!next) break;
      from = period_begin(period, *next);
    }
    const Time end = std::min(from + length * kWindowPeriods, to);
    STATOR_ASSIGN_OR_RETURN(const RolledUp made, make_window(id, period, from, end, stop, 0));
    add(all, made);
    from = end;
  }
  return all;
}

Result<SensorRollUps::StoredByKey> SensorRollUps::stored(const SensorId& id, Period period,
                                                         Time from, Time to) const {
  QueryRequest request =
      range_query(options_, id, roll_up_prefix(period, from),
                  roll_up_prefix(period, to - std::chrono::nanoseconds(1)) + "$");
  StoredByKey stored;
  for (;;) {
    STATOR_ASSIGN_OR_RETURN(PageResult page, with_retries(options_.retry, time_,
                                                          [&] { return client_.query(request); }));
    for (const Item& item : page.items) {
      auto roll_up = roll_up_of(options_, period, item);
      if (!roll_up) return foreign_item();
      stored.emplace(*text_in(item, options_.names.sort_key),
                     Stored{*std::move(roll_up), int64_in(item, "version").value_or(0)});
    }
    if (!page.last_evaluated_key) return stored;
    request.exclusive_start_key = std::move(page.last_evaluated_key);
  }
}

Result<bool> SensorRollUps::store(const SensorId& id, const RollUp& roll_up,
                                  const StoredByKey& stored) const {
  const auto old = stored.find(roll_up_key(roll_up));
  if (old != stored.end() && old->second.roll_up == roll_up) return false;
  PutItemRequest put{.table = options_.table, .item = item_of(options_, id, roll_up)};
  if (old == stored.end()) {
    put.condition = "attribute_not_exists(#pk)";
    put.names = Names{{"#pk", options_.names.partition_key}};
    put.item.emplace("version", 1);
  } else {
    put.condition = old->second.version == 0
                        ? "attribute_not_exists(#version) OR #version = :version"
                        : "#version = :version";
    put.names = Names{{"#version", "version"}};
    put.values = Values{{":version", old->second.version}};
    put.item.emplace("version", old->second.version + 1);
  }
  auto written = with_retries(options_.retry, time_, [&] { return client_.put_item(put); });
  if (!written) return failure_of(std::move(written));
  return true;
}

// Errors: kConditionalCheckFailed if another caller has stored one of the roll-ups since.
Result<RolledUp> SensorRollUps::store_period(const SensorId& id, const RollUpByUnit& units,
                                             const StoredByKey& stored) const {
  RolledUp done;
  if (units.empty()) return done;
  for (const auto& [unit, roll_up] : units) {
    STATOR_ASSIGN_OR_RETURN(const bool changed, store(id, roll_up, stored));
    ++done.made;
    done.changed += changed ? 1 : 0;
  }
  // Roll-ups of units that no reading has any more get a count of 0.
  const RollUp& any = units.begin()->second;
  const std::string prefix = roll_up_prefix(any.period, any.from) + "#";
  for (auto old = stored.lower_bound(prefix); old != stored.end() && old->first.starts_with(prefix);
       ++old) {
    const RollUp& gone = old->second.roll_up;
    if (units.contains(gone.unit) || gone.count == 0) continue;
    const RollUp none{.period = gone.period, .from = gone.from, .unit = gone.unit};
    STATOR_RETURN_IF_ERROR(store(id, none, stored));
    ++done.changed;
  }
  return done;
}

// Readings are sorted by time, so a period is complete when the next one begins.
Result<RolledUp> SensorRollUps::make_window(const SensorId& id, Period period, Time from, Time to,
                                            const std::stop_token& stop, int attempt) const {
  STATOR_ASSIGN_OR_RETURN(const StoredByKey before, stored(id, period, from, to));
  RolledUp done;
  Time begin;
  RollUpByUnit units;           // of the period that starts at `begin`
  bool is_whole = true;         // whether that period has all its readings
  std::vector<Time> overtaken;  // periods that another caller has made in the meantime
  const auto finish = [&]() -> Result<void> {
    const RollUpByUnit of_period = std::exchange(units, {});
    if (!std::exchange(is_whole, true) || first_whole(period, begin) != begin) return {};
    auto made = store_period(id, of_period, before);
    if (made) {
      add(done, *made);
    } else if (made.error().code == Code::kConditionalCheckFailed) {
      overtaken.push_back(begin);
    } else {
      return failure_of(std::move(made));
    }
    return {};
  };
  QueryRequest request = readings_query(options_, id, from, to);
  request.limit = kPageReadings;
  do {
    if (stop.stop_requested()) return fail(Code::kCancelled, "stopped between two pages");
    STATOR_ASSIGN_OR_RETURN(PageResult page, with_retries(options_.retry, time_,
                                                          [&] { return client_.query(request); }));
    const Time now = time_.now();
    for (const Item& item : page.items) {
      const auto reading = reading_of(options_, id, item);
      if (!reading) return foreign_item();
      if (const Time its = period_begin(period, reading->at); its != begin) {
        STATOR_RETURN_IF_ERROR(finish());
        begin = its;
      }
      if (may_lack_readings(options_, item, reading->at, begin, now)) is_whole = false;
      add_to(units.try_emplace(reading->unit, RollUp{period, begin, reading->unit}).first->second,
             *reading);
    }
    request.exclusive_start_key = std::move(page.last_evaluated_key);
  } while (request.exclusive_start_key);
  STATOR_RETURN_IF_ERROR(finish());
  for (const Time again : overtaken) {
    if (attempt + 1 >= options_.retry.max_attempts) {
      return fail(Code::kTransactionConflict, "others keep making the roll-up of " + again.text());
    }
    time_.sleep(jittered(options_.retry.backoff_base, options_.retry.backoff_max, attempt), stop);
    STATOR_ASSIGN_OR_RETURN(
        const RolledUp made,
        make_window(id, period, again, again + period_length(period), stop, attempt + 1));
    add(done, made);
  }
  return done;
}

}  // namespace stator::recipes
