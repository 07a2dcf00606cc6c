// SPDX-License-Identifier: Apache-2.0
// Queries each shard for a page from the end of the last page, and merges the results by place. An
// entry's position is its place and its sensor's id. These determine the start key of a page in
// every shard, so a cursor needs only one position for any number of shards.
#include "recipes/sensors/sensor_places.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "recipes/common/cursor.h"
#include "recipes/common/keys.h"
#include "recipes/common/requests.h"
#include "recipes/sensors/sensor_items.h"

namespace stator::recipes {
namespace {

// kMultiAttribute: building, floor, room, id. Otherwise the joined place, and the id.
using Position = std::vector<std::string>;

const char* kind_of(const SensorOptions& options) {
  if (options.layout == SensorLayout::kLocationItems) return "items";
  return is_multi_attribute(options) ? "attributes" : "composed";
}

QueryRequest query_of_attributes(const SensorOptions& options, const Location& place, int shard) {
  QueryRequest request{.table = options.table, .index = options.names.index};
  request.key_condition = "#city = :city";
  request.names = Names{{"#city", "city"}};
  request.values = Values{{":city", place.city}};
  const auto add = [&](const std::string& attribute, const AttributeValue& value) {
    *request.key_condition += " AND #" + attribute + " = :" + attribute;
    request.names->emplace("#" + attribute, attribute);
    request.values->emplace(":" + attribute, value);
  };
  if (!options.city_shards.empty()) add("shard", shard);
  if (!place.building.empty()) add("building", place.building);
  if (!place.floor.empty()) add("floor", place.floor);
  if (!place.room.empty()) add("room", place.room);
  // The index also contains sensors of the table's other registries, whose attributes have the same
  // names.
  request.filter = "begins_with(#pk, :mine)";
  request.names->emplace("#pk", options.names.partition_key);
  request.values->emplace(":mine", options.names.sensor_prefix);
  return request;
}

QueryRequest query_of(const SensorOptions& options, const Location& place, int shard) {
  if (is_multi_attribute(options)) return query_of_attributes(options, place, shard);
  const bool items = options.layout == SensorLayout::kLocationItems;
  QueryRequest request{.table = options.table,
                       .key_condition = "#city = :city AND begins_with(#place, :place)",
                       .consistent_read = items};
  if (!items) request.index = options.names.index;
  request.names =
      Names{{"#city", items ? options.names.partition_key : options.names.index_partition_key},
            {"#place", items ? options.names.sort_key : options.names.index_sort_key}};
  request.values = Values{{":city", city_partition(options, place.city, shard)},
                          {":place", place_prefix(place)}};
  return request;
}

Item start_key(const SensorOptions& options, const Location& place, int shard,
               const Position& position) {
  const std::string city = city_partition(options, place.city, shard);
  if (options.layout == SensorLayout::kLocationItems) return key_of(options, city, position[0]);
  Item key = info_key(options, SensorId{position.back()});
  if (!is_multi_attribute(options)) {
    key.emplace(options.names.index_partition_key, city);
    key.emplace(options.names.index_sort_key, position[0]);
    return key;
  }
  key.emplace("city", place.city);
  if (!options.city_shards.empty()) key.emplace("shard", shard);
  key.emplace("building", position[0]);
  key.emplace("floor", position[1]);
  key.emplace("room", position[2]);
  key.emplace("id", position[3]);
  return key;
}

CursorSeal seal_of(const SensorOptions& options, const Location& place) {
  return {.key = options.cursor_key,
          .question = {"sensors at", options.table, kind_of(options),
                       city_partition(options, place.city, 0), place_prefix(place)}};
}

std::optional<Position> position_of(const SensorOptions& options, const Item& entry) {
  if (is_multi_attribute(options)) {
    Position position;
    for (const char* name : {"building", "floor", "room", "id"}) {
      const std::string* text = text_in(entry, name);
      if (text == nullptr) return std::nullopt;
      position.push_back(*text);
    }
    return position;
  }
  const bool items = options.layout == SensorLayout::kLocationItems;
  const std::string* place =
      text_in(entry, items ? options.names.sort_key : options.names.index_sort_key);
  if (place == nullptr) return std::nullopt;
  if (!items) {
    const auto id = id_of_partition(options, entry);
    return id ? std::optional(Position{*place, id->text}) : std::nullopt;
  }
  const std::string* id = text_in(entry, "id");
  return id != nullptr ? std::optional(Position{*place, *id}) : std::nullopt;
}

}  // namespace

Result<Position> SensorPlaces::start_of(const Location& place, const PageOptions& page) const {
  if (page.cursor.empty()) return Position();
  return read_cursor(seal_of(options_, place), page.cursor, is_multi_attribute(options_) ? 4 : 2);
}

Result<Page<SensorId>> SensorPlaces::at(const Location& place, const PageOptions& page) const {
  STATOR_ASSIGN_OR_RETURN(const Position start, start_of(place, page));
  const auto wanted = static_cast<std::size_t>(page.limit) + 1;
  std::vector<Position> found;
  const int shards = shards_of(options_, place.city);
  for (int shard = 0; shard < shards; ++shard) {
    QueryRequest request = query_of(options_, place, shard);
    if (!start.empty()) request.exclusive_start_key = start_key(options_, place, shard, start);
    STATOR_ASSIGN_OR_RETURN(
        const std::vector<Item> entries,
        query_items(client_, options_.retry, time_, std::move(request), wanted));
    std::vector<Position> part;
    part.reserve(entries.size());
    for (const Item& entry : entries) {
      auto position = position_of(options_, entry);
      if (!position) return foreign_item();
      part.push_back(*std::move(position));
    }
    // The first shard has nothing to merge with.
    std::vector<Position> merged;
    merged.reserve(found.size() + part.size());
    std::ranges::merge(found, part, std::back_inserter(merged));
    found = shard == 0 ? std::move(part) : std::move(merged);
    if (found.size() > wanted) found.resize(wanted);
  }
  Page<SensorId> result;
  const bool more = found.size() == wanted;
  if (more) found.pop_back();
  for (const Position& position : found) result.items.push_back({position.back()});
  if (more) result.next = make_cursor(seal_of(options_, place), found.back());
  return result;
}

}  // namespace stator::recipes
