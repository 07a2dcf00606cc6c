// SPDX-License-Identifier: Apache-2.0
#include "api/wire/shapes_writer.h"

namespace stator::wire {

void write_names(JsonWriter& json, const std::optional<Names>& names) {
  if (!names) return;
  json.key("ExpressionAttributeNames").entries(*names, [&](const std::string& name) {
    json.text(name);
  });
}

void write_values(JsonWriter& json, const std::optional<Values>& values) {
  write_item(json, "ExpressionAttributeValues", values);
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
