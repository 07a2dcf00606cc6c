// SPDX-License-Identifier: Apache-2.0
#include "stator/recipes/sensors.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "recipes/common/cursor.h"
#include "recipes/common/keys.h"
#include "recipes/common/requests.h"
#include "recipes/common/stop_limit.h"
#include "recipes/sensors/sensor_items.h"
#include "recipes/sensors/sensor_places.h"
#include "recipes/sensors/sensor_registration.h"
#include "recipes/sensors/sensor_roll_ups.h"
#include "recipes/sensors/sensor_settings.h"
#include "recipes/sensors/sensor_writes.h"

namespace stator {

using namespace recipes;

namespace {

constexpr Time kBeginOfTime{std::chrono::sys_seconds(std::chrono::seconds(Time::kMinSeconds))};

using Terms = std::shared_ptr<const SensorTerms>;

// The items of one sensor between two sort keys, both included.
struct KeyRange {
  const char* question;
  std::string first;
  std::string last;
  // The key before which everything has expired. It changes with time, so it is not part of the
  // question.
  std::function<std::string(const Terms&)> not_before;
  std::string filter = {};
};

}  // namespace

struct SensorRegistry::State {
  Client& client;
  SensorOptions options;
  TimeSource& time;
  Result<void> valid;  // the result of checking the options
  mutable RegisteredSensors registered = {};
  SensorSettingsItem settings{client, options, time};

  SensorRegistration registration(const Terms& terms) const { return {client, *terms, time}; }
  SensorRollUps roll_ups(const Terms& terms) const { return {client, *terms, time}; }

  Result<void> check(const SensorId& id) const {
    STATOR_RETURN_IF_ERROR(valid);
    return check_sensor_id(options, id);
  }

  // The sort key below which readings have expired.
  std::string oldest_reading(const Terms& terms) const {
    if (!terms->options.retention) return first_reading_key(options);
    const Time edge = time.now() - *terms->options.retention;
    return edge.in_range() ? reading_key(options, edge) : first_reading_key(options);
  }

  // `read` converts an item to a T; absent if the item is foreign.
  template <class T, class Read>
  Result<Page<T>> page_of(const SensorId& id, const KeyRange& range, const PageOptions& page,
                          Read read) const;
};

template <class T, class Read>
Result<Page<T>> SensorRegistry::State::page_of(const SensorId& id, const KeyRange& range,
                                               const PageOptions& page, Read read) const {
  const std::string pk = sensor_partition(options, id);
  const CursorSeal seal{.key = options.cursor_key,
                        .question = {range.question, options.table, pk, range.first, range.last,
                                     page.newest_first ? "new" : "old"}};
  std::string after;
  if (!page.cursor.empty()) {
    STATOR_ASSIGN_OR_RETURN(const std::vector<std::string> parts,
                            read_cursor(seal, page.cursor, 1));
    after = parts[0];
  }
  STATOR_ASSIGN_OR_RETURN(const Terms terms, settings.terms(SensorUse::kReadReadings));
  const std::string first = std::max(range.first, range.not_before(terms));
  // Everything that would follow has expired.
  if (first > range.last || (page.newest_first && !after.empty() && after < first)) {
    return Page<T>();
  }
  QueryRequest request{
      .table = options.table,
      .key_condition = "#pk = :pk AND #sk BETWEEN :first AND :last",
      .names = Names{{"#pk", options.names.partition_key}, {"#sk", options.names.sort_key}},
      .values = Values{{":pk", pk}, {":first", first}, {":last", range.last}},
      .forward = !page.newest_first,
      .consistent_read = true};
  if (!range.filter.empty()) {
    request.filter = range.filter;
    request.names->emplace("#count", "count");
    request.values->emplace(":zero", 0);
  }
  if (!after.empty() && after >= first) request.exclusive_start_key = key_of(options, pk, after);
  STATOR_ASSIGN_OR_RETURN(const ItemPage found,
                          query_page(client, options.retry, time, std::move(request), page.limit));
  Page<T> result;
  for (const Item& item : found.items) {
    std::optional<T> one = read(item);
    if (!one) return foreign_item();
    result.items.push_back(*std::move(one));
  }
  if (found.more) {
    result.next = make_cursor(seal, {*text_in(found.items.back(), options.names.sort_key)});
  }
  return result;
}

std::optional<double> RollUp::mean() const {
  if (!sum || count <= 0) return std::nullopt;
  return sum->to_double() / static_cast<double>(count);
}

SensorRegistry::SensorRegistry(Client& client, SensorOptions options) {
  TimeSource* const time = options.time != nullptr ? options.time : &system_time();
  Result<void> valid = check_options(options);
  state_ = std::make_shared<const State>(client, std::move(options), *time, std::move(valid));
}

Result<Sensor> SensorRegistry::add(const Sensor& sensor) const {
  STATOR_RETURN_IF_ERROR(state_->valid);
  STATOR_RETURN_IF_ERROR(check_sensor(state_->options, sensor));
  STATOR_ASSIGN_OR_RETURN(const Terms terms, state_->settings.terms(SensorUse::kWritePlaces));
  return state_->registration(terms).add(sensor);
}

Result<Sensor> SensorRegistry::get(const SensorId& id) const {
  STATOR_RETURN_IF_ERROR(state_->check(id));
  STATOR_ASSIGN_OR_RETURN(const Terms terms, state_->settings.terms(SensorUse::kReadReadings));
  return state_->registration(terms).get(id);
}

Result<Sensor> SensorRegistry::move(const Sensor& known, const Location& to) const {
  STATOR_RETURN_IF_ERROR(state_->valid);
  Sensor moved = known;
  moved.location = to;
  STATOR_RETURN_IF_ERROR(check_sensor(state_->options, known));
  STATOR_RETURN_IF_ERROR(check_sensor(state_->options, moved));
  if (known.version < 0) return invalid("version", "must not be negative");
  STATOR_ASSIGN_OR_RETURN(const Terms terms, state_->settings.terms(SensorUse::kWritePlaces));
  return state_->registration(terms).move(known, to);
}

Result<void> SensorRegistry::decommission(const SensorId& id) const {
  STATOR_RETURN_IF_ERROR(state_->check(id));
  STATOR_ASSIGN_OR_RETURN(const Terms terms, state_->settings.terms(SensorUse::kWritePlaces));
  state_->registered.remove(id.text);
  auto gone = state_->registration(terms).decommission(id);
  // A concurrent call might have added it again.
  state_->registered.remove(id.text);
  return gone;
}

Result<Recorded> SensorRegistry::record(std::span<const Reading> readings, Check check) const {
  const State& state = *state_;
  STATOR_RETURN_IF_ERROR(state.valid);
  const Time now = state.time.now();
  for (const Reading& reading : readings) {
    STATOR_RETURN_IF_ERROR(check_reading(state.options, reading, now));
  }
  STATOR_ASSIGN_OR_RETURN(const Terms terms, state.settings.terms(SensorUse::kWriteReadings));
  const SensorWrites writes(state.client, terms->options, state.time, state.registered);
  return writes.record(readings, check, now);
}

Result<SensorReadings> SensorRegistry::latest(const SensorId& id, int count) const {
  const State& state = *state_;
  STATOR_RETURN_IF_ERROR(state.check(id));
  STATOR_RETURN_IF_ERROR(check_limit("count", count));
  STATOR_ASSIGN_OR_RETURN(const Terms terms, state.settings.terms(SensorUse::kReadReadings));
  const SensorNames& names = state.options.names;
  QueryRequest request{.table = state.options.table,
                       .key_condition = "#pk = :pk AND #sk BETWEEN :first AND :info",
                       .names = Names{{"#pk", names.partition_key}, {"#sk", names.sort_key}},
                       .values = Values{{":pk", sensor_partition(state.options, id)},
                                        {":first", state.oldest_reading(terms)},
                                        {":info", kInfoKey}},
                       .forward = false,
                       .consistent_read = true};
  STATOR_ASSIGN_OR_RETURN(const std::vector<Item> found,
                          query_items(state.client, state.options.retry, state.time,
                                      std::move(request), static_cast<std::size_t>(count) + 1));
  // A sensor's own item sorts after its readings: without it the first item is a reading.
  const std::string* sk = found.empty() ? nullptr : text_in(found[0], names.sort_key);
  if (sk == nullptr || *sk != kInfoKey) return not_registered(id);
  STATOR_ASSIGN_OR_RETURN(Sensor sensor, state.registration(terms).sensor_in(found[0]));
  SensorReadings result{.sensor = std::move(sensor), .readings = {}};
  for (std::size_t i = 1; i < found.size(); ++i) {
    auto reading = reading_of(state.options, id, found[i]);
    if (!reading) return foreign_item();
    result.readings.push_back(*std::move(reading));
  }
  return result;
}

Result<Page<Reading>> SensorRegistry::readings(const SensorId& id, const TimeRange& range,
                                               const PageOptions& page) const {
  const State& state = *state_;
  STATOR_RETURN_IF_ERROR(state.check(id));
  STATOR_RETURN_IF_ERROR(check_range(range));
  STATOR_RETURN_IF_ERROR(check_limit("limit", page.limit));
  // BETWEEN includes its bounds, so the last key is one nanosecond before `to`.
  if (range.to && *range.to <= range.from.value_or(kBeginOfTime)) return Page<Reading>();
  const SensorOptions& options = state.options;
  const KeyRange keys{
      .question = "readings",
      .first = range.from ? reading_key(options, *range.from) : first_reading_key(options),
      .last = range.to ? reading_key(options, *range.to - std::chrono::nanoseconds(1))
                       : last_reading_key(options),
      .not_before = [&](const Terms& terms) { return state.oldest_reading(terms); }};
  return state.page_of<Reading>(id, keys, page,
                                [&](const Item& item) { return reading_of(options, id, item); });
}

Result<RolledUp> SensorRegistry::roll_up(const SensorId& id, Period period, const TimeRange& range,
                                         const std::stop_token& stop) const {
  const StopLimit limit(stop);
  STATOR_RETURN_IF_ERROR(state_->check(id));
  STATOR_RETURN_IF_ERROR(check_range(range));
  const Time from = range.from.value_or(kBeginOfTime);
  const Time to = range.to.value_or(kEndOfTime);
  if (to <= from) return RolledUp();
  const Time last = period_begin(period, to - std::chrono::nanoseconds(1));
  STATOR_ASSIGN_OR_RETURN(const Terms terms, state_->settings.terms(SensorUse::kWriteReadings));
  return state_->roll_ups(terms).make(id, period, period_begin(period, from),
                                      last + period_length(period), stop);
}

Result<RolledUp> SensorRegistry::roll_up(std::span<const Reading> readings, Period period,
                                         const std::stop_token& stop) const {
  const StopLimit limit(stop);
  STATOR_RETURN_IF_ERROR(state_->valid);
  std::set<std::pair<SensorId, Time>> begins;
  for (const Reading& reading : readings) {
    STATOR_RETURN_IF_ERROR(check_sensor_id(state_->options, reading.sensor));
    if (!reading.at.in_range()) return invalid("at", "is not in the years 1 to 9999");
    begins.emplace(reading.sensor, period_begin(period, reading.at));
  }
  STATOR_ASSIGN_OR_RETURN(const Terms terms, state_->settings.terms(SensorUse::kWriteReadings));
  RolledUp all;
  const auto length = period_length(period);
  for (auto begin = begins.begin(); begin != begins.end();) {
    const auto& [id, from] = *begin;
    Time to = from;
    // Makes adjacent periods together.
    for (; begin != begins.end() && begin->first == id && begin->second == to; ++begin) {
      to = to + length;
    }
    STATOR_ASSIGN_OR_RETURN(const RolledUp made,
                            state_->roll_ups(terms).make(id, period, from, to, stop));
    all.made += made.made;
    all.changed += made.changed;
  }
  return all;
}

Result<Page<RollUp>> SensorRegistry::roll_ups(const SensorId& id, Period period,
                                              const TimeRange& range,
                                              const PageOptions& page) const {
  const State& state = *state_;
  STATOR_RETURN_IF_ERROR(state.check(id));
  STATOR_RETURN_IF_ERROR(check_range(range));
  STATOR_RETURN_IF_ERROR(check_limit("limit", page.limit));
  const Time from = range.from.value_or(kBeginOfTime);
  const Time to = range.to.value_or(kEndOfTime);
  if (to <= from) return Page<RollUp>();
  const auto not_before = [&](const Terms& terms) -> std::string {
    if (!terms->options.roll_up_retention) return {};
    const Time edge = state.time.now() - *terms->options.roll_up_retention;
    return edge.in_range() ? roll_up_prefix(period, period_begin(period, edge)) : std::string();
  };
  const KeyRange keys{.question = "roll-ups",
                      .first = roll_up_prefix(period, from),
                      .last = roll_up_prefix(period, to - std::chrono::nanoseconds(1)) + "$",
                      .not_before = not_before,
                      .filter = "#count <> :zero"};
  return state.page_of<RollUp>(
      id, keys, page, [&](const Item& item) { return roll_up_of(state.options, period, item); });
}

Result<Page<SensorId>> SensorRegistry::at(const Location& place, const PageOptions& page) const {
  const State& state = *state_;
  STATOR_RETURN_IF_ERROR(state.valid);
  STATOR_RETURN_IF_ERROR(check_place(state.options, place));
  STATOR_RETURN_IF_ERROR(check_limit("limit", page.limit));
  // Rejects a bad cursor before any request.
  STATOR_RETURN_IF_ERROR(
      SensorPlaces(state.client, state.options, state.time).start_of(place, page));
  STATOR_ASSIGN_OR_RETURN(const Terms terms, state.settings.terms(SensorUse::kReadPlaces));
  return SensorPlaces(state.client, terms->options, state.time).at(place, page);
}

Result<SensorSettings> SensorRegistry::settings() const {
  STATOR_RETURN_IF_ERROR(state_->valid);
  return state_->settings.read();
}

Result<SensorSettings> SensorRegistry::change_settings(const SensorSettings& to) const {
  STATOR_RETURN_IF_ERROR(state_->valid);
  return state_->settings.change(to);
}

RecipeTable SensorRegistry::table_definition(const SensorOptions& options) {
  const SensorNames& names = options.names;
  CreateTableRequest table{
      .table = options.table,
      .attributes = {{names.partition_key, ScalarType::kS}, {names.sort_key, ScalarType::kS}},
      .key_schema = {{names.partition_key, KeyType::kHash}, {names.sort_key, KeyType::kRange}},
      .billing_mode = BillingMode::kPayPerRequest};
  const bool expires = options.retention || options.roll_up_retention;
  const std::string expiry = expires ? names.expiry : "";
  if (options.layout == SensorLayout::kLocationItems) return {std::move(table), expiry};
  KeySchema keys{{names.index_partition_key, KeyType::kHash},
                 {names.index_sort_key, KeyType::kRange}};
  if (is_multi_attribute(options)) {
    keys = {{"city", KeyType::kHash}};
    if (!options.city_shards.empty()) keys.push_back({"shard", KeyType::kHash});
    for (const char* name : {"building", "floor", "room", "id"}) {
      keys.push_back({name, KeyType::kRange});
    }
  }
  for (const KeySchemaElement& key : keys) {
    table.attributes.push_back({key.name, key.name == "shard" ? ScalarType::kN : ScalarType::kS});
  }
  table.global_indexes = {
      {.name = names.index,
       .key_schema = std::move(keys),
       .projection = {.type = ProjectionType::kKeysOnly, .non_key_attributes = {}},
       .throughput = {},
       .on_demand_throughput = {},
       .warm_throughput = {}}};
  return {std::move(table), expiry};
}

}  // namespace stator
