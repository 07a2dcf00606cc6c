// SPDX-License-Identifier: Apache-2.0
#include "stator/recipes/sensors.h"

#include <utility>

#include "base/random.h"
#include "recipes/cursor.h"
#include "recipes/keys.h"
#include "recipes/requests.h"
#include "recipes/sensor_items.h"
#include "recipes/sensor_writes.h"

namespace stator {

using namespace recipes;

namespace {

Failure foreign_item() {
  return fail(Code::kConflict, "the table holds an item here that is no sensor's");
}

Failure not_registered(const SensorId& id) {
  return fail(Code::kNotFound, "no sensor " + id.text + " is registered");
}

// A refused registration is our own when the stored item has our request's nonce: an earlier
// attempt of it was applied and its reply lost.
bool is_own(const Item* stored, const std::string& nonce) {
  const std::string* theirs = stored != nullptr ? text_in(*stored, "nonce") : nullptr;
  return theirs != nullptr && *theirs == nonce;
}

std::string index_names(const SensorOptions& options) {
  if (options.layout == SensorLayout::kLocationItems) return "items";
  return options.location_keys == LocationKeys::kComposed ? "composed" : "attributes";
}

// The question of `at`, whichever way places are kept.
QueryRequest place_query(const SensorOptions& options, const Location& place) {
  QueryRequest request{.table = options.table};
  if (options.layout == SensorLayout::kIndexed) request.index = kByLocation;
  if (options.layout == SensorLayout::kIndexed &&
      options.location_keys == LocationKeys::kMultiAttribute) {
    request.key_condition = "#city = :city";
    request.names = Names{{"#city", "city"}};
    request.values = Values{{":city", place.city}};
    const auto add = [&](const std::string& attribute, const std::string& name) {
      if (name.empty()) return;
      *request.key_condition += " AND #" + attribute + " = :" + attribute;
      request.names->emplace("#" + attribute, attribute);
      request.values->emplace(":" + attribute, name);
    };
    add("building", place.building);
    add("floor", place.floor);
    add("room", place.room);
    return request;
  }
  const bool items = options.layout == SensorLayout::kLocationItems;
  request.key_condition = items ? "pk = :city AND begins_with(sk, :place)"
                                : "gsi_pk = :city AND begins_with(gsi_sk, :place)";
  request.values = Values{{":city", city_partition(place.city)}, {":place", place_prefix(place)}};
  request.consistent_read = items;
  return request;
}

// The key of a sensor's entry, which pages of `at` begin after: made from the sensor itself, so a
// cursor is its id and place.
Item place_start(const SensorOptions& options, const Sensor& sensor) {
  if (options.layout == SensorLayout::kLocationItems) {
    Item key = location_item(sensor);
    key.erase("id");
    return key;
  }
  Item key = info_item(sensor, options);
  key.erase("type");
  if (options.location_keys == LocationKeys::kComposed) {
    for (const char* name : {"id", "city", "building", "floor", "room"}) key.erase(name);
  }
  return key;
}

// The sensor's id and place from an entry of the index or a location item.
std::optional<Sensor> entry_of(const SensorOptions& options, const Location& asked,
                               const Item& entry) {
  if (options.layout == SensorLayout::kIndexed &&
      options.location_keys == LocationKeys::kMultiAttribute) {
    return sensor_of(entry);
  }
  const bool items = options.layout == SensorLayout::kLocationItems;
  const std::string* key = text_in(entry, items ? "sk" : "gsi_sk");
  if (key == nullptr || !key->ends_with('#')) return std::nullopt;
  std::vector<std::string> names;
  for (std::size_t from = 0; from < key->size();) {
    const std::size_t end = key->find('#', from);
    auto name = unescape(std::string_view(*key).substr(from, end - from));
    if (!name) return std::nullopt;
    names.push_back(*std::move(name));
    from = end + 1;
  }
  if (names.size() != 5) return std::nullopt;  // LOCATION, building, floor, room, id
  return Sensor{
      .id = {names[4]},
      .location = {.city = asked.city, .building = names[1], .floor = names[2], .room = names[3]},
      .type = {}};
}

}  // namespace

struct SensorRegistry::State {
  Client& client;
  SensorOptions options;
  TimeSource& time;

  Result<void> add_with_location_item(const Sensor& sensor, Item info) const {
    const std::string nonce = *text_in(info, "nonce");
    const TransactWriteItemsRequest request{
        .items = {{.action = TransactAction::kPut,
                   .table = options.table,
                   .item = std::move(info),
                   .condition = "attribute_not_exists(pk)",
                   .on_condition_failure = ReturnValuesOnConditionCheckFailure::kAllOld},
                  {.action = TransactAction::kPut,
                   .table = options.table,
                   .item = location_item(sensor)}}};
    auto written =
        with_retries(options.retry, time, [&] { return client.transact_write_items(request); });
    if (written) return {};
    // Of all that can cancel it, this alone means that the sensor exists.
    if (!condition_failed_at(written.error(), 0)) return failure_of(std::move(written));
    const auto& stored = reason_at(written.error(), 0)->item;
    if (is_own(stored ? &*stored : nullptr, nonce)) return {};
    return fail(Code::kAlreadyExists, "sensor " + sensor.id.text + " is already registered");
  }

  Result<void> add_indexed(const Sensor& sensor, Item info) const {
    const std::string nonce = *text_in(info, "nonce");
    const PutItemRequest put{.table = options.table,
                             .item = std::move(info),
                             .condition = "attribute_not_exists(pk)",
                             .on_condition_failure = ReturnValuesOnConditionCheckFailure::kAllOld};
    auto written = with_retries(options.retry, time, [&] { return client.put_item(put); });
    if (written) return {};
    if (written.error().code != Code::kConditionalCheckFailed) {
      return failure_of(std::move(written));
    }
    if (is_own(item_in(written.error()), nonce)) return {};
    return fail(Code::kAlreadyExists, "sensor " + sensor.id.text + " is already registered");
  }
};

SensorRegistry::SensorRegistry(Client& client, SensorOptions options) {
  TimeSource& time = options.time != nullptr ? *options.time : system_time();
  state_ = std::make_shared<const State>(State{client, std::move(options), time});
}

Result<void> SensorRegistry::add(const Sensor& sensor) const {
  STATOR_CHECK_OK(check_table(state_->options.table));
  STATOR_CHECK_OK(check_sensor(sensor));
  Item info = info_item(sensor, state_->options);
  info.emplace("nonce", random_uuid());
  return state_->options.layout == SensorLayout::kLocationItems
             ? state_->add_with_location_item(sensor, std::move(info))
             : state_->add_indexed(sensor, std::move(info));
}

Result<Sensor> SensorRegistry::get(const SensorId& id) const {
  STATOR_CHECK_OK(check_table(state_->options.table));
  STATOR_CHECK_OK(check_sensor_id(id));
  const GetItemRequest get{
      .table = state_->options.table, .key = info_key(id), .consistent_read = true};
  STATOR_TRY(const GetItemResult found, with_retries(state_->options.retry, state_->time,
                                                     [&] { return state_->client.get_item(get); }));
  if (!found.item) return not_registered(id);
  auto sensor = sensor_of(*found.item);
  if (!sensor) return foreign_item();
  return *std::move(sensor);
}

Result<Recorded> SensorRegistry::record(std::span<const Reading> readings, Check check) const {
  const State& state = *state_;
  STATOR_CHECK_OK(check_table(state.options.table));
  if (state.options.retention && state.options.retention->count() < 0) {
    return invalid("retention", "must not be negative");
  }
  const Time now = state.time.now();
  for (const Reading& reading : readings) {
    STATOR_CHECK_OK(check_reading(reading, state.options, now));
  }
  const SensorWrites writes(state.client, state.options, state.time);
  return writes.record(readings, check);
}

Result<SensorReadings> SensorRegistry::latest(const SensorId& id, int count) const {
  const State& state = *state_;
  STATOR_CHECK_OK(check_table(state.options.table));
  STATOR_CHECK_OK(check_sensor_id(id));
  STATOR_CHECK_OK(check_limit("count", count));
  QueryRequest request{.table = state.options.table,
                       .key_condition = "pk = :pk AND sk <= :info",
                       .values = Values{{":pk", sensor_partition(id)}, {":info", kInfoKey}},
                       .forward = false,
                       .consistent_read = true};
  STATOR_TRY(const std::vector<Item> found,
             query_items(state.client, state.options.retry, state.time, std::move(request),
                         static_cast<std::size_t>(count) + 1));
  // A sensor's own item sorts after its readings: without it the first item is a reading.
  if (found.empty() || found[0].find("sk")->second != AttributeValue(kInfoKey)) {
    return not_registered(id);
  }
  auto sensor = sensor_of(found[0]);
  if (!sensor) return foreign_item();
  SensorReadings answer{.sensor = *std::move(sensor), .readings = {}};
  for (std::size_t i = 1; i < found.size(); ++i) {
    auto reading = reading_of(id, found[i]);
    if (!reading) return foreign_item();
    answer.readings.push_back(*std::move(reading));
  }
  return answer;
}

Result<Page<Reading>> SensorRegistry::readings(const SensorId& id, const TimeRange& range,
                                               const PageOptions& page) const {
  const State& state = *state_;
  STATOR_CHECK_OK(check_table(state.options.table));
  STATOR_CHECK_OK(check_sensor_id(id));
  STATOR_CHECK_OK(check_range(range));
  STATOR_CHECK_OK(check_limit("limit", page.limit));
  const std::string pk = sensor_partition(id);
  // BETWEEN includes its bounds: the last reading before `to` is a nanosecond earlier at most.
  const std::string first = range.from ? reading_key(*range.from) : "READ#";
  const Time first_time = Time(std::chrono::sys_seconds(std::chrono::seconds(Time::kMinSeconds)));
  if (range.to && *range.to <= range.from.value_or(first_time)) return Page<Reading>();
  const std::string last =
      range.to ? reading_key(*range.to - std::chrono::nanoseconds(1)) : "READ$";
  const CursorSeal seal{.key = state.options.cursor_key,
                        .question = {"readings", state.options.table, pk, first, last,
                                     page.newest_first ? "new" : "old"}};
  QueryRequest request{.table = state.options.table,
                       .key_condition = "pk = :pk AND sk BETWEEN :first AND :last",
                       .values = Values{{":pk", pk}, {":first", first}, {":last", last}},
                       .forward = !page.newest_first,
                       .consistent_read = true};
  if (!page.cursor.empty()) {
    STATOR_TRY(const std::vector<std::string> parts, read_cursor(seal, page.cursor, 1));
    request.exclusive_start_key = Item{{"pk", pk}, {"sk", parts[0]}};
  }
  STATOR_TRY(const ItemPage found, query_page(state.client, state.options.retry, state.time,
                                              std::move(request), page.limit));
  Page<Reading> answer;
  for (const Item& item : found.items) {
    auto reading = reading_of(id, item);
    if (!reading) return foreign_item();
    answer.items.push_back(*std::move(reading));
  }
  if (found.more) answer.next = make_cursor(seal, {*text_in(found.items.back(), "sk")});
  return answer;
}

Result<Page<SensorId>> SensorRegistry::at(const Location& place, const PageOptions& page) const {
  const State& state = *state_;
  const SensorOptions& options = state.options;
  STATOR_CHECK_OK(check_table(options.table));
  STATOR_CHECK_OK(check_place(place));
  STATOR_CHECK_OK(check_limit("limit", page.limit));
  const CursorSeal seal{.key = options.cursor_key,
                        .question = {"sensors at", options.table, index_names(options),
                                     city_partition(place.city), place_prefix(place)}};
  QueryRequest request = place_query(options, place);
  if (!page.cursor.empty()) {
    STATOR_TRY(const std::vector<std::string> parts, read_cursor(seal, page.cursor, 4));
    const Sensor last{
        .id = {parts[3]},
        .location = {.city = place.city, .building = parts[0], .floor = parts[1], .room = parts[2]},
        .type = {}};
    request.exclusive_start_key = place_start(options, last);
  }
  STATOR_TRY(const ItemPage found,
             query_page(state.client, options.retry, state.time, std::move(request), page.limit));
  Page<SensorId> answer;
  std::optional<Sensor> last;
  for (const Item& item : found.items) {
    last = entry_of(options, place, item);
    if (!last) return foreign_item();
    answer.items.push_back(last->id);
  }
  if (found.more && last) {
    answer.next = make_cursor(
        seal, {last->location.building, last->location.floor, last->location.room, last->id.text});
  }
  return answer;
}

CreateTableRequest SensorRegistry::table_definition(const SensorOptions& options) {
  CreateTableRequest table{.table = options.table,
                           .attributes = {{"pk", ScalarType::kS}, {"sk", ScalarType::kS}},
                           .key_schema = {{"pk", KeyType::kHash}, {"sk", KeyType::kRange}},
                           .billing_mode = BillingMode::kPayPerRequest};
  if (options.layout == SensorLayout::kLocationItems) return table;
  KeySchema keys{{"gsi_pk", KeyType::kHash}, {"gsi_sk", KeyType::kRange}};
  if (options.location_keys == LocationKeys::kMultiAttribute) {
    keys = {{"city", KeyType::kHash},
            {"building", KeyType::kRange},
            {"floor", KeyType::kRange},
            {"room", KeyType::kRange},
            {"id", KeyType::kRange}};
  }
  for (const KeySchemaElement& key : keys) table.attributes.push_back({key.name, ScalarType::kS});
  table.global_indexes = {
      {.name = kByLocation,
       .key_schema = std::move(keys),
       .projection = {.type = ProjectionType::kKeysOnly, .non_key_attributes = {}},
       .throughput = {},
       .on_demand_throughput = {},
       .warm_throughput = {}}};
  return table;
}

}  // namespace stator
