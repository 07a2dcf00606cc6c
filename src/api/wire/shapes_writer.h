// SPDX-License-Identifier: Apache-2.0
// Writers of shapes that several requests or responses contain, as JSON members. They write nothing
// for absent members.
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
void write_text(JsonWriter& json, std::string_view key, const T& value) {
  json.key(key).text(value);
}
inline void write_text(JsonWriter& json, std::string_view key,
                       const std::optional<std::string>& value) {
  if (value) write_text(json, key, *value);
}
inline void write_integer(JsonWriter& json, std::string_view key, int64_t value) {
  json.key(key).integer(value);
}
inline void write_integer(JsonWriter& json, std::string_view key, std::optional<int64_t> value) {
  if (value) write_integer(json, key, *value);
}
inline void write_boolean(JsonWriter& json, std::string_view key, bool value) {
  json.key(key).boolean(value);
}
inline void write_boolean(JsonWriter& json, std::string_view key, std::optional<bool> value) {
  if (value) write_boolean(json, key, *value);
}
inline void write_time(JsonWriter& json, std::string_view key, std::optional<int64_t> unix_ms) {
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
void write_enum(JsonWriter& json, std::string_view key, E value) {
  write_text(json, key, enum_name(value));
}
// A parameter whose first value is its default.
template <class E>
void write_option(JsonWriter& json, std::string_view key, E value) {
  if (value != E{}) write_enum(json, key, value);
}

void write_texts(JsonWriter& json, std::string_view key, const std::vector<std::string>& values);
void write_names(JsonWriter& json, const std::optional<Names>& names);
void write_values(JsonWriter& json, const std::optional<Values>& values);
void write_attribute_definitions(JsonWriter& json, const std::vector<AttributeDefinition>& list);
void write_key_schema(JsonWriter& json, const KeySchema& schema);
void write_projection(JsonWriter& json, const Projection& projection);
void write_vector_index(JsonWriter& json, const VectorIndexDefinition& index);  // its members
void write_stream(JsonWriter& json, const std::optional<StreamSpecification>& stream);
void write_on_demand(JsonWriter& json, const std::optional<OnDemandThroughput>& throughput);
void write_warm_throughput(JsonWriter& json, const std::optional<Throughput>& throughput,
                           std::optional<TableStatus> status = std::nullopt);
void write_time_to_live(JsonWriter& json, const TimeToLiveSpecification& specification);

// {"Table": {"Keys": […]}}: RequestItems in a request, UnprocessedKeys in a response.
void write_keys_by_table(JsonWriter& json,
                         const std::map<std::string, KeysAndAttributes, std::less<>>& tables);
void write_requests_by_table(
    JsonWriter& json, const std::map<std::string, std::vector<WriteRequest>, std::less<>>& tables);

}  // namespace stator::wire
