// SPDX-License-Identifier: Apache-2.0
// Writers of shapes that several requests or responses contain, as JSON members. They write nothing
// for absent members. `json` is a JsonWriter; those of tables also take a DocumentWriter.
#pragma once

#include <concepts>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json_writer.h"
#include "api/model/enums.h"
#include "stator/client.h"

namespace stator::wire {

template <std::convertible_to<std::string_view> T>
void write_text(auto& json, std::string_view key, const T& value) {
  json.key(key).text(value);
}
void write_text(auto& json, std::string_view key, const std::optional<std::string>& value) {
  if (value) write_text(json, key, *value);
}
void write_integer(auto& json, std::string_view key, int64_t value) {
  json.key(key).integer(value);
}
void write_integer(auto& json, std::string_view key, std::optional<int64_t> value) {
  if (value) write_integer(json, key, *value);
}
void write_boolean(auto& json, std::string_view key, bool value) {
  json.key(key).boolean(value);
}
void write_boolean(auto& json, std::string_view key, std::optional<bool> value) {
  if (value) write_boolean(json, key, *value);
}
void write_time(auto& json, std::string_view key, std::optional<int64_t> unix_ms) {
  if (unix_ms) json.key(key).seconds(*unix_ms);
}
inline void write_item(JsonWriter& json, std::string_view key, const Item& item) {
  json.key(key).item(item);
}
inline void write_item(JsonWriter& json, std::string_view key, const EncodedItem& item) {
  json.key(key).item(ItemView(item));
}
template <class T>
void write_item(JsonWriter& json, std::string_view key, const std::optional<T>& item) {
  if (item) write_item(json, key, *item);
}
template <class E>
void write_enum(auto& json, std::string_view key, E value) {
  write_text(json, key, enum_name(value));
}
// A parameter whose first value is its default.
template <class E>
void write_option(JsonWriter& json, std::string_view key, E value) {
  if (value != E{}) write_enum(json, key, value);
}

void write_texts(auto& json, std::string_view key, const std::vector<std::string>& values) {
  json.key(key).array(values, [&](const std::string& value) { json.text(value); });
}

void write_attribute_definitions(auto& json, const std::vector<AttributeDefinition>& list) {
  json.key("AttributeDefinitions").objects(list, [&](const AttributeDefinition& attribute) {
    write_text(json, "AttributeName", attribute.name);
    write_enum(json, "AttributeType", attribute.type);
  });
}

void write_key_schema(auto& json, const KeySchema& schema) {
  json.key("KeySchema").objects(schema, [&](const KeySchemaElement& element) {
    write_text(json, "AttributeName", element.name);
    write_enum(json, "KeyType", element.type);
  });
}

void write_projection(auto& json, const Projection& projection) {
  json.key("Projection").object([&] {
    if (projection.type != kNoProjectionType) {
      write_enum(json, "ProjectionType", projection.type);
    }
    if (!projection.non_key_attributes.empty()) {
      write_texts(json, "NonKeyAttributes", projection.non_key_attributes);
    }
  });
}

void write_vector_index(auto& json, const VectorIndexDefinition& index) {  // its members
  write_text(json, "IndexName", index.name);
  json.key("VectorAttribute").object([&] {
    write_text(json, "AttributeName", index.vector_attribute);
  });
  if (!index.search_schema.empty()) {
    json.key("SearchSchema").objects(index.search_schema, [&](const SearchSchemaElement& element) {
      write_text(json, "AttributeName", element.name);
      write_enum(json, "SearchSchemaElementType", element.type);
    });
  }
  write_projection(json, index.projection);
  write_integer(json, "Dimensions", index.dimensions);
  write_enum(json, "DistanceFunction", index.distance_function);
}

void write_stream(auto& json, const std::optional<StreamSpecification>& stream) {
  if (!stream) return;
  json.key("StreamSpecification").object([&] {
    write_boolean(json, "StreamEnabled", stream->enabled);
    if (stream->view) write_enum(json, "StreamViewType", *stream->view);
  });
}

void write_on_demand(auto& json, const std::optional<OnDemandThroughput>& throughput) {
  if (!throughput) return;
  json.key("OnDemandThroughput").object([&] {
    write_integer(json, "MaxReadRequestUnits", throughput->max_read);
    write_integer(json, "MaxWriteRequestUnits", throughput->max_write);
  });
}

void write_warm_throughput(auto& json, const std::optional<Throughput>& throughput,
                           std::optional<TableStatus> status = std::nullopt) {
  if (!throughput) return;
  json.key("WarmThroughput").object([&] {
    write_integer(json, "ReadUnitsPerSecond", throughput->read);
    write_integer(json, "WriteUnitsPerSecond", throughput->write);
    if (status) write_enum(json, "Status", *status);
  });
}

void write_names(JsonWriter& json, const std::optional<Names>& names);
void write_values(JsonWriter& json, const std::optional<Values>& values);
void write_time_to_live(JsonWriter& json, const TimeToLiveSpecification& specification);

// {"Table": {"Keys": […]}}: RequestItems in a request, UnprocessedKeys in a response.
void write_keys_by_table(JsonWriter& json,
                         const std::map<std::string, KeysAndAttributes, std::less<>>& tables);
void write_requests_by_table(
    JsonWriter& json, const std::map<std::string, std::vector<WriteRequest>, std::less<>>& tables);

}  // namespace stator::wire
