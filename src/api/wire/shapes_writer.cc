// SPDX-License-Identifier: Apache-2.0
#include "api/wire/shapes_writer.h"

namespace stator::wire {

void write_texts(JsonWriter& json, std::string_view key, const std::vector<std::string>& values) {
  json.key(key);
  json.begin_array();
  for (const std::string& value : values) json.text(value);
  json.end_array();
}

void write_names(JsonWriter& json, const std::optional<Names>& names) {
  if (!names) return;
  json.key("ExpressionAttributeNames");
  json.begin_object();
  for (const auto& [placeholder, name] : *names) {
    json.user_key(placeholder);
    json.text(name);
  }
  json.end_object();
}

void write_values(JsonWriter& json, const std::optional<Values>& values) {
  if (values) write_item(json, "ExpressionAttributeValues", *values);
}

void write_attribute_definitions(JsonWriter& json, const std::vector<AttributeDefinition>& list) {
  json.key("AttributeDefinitions");
  json.begin_array();
  for (const AttributeDefinition& attribute : list) {
    json.begin_object();
    write_text(json, "AttributeName", attribute.name);
    write_enum(json, "AttributeType", attribute.type);
    json.end_object();
  }
  json.end_array();
}

void write_key_schema(JsonWriter& json, const KeySchema& schema) {
  json.key("KeySchema");
  json.begin_array();
  for (const KeySchemaElement& element : schema) {
    json.begin_object();
    write_text(json, "AttributeName", element.name);
    write_enum(json, "KeyType", element.type);
    json.end_object();
  }
  json.end_array();
}

void write_projection(JsonWriter& json, const Projection& projection) {
  json.key("Projection");
  json.begin_object();
  write_enum(json, "ProjectionType", projection.type);
  if (!projection.non_key_attributes.empty()) {
    write_texts(json, "NonKeyAttributes", projection.non_key_attributes);
  }
  json.end_object();
}

void write_vector_index(JsonWriter& json, const VectorIndexDefinition& index) {
  write_text(json, "IndexName", index.name);
  json.key("VectorAttribute");
  json.begin_object();
  write_text(json, "AttributeName", index.vector_attribute);
  json.end_object();
  if (!index.search_schema.empty()) {
    json.key("SearchSchema");
    json.begin_array();
    for (const SearchSchemaElement& element : index.search_schema) {
      json.begin_object();
      write_text(json, "AttributeName", element.name);
      write_enum(json, "SearchSchemaElementType", element.type);
      json.end_object();
    }
    json.end_array();
  }
  write_projection(json, index.projection);
  write_integer(json, "Dimensions", index.dimensions);
  write_enum(json, "DistanceFunction", index.distance_function);
}

void write_stream(JsonWriter& json, const std::optional<StreamSpecification>& stream) {
  if (!stream) return;
  json.key("StreamSpecification");
  json.begin_object();
  write_boolean(json, "StreamEnabled", stream->enabled);
  if (stream->view) write_enum(json, "StreamViewType", *stream->view);
  json.end_object();
}

void write_on_demand(JsonWriter& json, const std::optional<OnDemandThroughput>& throughput) {
  if (!throughput) return;
  json.key("OnDemandThroughput");
  json.begin_object();
  write_integer(json, "MaxReadRequestUnits", throughput->max_read);
  write_integer(json, "MaxWriteRequestUnits", throughput->max_write);
  json.end_object();
}

void write_time_to_live(JsonWriter& json, const TimeToLiveSpecification& specification) {
  json.key("TimeToLiveSpecification");
  json.begin_object();
  write_boolean(json, "Enabled", specification.enabled);
  write_text(json, "AttributeName", specification.attribute);
  json.end_object();
}

void write_keys_by_table(JsonWriter& json,
                         const std::map<std::string, KeysAndAttributes, std::less<>>& tables) {
  json.begin_object();
  for (const auto& [table, keys] : tables) {
    json.user_key(table);
    json.begin_object();
    json.key("Keys");
    json.begin_array();
    for (const Item& key : keys.keys) json.item(key);
    json.end_array();
    if (keys.consistent_read) write_boolean(json, "ConsistentRead", true);
    write_text(json, "ProjectionExpression", keys.projection);
    write_names(json, keys.names);
    json.end_object();
  }
  json.end_object();
}

void write_requests_by_table(
    JsonWriter& json, const std::map<std::string, std::vector<WriteRequest>, std::less<>>& tables) {
  json.begin_object();
  for (const auto& [table, requests] : tables) {
    json.user_key(table);
    json.begin_array();
    for (const WriteRequest& request : requests) {
      json.begin_object();
      if (request.put) {
        json.key("PutRequest");
        json.begin_object();
        write_item(json, "Item", *request.put);
        json.end_object();
      }
      if (request.delete_key) {
        json.key("DeleteRequest");
        json.begin_object();
        write_item(json, "Key", *request.delete_key);
        json.end_object();
      }
      json.end_object();
    }
    json.end_array();
  }
  json.end_object();
}

}  // namespace stator::wire
