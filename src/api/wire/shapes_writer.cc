// SPDX-License-Identifier: Apache-2.0
#include "api/wire/shapes_writer.h"

namespace stator::wire {

void write_texts(JsonWriter& json, std::string_view key, const std::vector<std::string>& values) {
  json.key(key).array(values, [&](const std::string& value) { json.text(value); });
}

void write_names(JsonWriter& json, const std::optional<Names>& names) {
  if (!names) return;
  json.key("ExpressionAttributeNames").entries(*names, [&](const std::string& name) {
    json.text(name);
  });
}

void write_values(JsonWriter& json, const std::optional<Values>& values) {
  write_item(json, "ExpressionAttributeValues", values);
}

void write_attribute_definitions(JsonWriter& json, const std::vector<AttributeDefinition>& list) {
  json.key("AttributeDefinitions").objects(list, [&](const AttributeDefinition& attribute) {
    write_text(json, "AttributeName", attribute.name);
    write_enum(json, "AttributeType", attribute.type);
  });
}

void write_key_schema(JsonWriter& json, const KeySchema& schema) {
  json.key("KeySchema").objects(schema, [&](const KeySchemaElement& element) {
    write_text(json, "AttributeName", element.name);
    write_enum(json, "KeyType", element.type);
  });
}

void write_projection(JsonWriter& json, const Projection& projection) {
  json.key("Projection").object([&] {
    if (projection.type != kNoProjectionType) {
      write_enum(json, "ProjectionType", projection.type);
    }
    if (!projection.non_key_attributes.empty()) {
      write_texts(json, "NonKeyAttributes", projection.non_key_attributes);
    }
  });
}

void write_vector_index(JsonWriter& json, const VectorIndexDefinition& index) {
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

void write_stream(JsonWriter& json, const std::optional<StreamSpecification>& stream) {
  if (!stream) return;
  json.key("StreamSpecification").object([&] {
    write_boolean(json, "StreamEnabled", stream->enabled);
    if (stream->view) write_enum(json, "StreamViewType", *stream->view);
  });
}

void write_on_demand(JsonWriter& json, const std::optional<OnDemandThroughput>& throughput) {
  if (!throughput) return;
  json.key("OnDemandThroughput").object([&] {
    write_integer(json, "MaxReadRequestUnits", throughput->max_read);
    write_integer(json, "MaxWriteRequestUnits", throughput->max_write);
  });
}

void write_warm_throughput(JsonWriter& json, const std::optional<Throughput>& throughput,
                           std::optional<TableStatus> status) {
  if (!throughput) return;
  json.key("WarmThroughput").object([&] {
    write_integer(json, "ReadUnitsPerSecond", throughput->read);
    write_integer(json, "WriteUnitsPerSecond", throughput->write);
    if (status) write_enum(json, "Status", *status);
  });
}

void write_time_to_live(JsonWriter& json, const TimeToLiveSpecification& specification) {
  json.key("TimeToLiveSpecification").object([&] {
    write_boolean(json, "Enabled", specification.enabled);
    write_text(json, "AttributeName", specification.attribute);
  });
}

void write_keys_by_table(JsonWriter& json,
                         const std::map<std::string, KeysAndAttributes, std::less<>>& tables) {
  json.entries(tables, [&](const KeysAndAttributes& keys) {
    json.object([&] {
      json.key("Keys").array(keys.keys, [&](const Item& key) { json.item(key); });
      if (keys.consistent_read) write_boolean(json, "ConsistentRead", true);
      write_text(json, "ProjectionExpression", keys.projection);
      write_names(json, keys.names);
    });
  });
}

void write_requests_by_table(
    JsonWriter& json, const std::map<std::string, std::vector<WriteRequest>, std::less<>>& tables) {
  json.entries(tables, [&](const std::vector<WriteRequest>& requests) {
    json.objects(requests, [&](const WriteRequest& request) {
      if (request.put) {
        json.key("PutRequest").object([&] { write_item(json, "Item", request.put); });
      }
      if (request.delete_key) {
        json.key("DeleteRequest").object([&] { write_item(json, "Key", request.delete_key); });
      }
    });
  });
}

}  // namespace stator::wire
