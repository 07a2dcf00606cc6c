// SPDX-License-Identifier: Apache-2.0
// Reads responses about tables from JSON.
#include "api/wire/result_reader.h"
#include "api/wire/table_shapes.h"
#include "api/wire/wire.h"

namespace stator::wire {
namespace {

using Table = TableDescription;
constexpr Member<Table> kBillingMode[] = {
    {"BillingMode", set_enum<&Table::billing_mode>},
    {"LastUpdateToPayPerRequestDateTime", set_time<&Table::on_demand_since_ms>},
};
constexpr Member<Table> kTableClass[] = {
    {"TableClass", set_enum<&Table::table_class>},
    {"LastUpdateDateTime", set_time<&Table::table_class_changed_ms>},
};

constexpr Member<EncryptionSpecification> kEncryptionRead[] = {
    {"SSEType", set_enum<&EncryptionSpecification::type>},
    {"KMSMasterKeyArn", set_text<&EncryptionSpecification::key_id>},
};

void set_encryption(Reader& reader, Json json, Table& out) {
  EncryptionSpecification encryption{.enabled = true};
  reader.members(json, kEncryptionRead, encryption);
  out.encryption = std::move(encryption);
}

constexpr Member<ThroughputChanges> kThroughputChanges[] = {
    {"LastIncreaseDateTime", set_time<&ThroughputChanges::increased_ms>},
    {"LastDecreaseDateTime", set_time<&ThroughputChanges::decreased_ms>},
    {"NumberOfDecreasesToday", set_long<&ThroughputChanges::decreases_today>},
};

void set_throughput(Reader& reader, Json json, Table& out) {
  set_structure<&Table::throughput, kThroughput>(reader, json, out);
  reader.members(json, kThroughputChanges, out.throughput_changes);
}

void set_throughput(Reader& reader, Json json, IndexDescription& out) {
  set_structure<&IndexDefinition::throughput, kThroughput>(reader, json, out.definition);
  reader.members(json, kThroughputChanges, out.throughput_changes);
}

// In JSON, the description of an index contains the members of its definition.
template <class Index, void (*set)(Reader&, Json, decltype(Index::definition)&)>
void of_definition(Reader& reader, Json json, Index& out) {
  set(reader, json, out.definition);
}

using Index = IndexDescription;
constexpr Member<Index> kIndexDescription[] = {
    {"IndexName", of_definition<Index, set_text<&IndexDefinition::name>>},
    {"KeySchema", of_definition<Index, set_list<&IndexDefinition::key_schema, kKeySchemaElement>>},
    {"Projection", of_definition<Index, set_structure<&IndexDefinition::projection, kProjection>>},
    {"IndexStatus", set_enum<&Index::status>},
    {"Backfilling", set_boolean<&Index::backfilling>},
    {"ProvisionedThroughput", set_throughput},
    {"OnDemandThroughput",
     of_definition<Index, set_structure<&IndexDefinition::on_demand_throughput, kOnDemand>>},
    {"WarmThroughput",
     of_definition<Index, set_structure<&IndexDefinition::warm_throughput, kWarmThroughput>>},
    {"IndexSizeBytes", set_long<&Index::size_bytes>},
    {"ItemCount", set_long<&Index::item_count>},
    {"IndexArn", set_text<&Index::arn>},
};

using VectorIndex = VectorIndexDescription;
using Vectors = VectorIndexDefinition;
constexpr Member<VectorIndex> kVectorIndexDescription[] = {
    {"IndexName", of_definition<VectorIndex, set_text<&Vectors::name>>},
    {"VectorAttribute", of_definition<VectorIndex, set_members<kVectorAttribute>>},
    {"SearchSchema",
     of_definition<VectorIndex, set_list<&Vectors::search_schema, kSearchSchemaElement>>},
    {"Projection", of_definition<VectorIndex, set_structure<&Vectors::projection, kProjection>>},
    {"Dimensions", of_definition<VectorIndex, set_long<&Vectors::dimensions>>},
    {"DistanceFunction", of_definition<VectorIndex, set_enum<&Vectors::distance_function>>},
    {"IndexStatus", set_enum<&VectorIndex::status>},
    {"Backfilling", set_boolean<&VectorIndex::backfilling>},
    {"IndexSizeBytes", set_long<&VectorIndex::size_bytes>},
    {"ItemCount", set_long<&VectorIndex::item_count>},
    {"IndexArn", set_text<&VectorIndex::arn>},
};

constexpr Member<RestoreSummary> kRestore[] = {
    {"SourceBackupArn", set_text<&RestoreSummary::source_backup_arn>},
    {"SourceTableArn", set_text<&RestoreSummary::source_table_arn>},
    {"RestoreDateTime", set_time<&RestoreSummary::time_ms>},
    {"RestoreInProgress", set_boolean<&RestoreSummary::in_progress>},
};

constexpr Member<Table> kTable[] = {
    {"TableName", set_text<&Table::table>},
    {"TableId", set_text<&Table::id>},
    {"TableArn", set_text<&Table::arn>},
    {"TableStatus", set_enum<&Table::status>},
    {"CreationDateTime", set_time<&Table::created_ms>},
    {"TableSizeBytes", set_long<&Table::size_bytes>},
    {"ItemCount", set_long<&Table::item_count>},
    {"AttributeDefinitions", set_list<&Table::attributes, kAttributeDefinition>},
    {"KeySchema", set_list<&Table::key_schema, kKeySchemaElement>},
    {"LocalSecondaryIndexes", set_list<&Table::local_indexes, kIndexDescription>},
    {"GlobalSecondaryIndexes", set_list<&Table::global_indexes, kIndexDescription>},
    {"VectorIndexes", set_list<&Table::vector_indexes, kVectorIndexDescription>},
    {"BillingModeSummary", set_members<kBillingMode>},
    {"ProvisionedThroughput", set_throughput},
    {"OnDemandThroughput", set_structure<&Table::on_demand_throughput, kOnDemand>},
    {"WarmThroughput", set_structure<&Table::warm_throughput, kWarmThroughput>},
    {"TableClassSummary", set_members<kTableClass>},
    {"DeletionProtectionEnabled", set_boolean<&Table::deletion_protection>},
    {"SSEDescription", set_encryption},
    {"StreamSpecification", set_structure<&Table::stream, kStream>},
    {"LatestStreamArn", set_text<&Table::latest_stream_arn>},
    {"LatestStreamLabel", set_text<&Table::latest_stream_label>},
    {"RestoreSummary", set_structure<&Table::restore, kRestore>},
};

constexpr Member<CreateTableResult> kCreateTableResult[] = {
    {"TableDescription", set_structure<&CreateTableResult::table, kTable>},
};
constexpr Member<DescribeTableResult> kDescribeTableResult[] = {
    {"Table", set_structure<&DescribeTableResult::table, kTable>},
};
constexpr Member<DeleteTableResult> kDeleteTableResult[] = {
    {"TableDescription", set_structure<&DeleteTableResult::table, kTable>},
};
constexpr Member<UpdateTableResult> kUpdateTableResult[] = {
    {"TableDescription", set_structure<&UpdateTableResult::table, kTable>},
};
constexpr Member<UpdateTimeToLiveResult> kUpdateTimeToLiveResult[] = {
    {"TimeToLiveSpecification", set_structure<&UpdateTimeToLiveResult::specification, kTimeToLive>},
};
constexpr Member<DescribeTimeToLiveResult> kTimeToLiveDescription[] = {
    {"TimeToLiveStatus", set_enum<&DescribeTimeToLiveResult::status>},
    {"AttributeName", set_text<&DescribeTimeToLiveResult::attribute>},
};
constexpr Member<DescribeTimeToLiveResult> kDescribeTimeToLiveResult[] = {
    {"TimeToLiveDescription", set_members<kTimeToLiveDescription>},
};
constexpr Member<ListTablesResult> kListTablesResult[] = {
    {"TableNames", set_texts<&ListTablesResult::tables>},
    {"LastEvaluatedTableName", set_text<&ListTablesResult::last_evaluated_table>},
};

}  // namespace

template <>
Result<CreateTableResult> read_result(std::string_view json) {
  return read_answer(json, kCreateTableResult);
}
template <>
Result<DescribeTableResult> read_result(std::string_view json) {
  return read_answer(json, kDescribeTableResult);
}
template <>
Result<DeleteTableResult> read_result(std::string_view json) {
  return read_answer(json, kDeleteTableResult);
}
template <>
Result<UpdateTableResult> read_result(std::string_view json) {
  return read_answer(json, kUpdateTableResult);
}
template <>
Result<UpdateTimeToLiveResult> read_result(std::string_view json) {
  return read_answer(json, kUpdateTimeToLiveResult);
}
template <>
Result<DescribeTimeToLiveResult> read_result(std::string_view json) {
  return read_answer(json, kDescribeTimeToLiveResult);
}
template <>
Result<ListTablesResult> read_result(std::string_view json) {
  return read_answer(json, kListTablesResult);
}

}  // namespace stator::wire
