// SPDX-License-Identifier: Apache-2.0
// Writes requests as JSON. Parameters with default values are omitted.
#include "api/wire/shapes_writer.h"
#include "api/wire/wire.h"
#include "fmt/format.h"

namespace stator::wire {
namespace {

void write_provisioned(JsonWriter& json, const std::optional<Throughput>& throughput) {
  if (!throughput) return;
  json.key("ProvisionedThroughput").object([&] {
    write_integer(json, "ReadCapacityUnits", throughput->read);
    write_integer(json, "WriteCapacityUnits", throughput->write);
  });
}

template <class T>
void write_throughputs(JsonWriter& json, const T& request) {
  write_provisioned(json, request.throughput);
  write_on_demand(json, request.on_demand_throughput);
  write_warm_throughput(json, request.warm_throughput);
}

void write_index(JsonWriter& json, const IndexDefinition& index) {  // its members
  write_text(json, "IndexName", index.name);
  write_key_schema(json, index.key_schema);
  write_projection(json, index.projection);
  write_throughputs(json, index);
}

void write_removed_index(JsonWriter& json, const std::optional<std::string>& name) {
  if (name) json.key("Delete").object([&] { write_text(json, "IndexName", name); });
}

void write_index_change(JsonWriter& json, const GlobalIndexChange& change) {
  if (change.update) {
    json.key("Update").object([&] {
      write_text(json, "IndexName", change.update->name);
      write_throughputs(json, *change.update);
    });
  }
  if (change.create) json.key("Create").object([&] { write_index(json, *change.create); });
  write_removed_index(json, change.remove);
}

void write_vector_index_change(JsonWriter& json, const VectorIndexChange& change) {
  if (change.create) json.key("Create").object([&] { write_vector_index(json, *change.create); });
  write_removed_index(json, change.remove);
}

void write_encryption(JsonWriter& json, const std::optional<EncryptionSpecification>& encryption) {
  if (!encryption) return;
  json.key("SSESpecification").object([&] {
    write_boolean(json, "Enabled", encryption->enabled);
    if (encryption->type) write_enum(json, "SSEType", *encryption->type);
    write_text(json, "KMSMasterKeyId", encryption->key_id);
  });
}

// Objects with the members that write(json, element) adds.
template <class T>
void write_list(JsonWriter& json, std::string_view key, const std::optional<std::vector<T>>& list,
                void (*write)(JsonWriter&, const T&)) {
  if (list) json.key(key).objects(*list, [&](const T& element) { write(json, element); });
}

// The settings that CreateTable and UpdateTable share.
template <class Request>
void write_table_settings(JsonWriter& json, const Request& request) {
  if (request.billing_mode) write_enum(json, "BillingMode", *request.billing_mode);
  write_throughputs(json, request);
  if (request.table_class) write_enum(json, "TableClass", *request.table_class);
  write_boolean(json, "DeletionProtectionEnabled", request.deletion_protection);
  write_encryption(json, request.encryption);
  write_stream(json, request.stream);
}

void write_tags(JsonWriter& json, const std::vector<Tag>& tags) {
  if (tags.empty()) return;
  json.key("Tags").objects(tags, [&](const Tag& tag) {
    write_text(json, "Key", tag.key);
    write_text(json, "Value", tag.value);
  });
}

void write_replica_updates(JsonWriter& json, const std::vector<std::string>& regions) {
  if (regions.empty()) return;
  json.key("ReplicaUpdates").objects(regions, [&](const std::string& region) {
    json.key("Create").object([&] { write_text(json, "RegionName", region); });
  });
}

// Omits an empty name, as SDKs do.
void write_table(JsonWriter& json, const std::string& table) {
  if (!table.empty()) write_text(json, "TableName", table);
}

std::string table_alone(const std::string& table) {
  return write_document([&](JsonWriter& json) { write_table(json, table); });
}

// The parameters that PutItem, UpdateItem and DeleteItem share.
template <class Request>
void write_write_options(JsonWriter& json, const Request& request) {
  write_text(json, "ConditionExpression", request.condition);
  write_names(json, request.names);
  write_values(json, request.values);
  write_option(json, "ReturnValues", request.return_values);
  write_option(json, "ReturnValuesOnConditionCheckFailure", request.on_condition_failure);
  write_option(json, "ReturnConsumedCapacity", request.return_capacity);
  write_option(json, "ReturnItemCollectionMetrics", request.return_metrics);
}

// The parameters that Query and Scan share.
template <class Request>
void write_range_options(JsonWriter& json, const Request& request) {
  write_text(json, "IndexName", request.index);
  write_text(json, "FilterExpression", request.filter);
  write_text(json, "ProjectionExpression", request.projection);
  write_names(json, request.names);
  write_values(json, request.values);
  if (request.select) write_enum(json, "Select", *request.select);
  write_integer(json, "Limit", request.limit);
  if (request.consistent_read) write_boolean(json, "ConsistentRead", true);
  write_item(json, "ExclusiveStartKey", request.exclusive_start_key);
  write_option(json, "ReturnConsumedCapacity", request.return_capacity);
}

std::string_view action_name(TransactAction action) {
  constexpr std::string_view kNames[] = {"ConditionCheck", "Put", "Delete", "Update"};
  static_assert(static_cast<std::size_t>(TransactAction::kUpdate) + 1 == std::size(kNames));
  return kNames[static_cast<std::size_t>(action)];
}

void write_action(JsonWriter& json, const TransactWriteItem& action) {  // its members
  json.key(action_name(action.action)).object([&] {
    write_table(json, action.table);
    write_item(json, action.action == TransactAction::kPut ? "Item" : "Key", action.item);
    write_text(json, "UpdateExpression", action.update);
    write_text(json, "ConditionExpression", action.condition);
    write_names(json, action.names);
    write_values(json, action.values);
    write_option(json, "ReturnValuesOnConditionCheckFailure", action.on_condition_failure);
  });
}

template <class T>
void write_statement(JsonWriter& json, const T& statement) {
  write_text(json, "Statement", statement.statement);
  if (statement.parameters) {
    json.key("Parameters").array(*statement.parameters, [&](const AttributeValue& parameter) {
      json.value(parameter);
    });
  }
  write_option(json, "ReturnValuesOnConditionCheckFailure", statement.on_condition_failure);
}

}  // namespace

std::string to_json(const CreateTableRequest& request) {
  return write_document(1024, [&](JsonWriter& json) {
    write_table(json, request.table);
    write_attribute_definitions(json, request.attributes);
    write_key_schema(json, request.key_schema);
    write_list(json, "LocalSecondaryIndexes", request.local_indexes, write_index);
    write_list(json, "GlobalSecondaryIndexes", request.global_indexes, write_index);
    write_list(json, "VectorIndexes", request.vector_indexes, write_vector_index);
    write_table_settings(json, request);
    write_tags(json, request.tags);
    write_text(json, "ResourcePolicy", request.resource_policy);
  });
}

std::string to_json(const DescribeTableRequest& request) {
  return table_alone(request.table);
}

std::string to_json(const DeleteTableRequest& request) {
  return table_alone(request.table);
}

std::string to_json(const UpdateTableRequest& request) {
  return write_document(1024, [&](JsonWriter& json) {
    write_table(json, request.table);
    if (request.attributes) write_attribute_definitions(json, *request.attributes);
    write_table_settings(json, request);
    write_list(json, "GlobalSecondaryIndexUpdates", request.global_indexes, write_index_change);
    write_list(json, "VectorIndexUpdates", request.vector_indexes, write_vector_index_change);
    write_replica_updates(json, request.replica_regions);
  });
}

std::string to_json(const UpdateTimeToLiveRequest& request) {
  return write_document([&](JsonWriter& json) {
    write_table(json, request.table);
    write_time_to_live(json, request.specification);
  });
}

std::string to_json(const DescribeTimeToLiveRequest& request) {
  return table_alone(request.table);
}

std::string to_json(const ListTablesRequest& request) {
  return write_document([&](JsonWriter& json) {
    write_integer(json, "Limit", request.limit);
    write_text(json, "ExclusiveStartTableName", request.exclusive_start_table);
  });
}

std::string to_json(const PutItemRequest& request) {
  return write_document(1024, [&](JsonWriter& json) {
    write_table(json, request.table);
    write_item(json, "Item", request.item);
    write_write_options(json, request);
  });
}

std::string to_json(const GetItemRequest& request) {
  return write_document([&](JsonWriter& json) {
    write_table(json, request.table);
    write_item(json, "Key", request.key);
    if (request.consistent_read) write_boolean(json, "ConsistentRead", true);
    write_text(json, "ProjectionExpression", request.projection);
    write_names(json, request.names);
    write_option(json, "ReturnConsumedCapacity", request.return_capacity);
  });
}

std::string to_json(const UpdateItemRequest& request) {
  return write_document([&](JsonWriter& json) {
    write_table(json, request.table);
    write_item(json, "Key", request.key);
    write_text(json, "UpdateExpression", request.update);
    write_write_options(json, request);
  });
}

std::string to_json(const DeleteItemRequest& request) {
  return write_document([&](JsonWriter& json) {
    write_table(json, request.table);
    write_item(json, "Key", request.key);
    write_write_options(json, request);
  });
}

std::string to_json(const QueryRequest& request) {
  return write_document([&](JsonWriter& json) {
    write_table(json, request.table);
    write_text(json, "KeyConditionExpression", request.key_condition);
    write_range_options(json, request);
    if (!request.forward) write_boolean(json, "ScanIndexForward", false);
  });
}

std::string to_json(const ScanRequest& request) {
  return write_document([&](JsonWriter& json) {
    write_table(json, request.table);
    write_range_options(json, request);
    write_integer(json, "Segment", request.segment);
    write_integer(json, "TotalSegments", request.total_segments);
  });
}

std::string to_json(const SearchVectorsRequest& request) {
  return write_document(256 + request.vector.size() * 24, [&](JsonWriter& json) {
    write_table(json, request.table);
    write_text(json, "IndexName", request.index);
    json.key("SearchVector").objects(request.vector, [&](const float component) {
      write_text(json, "N", fmt::format("{}", component));  // the shortest decimal of this float
    });
    write_integer(json, "TopK", request.top_k);
    if (request.exact) write_boolean(json, "Exact", true);
    write_text(json, "SearchConditionExpression", request.condition);
    write_text(json, "ProjectionExpression", request.projection);
    write_names(json, request.names);
    write_values(json, request.values);
    write_option(json, "ReturnConsumedCapacity", request.return_capacity);
  });
}

std::string to_json(const BatchGetItemRequest& request) {
  return write_document(1024, [&](JsonWriter& json) {
    write_keys_by_table(json.key("RequestItems"), request.items);
    write_option(json, "ReturnConsumedCapacity", request.return_capacity);
  });
}

std::string to_json(const BatchWriteItemRequest& request) {
  return write_document(1024, [&](JsonWriter& json) {
    write_requests_by_table(json.key("RequestItems"), request.items);
    write_option(json, "ReturnConsumedCapacity", request.return_capacity);
    write_option(json, "ReturnItemCollectionMetrics", request.return_metrics);
  });
}

std::string to_json(const TransactWriteItemsRequest& request) {
  return write_document(1024, [&](JsonWriter& json) {
    json.key("TransactItems").objects(request.items, [&](const TransactWriteItem& action) {
      write_action(json, action);
    });
    write_text(json, "ClientRequestToken", request.client_request_token);
    write_option(json, "ReturnConsumedCapacity", request.return_capacity);
    write_option(json, "ReturnItemCollectionMetrics", request.return_metrics);
  });
}

std::string to_json(const ExecuteStatementRequest& request) {
  return write_document(1024, [&](JsonWriter& json) {
    write_statement(json, request);
    if (request.consistent_read) write_boolean(json, "ConsistentRead", true);
    write_text(json, "NextToken", request.next_token);
    write_integer(json, "Limit", request.limit);
    write_option(json, "ReturnConsumedCapacity", request.return_capacity);
  });
}

std::string to_json(const BatchExecuteStatementRequest& request) {
  return write_document(1024, [&](JsonWriter& json) {
    json.key("Statements").objects(request.statements, [&](const BatchStatement& statement) {
      write_statement(json, statement);
      if (statement.consistent_read) write_boolean(json, "ConsistentRead", true);
    });
    write_option(json, "ReturnConsumedCapacity", request.return_capacity);
  });
}

std::string to_json(const ExecuteTransactionRequest& request) {
  return write_document(1024, [&](JsonWriter& json) {
    json.key("TransactStatements")
        .objects(request.statements, [&](const ParameterizedStatement& statement) {
          write_statement(json, statement);
        });
    write_text(json, "ClientRequestToken", request.client_request_token);
    write_option(json, "ReturnConsumedCapacity", request.return_capacity);
  });
}

std::string to_json(const TransactGetItemsRequest& request) {
  return write_document(1024, [&](JsonWriter& json) {
    json.key("TransactItems").objects(request.items, [&](const TransactGetItem& get) {
      json.key("Get").object([&] {
        write_table(json, get.table);
        write_item(json, "Key", get.key);
        write_text(json, "ProjectionExpression", get.projection);
        write_names(json, get.names);
      });
    });
    write_option(json, "ReturnConsumedCapacity", request.return_capacity);
  });
}

}  // namespace stator::wire
