// SPDX-License-Identifier: Apache-2.0
// Answers about tables, from JSON.
#include <cmath>

#include "api/result_reader.h"
#include "api/table_shapes.h"
#include "api/wire.h"

namespace stator::wire {
namespace {

void set_created(Reader& reader, Json json, TableDescription& out) {
  const double seconds = reader.real(json);
  if (std::abs(seconds) < 1e15) out.created_ms = std::llround(seconds * 1000);
}

struct BillingDraft {
  BillingMode mode = BillingMode::kProvisioned;
};
constexpr Member<BillingDraft> kBillingMode[] = {{"BillingMode", set_enum<&BillingDraft::mode>}};

void set_billing_mode(Reader& reader, Json json, TableDescription& out) {
  BillingDraft draft;
  reader.members(json, kBillingMode, draft);
  out.billing_mode = draft.mode;
}

struct ClassDraft {
  std::optional<TableClass> table_class;
};
constexpr Member<ClassDraft> kTableClass[] = {{"TableClass", set_enum<&ClassDraft::table_class>}};

void set_table_class(Reader& reader, Json json, TableDescription& out) {
  ClassDraft draft;
  reader.members(json, kTableClass, draft);
  out.table_class = draft.table_class;
}

// A description holds its definition's members side by side with its own.
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

constexpr Member<IndexDescription> kIndex[] = {
    {"IndexName", set_name<&IndexDefinition::name>},
    {"KeySchema", set_key_schema},
    {"Projection", set_definition<&IndexDefinition::projection, kProjection>},
    {"IndexStatus", set_enum<&IndexDescription::status>},
    {"ProvisionedThroughput", set_definition<&IndexDefinition::throughput, kThroughput>},
    {"OnDemandThroughput", set_definition<&IndexDefinition::on_demand_throughput, kOnDemand>},
    {"WarmThroughput", set_definition<&IndexDefinition::warm_throughput, kWarmThroughput>},
    {"IndexSizeBytes", set_long<&IndexDescription::size_bytes>},
    {"ItemCount", set_long<&IndexDescription::item_count>},
    {"IndexArn", set_text<&IndexDescription::arn>},
};

using Table = TableDescription;
constexpr Member<Table> kTable[] = {
    {"TableName", set_text<&Table::table>},
    {"TableId", set_text<&Table::id>},
    {"TableArn", set_text<&Table::arn>},
    {"TableStatus", set_enum<&Table::status>},
    {"CreationDateTime", set_created},
    {"TableSizeBytes", set_long<&Table::size_bytes>},
    {"ItemCount", set_long<&Table::item_count>},
    {"AttributeDefinitions", set_list<&Table::attributes, kAttributeDefinition>},
    {"KeySchema", set_list<&Table::key_schema, kKeySchemaElement>},
    {"LocalSecondaryIndexes", set_list<&Table::local_indexes, kIndex>},
    {"GlobalSecondaryIndexes", set_list<&Table::global_indexes, kIndex>},
    {"BillingModeSummary", set_billing_mode},
    {"ProvisionedThroughput", set_structure<&Table::throughput, kThroughput>},
    {"OnDemandThroughput", set_structure<&Table::on_demand_throughput, kOnDemand>},
    {"WarmThroughput", set_structure<&Table::warm_throughput, kWarmThroughput>},
    {"TableClassSummary", set_table_class},
    {"DeletionProtectionEnabled", set_boolean<&Table::deletion_protection>},
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
Result<ListTablesResult> read_result(std::string_view json) {
  return read_answer(json, kListTablesResult);
}

}  // namespace stator::wire
