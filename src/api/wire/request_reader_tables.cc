// SPDX-License-Identifier: Apache-2.0
#include "api/model/messages.h"
#include "api/wire/request_reader.h"
#include "api/wire/table_shapes.h"

namespace stator::wire {
namespace {

void set_non_key_attributes(Reader& reader, Json json, Projection& out) {
  const std::string path = reader.path();
  out.non_key_attributes = reader.texts(json);
  if (out.non_key_attributes.empty() && !reader.failed()) {
    reader.constraints().count(0, path, 1, SIZE_MAX);
  }
}

constexpr Member<Projection> kGivenProjection[] = {
    {"ProjectionType", set_enum<&Projection::type>},
    {"NonKeyAttributes", set_non_key_attributes},
};

template <class Index>
void set_projection(Reader& reader, Json json, Index& out) {
  out.projection = {.type = kNoProjectionType};
  reader.members(json, kGivenProjection, out.projection);
}

constexpr Member<IndexDefinition> kIndex[] = {
    {"IndexName", set_text<&IndexDefinition::name>, true},
    {"KeySchema", set_list<&IndexDefinition::key_schema, kKeySchemaElement>, true},
    {"Projection", set_projection, true},
    {"ProvisionedThroughput", set_structure<&IndexDefinition::throughput, kThroughput>},
    {"OnDemandThroughput", set_structure<&IndexDefinition::on_demand_throughput, kOnDemand>},
    {"WarmThroughput", set_structure<&IndexDefinition::warm_throughput, kWarmThroughput>},
};

void set_search_schema(Reader& reader, Json json, VectorIndexDefinition& out) {
  const std::string path = reader.path();
  set_list<&VectorIndexDefinition::search_schema, kSearchSchemaElement>(reader, json, out);
  if (out.search_schema.empty() && !reader.failed()) {
    reader.constraints().count(0, path, 1, SIZE_MAX);
  }
}

constexpr Member<VectorIndexDefinition> kVectorIndex[] = {
    {"IndexName", set_text<&VectorIndexDefinition::name>, true},
    {"VectorAttribute", set_members<kVectorAttribute>, true},
    {"SearchSchema", set_search_schema},
    {"Projection", set_projection, true},
    {"Dimensions", set_long<&VectorIndexDefinition::dimensions>, true},
    {"DistanceFunction", set_enum<&VectorIndexDefinition::distance_function>, true},
};

constexpr Member<EncryptionSpecification> kEncryption[] = {
    {"Enabled", set_boolean<&EncryptionSpecification::enabled>},
    {"SSEType", set_enum<&EncryptionSpecification::type>},
    {"KMSMasterKeyId", set_text<&EncryptionSpecification::key_id>},
};

struct TagDraft {
  std::optional<std::string> key;
  std::optional<std::string> value;
};
constexpr Member<TagDraft> kTag[] = {
    {"Key", set_text<&TagDraft::key>},
    {"Value", set_text<&TagDraft::value>},
};

using Create = CreateTableRequest;

// Absent members are errors of values, not of the model.
void set_tags(Reader& reader, Json json, Create& out) {
  reader.elements(json, [&](Json element) {
    TagDraft tag;
    reader.members(element, kTag, tag);
    if (!tag.key) reader.fail(Code::kValidation, messages::kNullTagKey);
    if (!tag.value) reader.fail(Code::kValidation, messages::kNullTagValue);
    out.tags.push_back({.key = tag.key.value_or("null"), .value = tag.value.value_or("null")});
  });
}

constexpr Member<Create> kCreateTable[] = {
    {"TableName", set_managed_table<&Create::table>},
    {"AttributeDefinitions", set_list<&Create::attributes, kAttributeDefinition>, true},
    {"KeySchema", set_list<&Create::key_schema, kKeySchemaElement>, true},
    {"GlobalSecondaryIndexes", set_list<&Create::global_indexes, kIndex>},
    {"LocalSecondaryIndexes", set_list<&Create::local_indexes, kIndex>},
    {"BillingMode", set_enum<&Create::billing_mode>},
    {"ProvisionedThroughput", set_structure<&Create::throughput, kThroughput>},
    {"OnDemandThroughput", set_structure<&Create::on_demand_throughput, kOnDemand>},
    {"WarmThroughput", set_structure<&Create::warm_throughput, kWarmThroughput>},
    {"TableClass", set_enum<&Create::table_class>},
    {"DeletionProtectionEnabled", set_boolean<&Create::deletion_protection>},
    {"Tags", set_tags},
    {"StreamSpecification", set_structure<&Create::stream, kStream>},
    {"SSESpecification", set_structure<&Create::encryption, kEncryption>},
    {"ResourcePolicy", set_text<&Create::resource_policy>},
    {"VectorIndexes", set_list<&Create::vector_indexes, kVectorIndex>},
    {"GlobalTableSourceArn", refuse},
    {"GlobalTableSettingsReplicationMode", refuse},
};

constexpr Member<DescribeTableRequest> kDescribeTable[] = {
    {"TableName", set_managed_table<&DescribeTableRequest::table>},
};

constexpr Member<DeleteTableRequest> kDeleteTable[] = {
    {"TableName", set_managed_table<&DeleteTableRequest::table>},
};

// ---- UpdateTable

using Change = UpdateTableRequest;

struct Replica {
  std::string region;
};
constexpr Member<Replica> kReplica[] = {{"RegionName", set_text<&Replica::region>, true}};

constexpr Member<Replica> kReplicaUpdate[] = {
    {"Create", set_members<kReplica>},
    {"Update", set_members<kReplica>},
    {"Delete", set_members<kReplica>},
    {"Disassociate", refuse},
};

void set_replicas(Reader& reader, Json json, Change& out) {
  reader.elements(json, [&](Json element) {
    Replica replica;
    reader.members(element, kReplicaUpdate, replica);
    out.replica_regions.push_back(std::move(replica.region));
  });
}

constexpr Member<GlobalIndexUpdate> kIndexUpdate[] = {
    {"IndexName", set_text<&GlobalIndexUpdate::name>, true},
    {"ProvisionedThroughput", set_structure<&GlobalIndexUpdate::throughput, kThroughput>},
    {"OnDemandThroughput", set_structure<&GlobalIndexUpdate::on_demand_throughput, kOnDemand>},
    {"WarmThroughput", set_structure<&GlobalIndexUpdate::warm_throughput, kWarmThroughput>},
};

struct IndexName {
  std::string name;
};
constexpr Member<IndexName> kIndexName[] = {{"IndexName", set_text<&IndexName::name>, true}};

template <class IndexChange>
void set_removed(Reader& reader, Json json, IndexChange& out) {
  IndexName index;
  reader.members(json, kIndexName, index);
  out.remove = std::move(index.name);
}

constexpr Member<GlobalIndexChange> kIndexChange[] = {
    {"Update", set_structure<&GlobalIndexChange::update, kIndexUpdate>},
    {"Create", set_structure<&GlobalIndexChange::create, kIndex>},
    {"Delete", set_removed},
};
constexpr Member<VectorIndexChange> kVectorIndexChange[] = {
    {"Create", set_structure<&VectorIndexChange::create, kVectorIndex>},
    {"Delete", set_removed},
};

constexpr Member<Change> kUpdateTable[] = {
    {"TableName", set_managed_table<&Change::table>},
    {"AttributeDefinitions", set_list<&Change::attributes, kAttributeDefinition>},
    {"BillingMode", set_enum<&Change::billing_mode>},
    {"ProvisionedThroughput", set_structure<&Change::throughput, kThroughput>},
    {"OnDemandThroughput", set_structure<&Change::on_demand_throughput, kOnDemand>},
    {"WarmThroughput", set_structure<&Change::warm_throughput, kWarmThroughput>},
    {"TableClass", set_enum<&Change::table_class>},
    {"DeletionProtectionEnabled", set_boolean<&Change::deletion_protection>},
    {"GlobalSecondaryIndexUpdates", set_list<&Change::global_indexes, kIndexChange>},
    {"StreamSpecification", set_structure<&Change::stream, kStream>},
    {"SSESpecification", set_structure<&Change::encryption, kEncryption>},
    {"ReplicaUpdates", set_replicas},
    {"VectorIndexUpdates", set_list<&Change::vector_indexes, kVectorIndexChange>},
    {"MultiRegionConsistency", refuse},
    {"GlobalTableWitnessUpdates", refuse},
    {"GlobalTableSettingsReplicationMode", refuse},
    {"DisassociationProtectionEnabled", refuse},
};

using SetTimeToLive = UpdateTimeToLiveRequest;
constexpr Member<SetTimeToLive> kUpdateTimeToLive[] = {
    {"TableName", set_managed_table<&SetTimeToLive::table>},
    {"TimeToLiveSpecification", set_structure<&SetTimeToLive::specification, kTimeToLive>, true},
};

constexpr Member<DescribeTimeToLiveRequest> kDescribeTimeToLive[] = {
    {"TableName", set_managed_table<&DescribeTimeToLiveRequest::table>},
};

constexpr Member<ListTablesRequest> kListTables[] = {
    {"ExclusiveStartTableName", set_text<&ListTablesRequest::exclusive_start_table>},
    {"Limit", set_integer<&ListTablesRequest::limit>},
};

}  // namespace

template <>
Result<CreateTableRequest> read_request(std::string_view json) {
  return read_document(json, kCreateTable);
}

template <>
Result<DescribeTableRequest> read_request(std::string_view json) {
  return read_document(json, kDescribeTable);
}

template <>
Result<DeleteTableRequest> read_request(std::string_view json) {
  return read_document(json, kDeleteTable);
}

template <>
Result<UpdateTableRequest> read_request(std::string_view json) {
  return read_document(json, kUpdateTable);
}

template <>
Result<UpdateTimeToLiveRequest> read_request(std::string_view json) {
  return read_document(json, kUpdateTimeToLive);
}

template <>
Result<DescribeTimeToLiveRequest> read_request(std::string_view json) {
  return read_document(json, kDescribeTimeToLive);
}

template <>
Result<ListTablesRequest> read_request(std::string_view json) {
  return read_document(json, kListTables);
}

}  // namespace stator::wire
