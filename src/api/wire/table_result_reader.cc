// SPDX-License-Identifier: Apache-2.0
// Reads responses about tables from JSON.
#include "api/wire/result_reader.h"
#include "api/wire/table_shapes.h"
#include "api/wire/wire.h"

namespace stator::wire {
namespace {

struct BillingDraft {
  BillingMode mode = BillingMode::kProvisioned;
  std::optional<int64_t> on_demand_since_ms;
};
constexpr Member<BillingDraft> kBillingMode[] = {
    {"BillingMode", set_enum<&BillingDraft::mode>},
    {"LastUpdateToPayPerRequestDateTime", set_time<&BillingDraft::on_demand_since_ms>},
};

void set_billing_mode(Reader& reader, Json json, TableDescription& out) {
  BillingDraft draft;
  reader.members(json, kBillingMode, draft);
  out.billing_mode = draft.mode;
  out.on_demand_since_ms = draft.on_demand_since_ms;
}

struct ClassDraft {
  std::optional<TableClass> table_class;
  std::optional<int64_t> changed_ms;
};
constexpr Member<ClassDraft> kTableClass[] = {
    {"TableClass", set_enum<&ClassDraft::table_class>},
    {"LastUpdateDateTime", set_time<&ClassDraft::changed_ms>},
};

void set_table_class(Reader& reader, Json json, TableDescription& out) {
  ClassDraft draft;
  reader.members(json, kTableClass, draft);
  out.table_class = draft.table_class;
  out.table_class_changed_ms = draft.changed_ms;
}

constexpr Member<EncryptionSpecification> kEncryptionRead[] = {
    {"SSEType", set_enum<&EncryptionSpecification::type>},
    {"KMSMasterKeyArn", set_text<&EncryptionSpecification::key_id>},
};

void set_encryption(Reader& reader, Json json, TableDescription& out) {
  EncryptionSpecification encryption{.enabled = true};
  reader.members(json, kEncryptionRead, encryption);
  out.encryption = std::move(encryption);
}

constexpr Member<ThroughputChanges> kThroughputChanges[] = {
    {"LastIncreaseDateTime", set_time<&ThroughputChanges::increased_ms>},
    {"LastDecreaseDateTime", set_time<&ThroughputChanges::decreased_ms>},
    {"NumberOfDecreasesToday", set_long<&ThroughputChanges::decreases_today>},
};

void set_throughput(Reader& reader, Json json, TableDescription& out) {
  set_structure<&TableDescription::throughput, kThroughput>(reader, json, out);
  reader.members(json, kThroughputChanges, out.throughput_changes);
}

void set_throughput(Reader& reader, Json json, IndexDescription& out) {
  set_structure<&IndexDefinition::throughput, kThroughput>(reader, json, out.definition);
  reader.members(json, kThroughputChanges, out.throughput_changes);
}

// In JSON, an index description contains the members of the index's definition.
template <auto member>
void set_name(Reader& reader, Json json, IndexDescription& out) {
  out.definition.*member = reader.text(json);
}

template <auto member, const auto& table>
void set_definition(Reader& reader, Json json, IndexDescription& out) {
  set_structure<member, table>(reader, json, out.definition);
}

void set_key_schema(Reader& reader, Json json, IndexDescription& out) {
  set_list<&IndexDefinition::key_schema, kKeySchemaElement>(reader, json, out.definition);
}

constexpr Member<IndexDescription> kIndexDescription[] = {
    {"IndexName", set_name<&IndexDefinition::name>},
    {"KeySchema", set_key_schema},
    {"Projection", set_definition<&IndexDefinition::projection, kProjection>},
    {"IndexStatus", set_enum<&IndexDescription::status>},
    {"Backfilling", set_boolean<&IndexDescription::backfilling>},
    {"ProvisionedThroughput", set_throughput},
    {"OnDemandThroughput", set_definition<&IndexDefinition::on_demand_throughput, kOnDemand>},
    {"WarmThroughput", set_definition<&IndexDefinition::warm_throughput, kWarmThroughput>},
    {"IndexSizeBytes", set_long<&IndexDescription::size_bytes>},
    {"ItemCount", set_long<&IndexDescription::item_count>},
    {"IndexArn", set_text<&IndexDescription::arn>},
};

using VectorIndex = VectorIndexDescription;

void set_vector_index_name(Reader& reader, Json json, VectorIndex& out) {
  out.definition.name = reader.text(json);
}
void set_described_attribute(Reader& reader, Json json, VectorIndex& out) {
  set_vector_attribute(reader, json, out.definition);
}
void set_search_schema(Reader& reader, Json json, VectorIndex& out) {
  set_list<&VectorIndexDefinition::search_schema, kSearchSchemaElement>(reader, json,
                                                                        out.definition);
}
void set_vector_projection(Reader& reader, Json json, VectorIndex& out) {
  set_structure<&VectorIndexDefinition::projection, kProjection>(reader, json, out.definition);
}
void set_dimensions(Reader& reader, Json json, VectorIndex& out) {
  set_long<&VectorIndexDefinition::dimensions>(reader, json, out.definition);
}
void set_distance_function(Reader& reader, Json json, VectorIndex& out) {
  set_enum<&VectorIndexDefinition::distance_function>(reader, json, out.definition);
}

constexpr Member<VectorIndex> kVectorIndexDescription[] = {
    {"IndexName", set_vector_index_name},
    {"VectorAttribute", set_described_attribute},
    {"SearchSchema", set_search_schema},
    {"Projection", set_vector_projection},
    {"Dimensions", set_dimensions},
    {"DistanceFunction", set_distance_function},
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

using Table = TableDescription;
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
    {"BillingModeSummary", set_billing_mode},
    {"ProvisionedThroughput", set_throughput},
    {"OnDemandThroughput", set_structure<&Table::on_demand_throughput, kOnDemand>},
    {"WarmThroughput", set_structure<&Table::warm_throughput, kWarmThroughput>},
    {"TableClassSummary", set_table_class},
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
void set_time_to_live(Reader& reader, Json json, DescribeTimeToLiveResult& out) {
  reader.members(json, kTimeToLiveDescription, out);
}
constexpr Member<DescribeTimeToLiveResult> kDescribeTimeToLiveResult[] = {
    {"TimeToLiveDescription", set_time_to_live},
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
