// SPDX-License-Identifier: Apache-2.0
// Writes requests as JSON. Parameters with default values are omitted.
#include "api/wire/shapes_writer.h"
#include "api/wire/wire.h"
#include "fmt/format.h"

namespace stator::wire {
namespace {

void write_provisioned(JsonWriter& json, const std::optional<Throughput>& throughput) {
  if (!throughput) return;
  json.key("ProvisionedThroughput");
  json.begin_object();
  write_integer(json, "ReadCapacityUnits", throughput->read);
  write_integer(json, "WriteCapacityUnits", throughput->write);
  json.end_object();
}

void write_warm(JsonWriter& json, const std::optional<Throughput>& throughput) {
  if (!throughput) return;
  json.key("WarmThroughput");
  json.begin_object();
  write_integer(json, "ReadUnitsPerSecond", throughput->read);
  write_integer(json, "WriteUnitsPerSecond", throughput->write);
  json.end_object();
}

void write_index(JsonWriter& json, const IndexDefinition& index) {
  json.begin_object();
  write_text(json, "IndexName", index.name);
  write_key_schema(json, index.key_schema);
  write_projection(json, index.projection);
  write_provisioned(json, index.throughput);
  write_on_demand(json, index.on_demand_throughput);
  write_warm(json, index.warm_throughput);
  json.end_object();
}

void write_indexes(JsonWriter& json, std::string_view key,
                   const std::optional<std::vector<IndexDefinition>>& indexes) {
  if (!indexes) return;
  json.key(key);
  json.begin_array();
  for (const IndexDefinition& index : *indexes) write_index(json, index);
  json.end_array();
}

void write_vector_definition(JsonWriter& json, const VectorIndexDefinition& index) {
  json.begin_object();
  write_vector_index(json, index);
  json.end_object();
}

void write_vector_index_change(JsonWriter& json, const VectorIndexChange& change) {
  json.begin_object();
  if (change.create) {
    json.key("Create");
    write_vector_definition(json, *change.create);
  }
  if (change.remove) {
    json.key("Delete");
    json.begin_object();
    write_text(json, "IndexName", *change.remove);
    json.end_object();
  }
  json.end_object();
}

void write_encryption(JsonWriter& json, const std::optional<EncryptionSpecification>& encryption) {
  if (!encryption) return;
  json.key("SSESpecification");
  json.begin_object();
  if (encryption->enabled) write_boolean(json, "Enabled", *encryption->enabled);
  if (encryption->type) write_enum(json, "SSEType", *encryption->type);
  write_text(json, "KMSMasterKeyId", encryption->key_id);
  json.end_object();
}

void write_index_change(JsonWriter& json, const GlobalIndexChange& change) {
  json.begin_object();
  if (change.update) {
    json.key("Update");
    json.begin_object();
    write_text(json, "IndexName", change.update->name);
    write_provisioned(json, change.update->throughput);
    write_on_demand(json, change.update->on_demand_throughput);
    write_warm(json, change.update->warm_throughput);
    json.end_object();
  }
  if (change.create) {
    json.key("Create");
    write_index(json, *change.create);
  }
  if (change.remove) {
    json.key("Delete");
    json.begin_object();
    write_text(json, "IndexName", *change.remove);
    json.end_object();
  }
  json.end_object();
}

// The settings that CreateTable and UpdateTable share.
template <class Request>
void write_table_settings(JsonWriter& json, const Request& request) {
  if (request.billing_mode) write_enum(json, "BillingMode", *request.billing_mode);
  write_provisioned(json, request.throughput);
  write_on_demand(json, request.on_demand_throughput);
  write_warm(json, request.warm_throughput);
  if (request.table_class) write_enum(json, "TableClass", *request.table_class);
  if (request.deletion_protection) {
    write_boolean(json, "DeletionProtectionEnabled", *request.deletion_protection);
  }
  write_encryption(json, request.encryption);
  write_stream(json, request.stream);
}

void write_tags(JsonWriter& json, const std::vector<Tag>& tags) {
  if (tags.empty()) return;
  json.key("Tags");
  json.begin_array();
  for (const Tag& tag : tags) {
    json.begin_object();
    write_text(json, "Key", tag.key);
    write_text(json, "Value", tag.value);
    json.end_object();
  }
  json.end_array();
}

void write_replica_updates(JsonWriter& json, const std::vector<std::string>& regions) {
  if (regions.empty()) return;
  json.key("ReplicaUpdates");
  json.begin_array();
  for (const std::string& region : regions) {
    json.begin_object();
    json.key("Create");
    json.begin_object();
    write_text(json, "RegionName", region);
    json.end_object();
    json.end_object();
  }
  json.end_array();
}

// Omits an empty name, as SDKs do.
void write_table(JsonWriter& json, const std::string& table) {
  if (!table.empty()) write_text(json, "TableName", table);
}

std::string table_alone(const std::string& table) {
  JsonWriter json;
  json.begin_object();
  write_table(json, table);
  json.end_object();
  return std::move(json).finish();
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
  switch (action) {
    case TransactAction::kConditionCheck:
      return "ConditionCheck";
    case TransactAction::kPut:
      return "Put";
    case TransactAction::kDelete:
      return "Delete";
    case TransactAction::kUpdate:
      return "Update";
  }
  return "Put";
}

void write_action(JsonWriter& json, const TransactWriteItem& action) {
  json.begin_object();
  json.key(action_name(action.action));
  json.begin_object();
  write_table(json, action.table);
  write_item(json, action.action == TransactAction::kPut ? "Item" : "Key", action.item);
  write_text(json, "UpdateExpression", action.update);
  write_text(json, "ConditionExpression", action.condition);
  write_names(json, action.names);
  write_values(json, action.values);
  write_option(json, "ReturnValuesOnConditionCheckFailure", action.on_condition_failure);
  json.end_object();
  json.end_object();
}

template <class T>
void write_statement(JsonWriter& json, const T& statement) {
  write_text(json, "Statement", statement.statement);
  if (statement.parameters) {
    json.key("Parameters");
    json.begin_array();
    for (const AttributeValue& parameter : *statement.parameters) json.value(parameter);
    json.end_array();
  }
  write_option(json, "ReturnValuesOnConditionCheckFailure", statement.on_condition_failure);
}

void write_consistent_read(JsonWriter& json, bool consistent_read) {
  if (consistent_read) write_boolean(json, "ConsistentRead", true);
}

}  // namespace

std::string to_json(const CreateTableRequest& request) {
  JsonWriter json(1024);
  json.begin_object();
  write_table(json, request.table);
  write_attribute_definitions(json, request.attributes);
  write_key_schema(json, request.key_schema);
  write_indexes(json, "LocalSecondaryIndexes", request.local_indexes);
  write_indexes(json, "GlobalSecondaryIndexes", request.global_indexes);
  if (request.vector_indexes) {
    json.key("VectorIndexes");
    json.begin_array();
    for (const VectorIndexDefinition& index : *request.vector_indexes) {
      write_vector_definition(json, index);
    }
    json.end_array();
  }
  write_table_settings(json, request);
  write_tags(json, request.tags);
  write_text(json, "ResourcePolicy", request.resource_policy);
  json.end_object();
  return std::move(json).finish();
}

std::string to_json(const DescribeTableRequest& request) {
  return table_alone(request.table);
}

std::string to_json(const DeleteTableRequest& request) {
  return table_alone(request.table);
}

std::string to_json(const UpdateTableRequest& request) {
  JsonWriter json(1024);
  json.begin_object();
  write_table(json, request.table);
  if (request.attributes) write_attribute_definitions(json, *request.attributes);
  write_table_settings(json, request);
  if (request.global_indexes) {
    json.key("GlobalSecondaryIndexUpdates");
    json.begin_array();
    for (const GlobalIndexChange& change : *request.global_indexes) {
      write_index_change(json, change);
    }
    json.end_array();
  }
  if (request.vector_indexes) {
    json.key("VectorIndexUpdates");
    json.begin_array();
    for (const VectorIndexChange& change : *request.vector_indexes) {
      write_vector_index_change(json, change);
    }
    json.end_array();
  }
  write_replica_updates(json, request.replica_regions);
  json.end_object();
  return std::move(json).finish();
}

std::string to_json(const UpdateTimeToLiveRequest& request) {
  JsonWriter json;
  json.begin_object();
  write_table(json, request.table);
  write_time_to_live(json, request.specification);
  json.end_object();
  return std::move(json).finish();
}

std::string to_json(const DescribeTimeToLiveRequest& request) {
  return table_alone(request.table);
}

std::string to_json(const ListTablesRequest& request) {
  JsonWriter json;
  json.begin_object();
  write_integer(json, "Limit", request.limit);
  write_text(json, "ExclusiveStartTableName", request.exclusive_start_table);
  json.end_object();
  return std::move(json).finish();
}

std::string to_json(const PutItemRequest& request) {
  JsonWriter json(1024);
  json.begin_object();
  write_table(json, request.table);
  write_item(json, "Item", request.item);
  write_write_options(json, request);
  json.end_object();
  return std::move(json).finish();
}

std::string to_json(const GetItemRequest& request) {
  JsonWriter json;
  json.begin_object();
  write_table(json, request.table);
  write_item(json, "Key", request.key);
  if (request.consistent_read) write_boolean(json, "ConsistentRead", true);
  write_text(json, "ProjectionExpression", request.projection);
  write_names(json, request.names);
  write_option(json, "ReturnConsumedCapacity", request.return_capacity);
  json.end_object();
  return std::move(json).finish();
}

std::string to_json(const UpdateItemRequest& request) {
  JsonWriter json;
  json.begin_object();
  write_table(json, request.table);
  write_item(json, "Key", request.key);
  write_text(json, "UpdateExpression", request.update);
  write_write_options(json, request);
  json.end_object();
  return std::move(json).finish();
}

std::string to_json(const DeleteItemRequest& request) {
  JsonWriter json;
  json.begin_object();
  write_table(json, request.table);
  write_item(json, "Key", request.key);
  write_write_options(json, request);
  json.end_object();
  return std::move(json).finish();
}

std::string to_json(const QueryRequest& request) {
  JsonWriter json;
  json.begin_object();
  write_table(json, request.table);
  write_text(json, "KeyConditionExpression", request.key_condition);
  write_range_options(json, request);
  if (!request.forward) write_boolean(json, "ScanIndexForward", false);
  json.end_object();
  return std::move(json).finish();
}

std::string to_json(const ScanRequest& request) {
  JsonWriter json;
  json.begin_object();
  write_table(json, request.table);
  write_range_options(json, request);
  write_integer(json, "Segment", request.segment);
  write_integer(json, "TotalSegments", request.total_segments);
  json.end_object();
  return std::move(json).finish();
}

std::string to_json(const SearchVectorsRequest& request) {
  JsonWriter json(256 + request.vector.size() * 24);
  json.begin_object();
  write_table(json, request.table);
  write_text(json, "IndexName", request.index);
  json.key("SearchVector");
  json.begin_array();
  for (const float component : request.vector) {
    json.begin_object();
    write_text(json, "N", fmt::format("{}", component));  // the shortest decimal of this float
    json.end_object();
  }
  json.end_array();
  write_integer(json, "TopK", request.top_k);
  if (request.exact) write_boolean(json, "Exact", true);
  write_text(json, "SearchConditionExpression", request.condition);
  write_text(json, "ProjectionExpression", request.projection);
  write_names(json, request.names);
  write_values(json, request.values);
  write_option(json, "ReturnConsumedCapacity", request.return_capacity);
  json.end_object();
  return std::move(json).finish();
}

std::string to_json(const BatchGetItemRequest& request) {
  JsonWriter json(1024);
  json.begin_object();
  json.key("RequestItems");
  write_keys_by_table(json, request.items);
  write_option(json, "ReturnConsumedCapacity", request.return_capacity);
  json.end_object();
  return std::move(json).finish();
}

std::string to_json(const BatchWriteItemRequest& request) {
  JsonWriter json(1024);
  json.begin_object();
  json.key("RequestItems");
  write_requests_by_table(json, request.items);
  write_option(json, "ReturnConsumedCapacity", request.return_capacity);
  write_option(json, "ReturnItemCollectionMetrics", request.return_metrics);
  json.end_object();
  return std::move(json).finish();
}

std::string to_json(const TransactWriteItemsRequest& request) {
  JsonWriter json(1024);
  json.begin_object();
  json.key("TransactItems");
  json.begin_array();
  for (const TransactWriteItem& action : request.items) write_action(json, action);
  json.end_array();
  write_text(json, "ClientRequestToken", request.client_request_token);
  write_option(json, "ReturnConsumedCapacity", request.return_capacity);
  write_option(json, "ReturnItemCollectionMetrics", request.return_metrics);
  json.end_object();
  return std::move(json).finish();
}

std::string to_json(const ExecuteStatementRequest& request) {
  JsonWriter json(1024);
  json.begin_object();
  write_statement(json, request);
  write_consistent_read(json, request.consistent_read);
  write_text(json, "NextToken", request.next_token);
  write_integer(json, "Limit", request.limit);
  write_option(json, "ReturnConsumedCapacity", request.return_capacity);
  json.end_object();
  return std::move(json).finish();
}

std::string to_json(const BatchExecuteStatementRequest& request) {
  JsonWriter json(1024);
  json.begin_object();
  json.key("Statements");
  json.begin_array();
  for (const BatchStatement& statement : request.statements) {
    json.begin_object();
    write_statement(json, statement);
    write_consistent_read(json, statement.consistent_read);
    json.end_object();
  }
  json.end_array();
  write_option(json, "ReturnConsumedCapacity", request.return_capacity);
  json.end_object();
  return std::move(json).finish();
}

std::string to_json(const ExecuteTransactionRequest& request) {
  JsonWriter json(1024);
  json.begin_object();
  json.key("TransactStatements");
  json.begin_array();
  for (const ParameterizedStatement& statement : request.statements) {
    json.begin_object();
    write_statement(json, statement);
    json.end_object();
  }
  json.end_array();
  write_text(json, "ClientRequestToken", request.client_request_token);
  write_option(json, "ReturnConsumedCapacity", request.return_capacity);
  json.end_object();
  return std::move(json).finish();
}

std::string to_json(const TransactGetItemsRequest& request) {
  JsonWriter json(1024);
  json.begin_object();
  json.key("TransactItems");
  json.begin_array();
  for (const TransactGetItem& get : request.items) {
    json.begin_object();
    json.key("Get");
    json.begin_object();
    write_table(json, get.table);
    write_item(json, "Key", get.key);
    write_text(json, "ProjectionExpression", get.projection);
    write_names(json, get.names);
    json.end_object();
    json.end_object();
  }
  json.end_array();
  write_option(json, "ReturnConsumedCapacity", request.return_capacity);
  json.end_object();
  return std::move(json).finish();
}

}  // namespace stator::wire
