// SPDX-License-Identifier: Apache-2.0
// Answers about tables, as JSON.
#include "api/shapes_writer.h"
#include "api/wire.h"

namespace stator::wire {
namespace {

void write_throughput(JsonWriter& json, const Throughput& throughput) {
  json.key("ProvisionedThroughput");
  json.begin_object();
  write_integer(json, "NumberOfDecreasesToday", 0);
  write_integer(json, "ReadCapacityUnits", throughput.read);
  write_integer(json, "WriteCapacityUnits", throughput.write);
  json.end_object();
}

void write_warm_throughput(JsonWriter& json, const std::optional<Throughput>& throughput) {
  if (!throughput) return;
  json.key("WarmThroughput");
  json.begin_object();
  write_integer(json, "ReadUnitsPerSecond", throughput->read);
  write_integer(json, "WriteUnitsPerSecond", throughput->write);
  write_text(json, "Status", "ACTIVE");
  json.end_object();
}

void write_index(JsonWriter& json, const IndexDescription& index, bool global) {
  json.begin_object();
  write_text(json, "IndexName", index.definition.name);
  write_key_schema(json, index.definition.key_schema);
  write_projection(json, index.definition.projection);
  if (global) {
    write_enum(json, "IndexStatus", index.status);
    write_throughput(json, index.definition.throughput.value_or(Throughput{}));
    write_on_demand(json, index.definition.on_demand_throughput);
    write_warm_throughput(json, index.definition.warm_throughput);
  }
  write_integer(json, "IndexSizeBytes", index.size_bytes);
  write_integer(json, "ItemCount", index.item_count);
  write_text(json, "IndexArn", index.arn);
  json.end_object();
}

void write_indexes(JsonWriter& json, std::string_view key,
                   const std::vector<IndexDescription>& indexes, bool global) {
  if (indexes.empty()) return;
  json.key(key);
  json.begin_array();
  for (const IndexDescription& index : indexes) write_index(json, index, global);
  json.end_array();
}

void write_billing_mode(JsonWriter& json, const TableDescription& table) {
  if (table.billing_mode != BillingMode::kPayPerRequest) return;
  json.key("BillingModeSummary");
  json.begin_object();
  write_enum(json, "BillingMode", table.billing_mode);
  json.key("LastUpdateToPayPerRequestDateTime");
  json.seconds(table.created_ms);
  json.end_object();
}

void write_table(JsonWriter& json, const TableDescription& table) {
  json.begin_object();
  write_attribute_definitions(json, table.attributes);
  write_text(json, "TableName", table.table);
  write_key_schema(json, table.key_schema);
  write_enum(json, "TableStatus", table.status);
  json.key("CreationDateTime");
  json.seconds(table.created_ms);
  write_throughput(json, table.throughput);
  write_integer(json, "TableSizeBytes", table.size_bytes);
  write_integer(json, "ItemCount", table.item_count);
  write_text(json, "TableArn", table.arn);
  write_text(json, "TableId", table.id);
  write_billing_mode(json, table);
  write_indexes(json, "LocalSecondaryIndexes", table.local_indexes, false);
  write_indexes(json, "GlobalSecondaryIndexes", table.global_indexes, true);
  if (table.table_class) {
    json.key("TableClassSummary");
    json.begin_object();
    write_enum(json, "TableClass", *table.table_class);
    json.end_object();
  }
  write_boolean(json, "DeletionProtectionEnabled", table.deletion_protection);
  write_on_demand(json, table.on_demand_throughput);
  write_warm_throughput(json, table.warm_throughput);
  json.end_object();
}

std::string described(std::string_view key, const TableDescription& table) {
  JsonWriter json(1024);
  json.begin_object();
  json.key(key);
  write_table(json, table);
  json.end_object();
  return std::move(json).finish();
}

}  // namespace

std::string to_json(const CreateTableResult& result) {
  return described("TableDescription", result.table);
}

std::string to_json(const DescribeTableResult& result) {
  return described("Table", result.table);
}

std::string to_json(const DeleteTableResult& result) {
  return described("TableDescription", result.table);
}

std::string to_json(const ListTablesResult& result) {
  JsonWriter json;
  json.begin_object();
  write_texts(json, "TableNames", result.tables);
  write_text(json, "LastEvaluatedTableName", result.last_evaluated_table);
  json.end_object();
  return std::move(json).finish();
}

}  // namespace stator::wire
