// SPDX-License-Identifier: Apache-2.0
// Writes responses about tables as JSON, and descriptions of tables also as documents.
#include "api/json/document_writer.h"
#include "api/wire/shapes_writer.h"
#include "api/wire/wire.h"

namespace stator::wire {
namespace {

void write_throughput(auto& json, const Throughput& throughput, const ThroughputChanges& changes) {
  json.key("ProvisionedThroughput").object([&] {
    write_time(json, "LastIncreaseDateTime", changes.increased_ms);
    write_time(json, "LastDecreaseDateTime", changes.decreased_ms);
    write_integer(json, "NumberOfDecreasesToday", changes.decreases_today);
    write_integer(json, "ReadCapacityUnits", throughput.read);
    write_integer(json, "WriteCapacityUnits", throughput.write);
  });
}

void write_index(auto& json, const IndexDescription& index, bool global) {  // its members
  write_text(json, "IndexName", index.definition.name);
  write_key_schema(json, index.definition.key_schema);
  write_projection(json, index.definition.projection);
  if (global) {
    write_enum(json, "IndexStatus", index.status);
    write_boolean(json, "Backfilling", index.backfilling);
    write_throughput(json, index.definition.throughput.value_or(Throughput{}),
                     index.throughput_changes);
    write_on_demand(json, index.definition.on_demand_throughput);
    write_warm_throughput(json, index.definition.warm_throughput, index.status);
  }
  write_integer(json, "IndexSizeBytes", index.size_bytes);
  write_integer(json, "ItemCount", index.item_count);
  write_text(json, "IndexArn", index.arn);
}

void write_indexes(auto& json, std::string_view key, const std::vector<IndexDescription>& indexes,
                   bool global) {
  if (indexes.empty()) return;
  json.key(key).objects(indexes,
                        [&](const IndexDescription& index) { write_index(json, index, global); });
}

void write_vector_indexes(auto& json, const std::vector<VectorIndexDescription>& indexes) {
  if (indexes.empty()) return;
  json.key("VectorIndexes").objects(indexes, [&](const VectorIndexDescription& index) {
    write_vector_index(json, index.definition);
    write_enum(json, "IndexStatus", index.status);
    write_boolean(json, "Backfilling", index.backfilling);
    write_integer(json, "IndexSizeBytes", index.size_bytes);
    write_integer(json, "ItemCount", index.item_count);
    write_text(json, "IndexArn", index.arn);
  });
}

// Writes nothing for a table that was never on demand.
void write_billing_mode(auto& json, const TableDescription& table) {
  if (table.billing_mode != BillingMode::kPayPerRequest && !table.on_demand_since_ms) return;
  json.key("BillingModeSummary").object([&] {
    write_enum(json, "BillingMode", table.billing_mode);
    write_time(json, "LastUpdateToPayPerRequestDateTime", table.on_demand_since_ms);
  });
}

void write_table_class(auto& json, const TableDescription& table) {
  if (!table.table_class) return;
  json.key("TableClassSummary").object([&] {
    write_enum(json, "TableClass", *table.table_class);
    write_time(json, "LastUpdateDateTime", table.table_class_changed_ms);
  });
}

void write_encryption(auto& json, const TableDescription& table) {
  if (!table.encryption) return;
  json.key("SSEDescription").object([&] {
    write_text(json, "Status", "ENABLED");
    write_enum(json, "SSEType", table.encryption->type.value_or(EncryptionType::kKms));
    write_text(json, "KMSMasterKeyArn", table.encryption->key_id);
  });
}

void write_restore(auto& json, const std::optional<RestoreSummary>& restore) {
  if (!restore) return;
  json.key("RestoreSummary").object([&] {
    write_text(json, "SourceBackupArn", restore->source_backup_arn);
    write_text(json, "SourceTableArn", restore->source_table_arn);
    write_time(json, "RestoreDateTime", restore->time_ms);
    write_boolean(json, "RestoreInProgress", restore->in_progress);
  });
}

// Omits empty members: a deleted table has no schema, indexes or creation time.
void write_table(auto& json, const TableDescription& table) {
  if (!table.attributes.empty()) write_attribute_definitions(json, table.attributes);
  write_text(json, "TableName", table.table);
  if (!table.key_schema.empty()) write_key_schema(json, table.key_schema);
  write_enum(json, "TableStatus", table.status);
  if (table.created_ms != 0) write_time(json, "CreationDateTime", table.created_ms);
  write_throughput(json, table.throughput, table.throughput_changes);
  write_integer(json, "TableSizeBytes", table.size_bytes);
  write_integer(json, "ItemCount", table.item_count);
  write_text(json, "TableArn", table.arn);
  write_text(json, "TableId", table.id);
  write_billing_mode(json, table);
  write_indexes(json, "LocalSecondaryIndexes", table.local_indexes, false);
  write_indexes(json, "GlobalSecondaryIndexes", table.global_indexes, true);
  write_vector_indexes(json, table.vector_indexes);
  write_table_class(json, table);
  write_encryption(json, table);
  write_stream(json, table.stream);
  write_text(json, "LatestStreamLabel", table.latest_stream_label);
  write_text(json, "LatestStreamArn", table.latest_stream_arn);
  write_restore(json, table.restore);
  write_boolean(json, "DeletionProtectionEnabled", table.deletion_protection);
  write_on_demand(json, table.on_demand_throughput);
  write_warm_throughput(json, table.warm_throughput, table.status);
}

std::string described(std::string_view key, const TableDescription& table) {
  return write_document(
      1024, [&](JsonWriter& json) { json.key(key).object([&] { write_table(json, table); }); });
}

}  // namespace

Item to_document(const TableDescription& table) {
  DocumentWriter document;
  write_table(document, table);
  return std::move(document).finish();
}

std::string to_json(const CreateTableResult& result) {
  return described("TableDescription", result.table);
}

std::string to_json(const DescribeTableResult& result) {
  return described("Table", result.table);
}

std::string to_json(const DeleteTableResult& result) {
  return described("TableDescription", result.table);
}

std::string to_json(const UpdateTableResult& result) {
  return described("TableDescription", result.table);
}

std::string to_json(const UpdateTimeToLiveResult& result) {
  return write_document([&](JsonWriter& json) { write_time_to_live(json, result.specification); });
}

std::string to_json(const DescribeTimeToLiveResult& result) {
  return write_document([&](JsonWriter& json) {
    json.key("TimeToLiveDescription").object([&] {
      write_enum(json, "TimeToLiveStatus", result.status);
      if (!result.attribute.empty()) write_text(json, "AttributeName", result.attribute);
    });
  });
}

std::string to_json(const ListTablesResult& result) {
  return write_document([&](JsonWriter& json) {
    write_texts(json, "TableNames", result.tables);
    write_text(json, "LastEvaluatedTableName", result.last_evaluated_table);
  });
}

}  // namespace stator::wire
