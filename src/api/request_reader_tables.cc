// SPDX-License-Identifier: Apache-2.0
#include "api/messages.h"
#include "api/request_reader.h"
#include "api/table_shapes.h"
#include "fmt/format.h"

namespace stator::wire {
namespace {

// A feature that this version lacks: refused where it is asked for, rather than dropped silently.
void refuse(Reader& reader, std::string_view parameter) {
  reader.fail(Code::kValidation, fmt::format(messages::kNotSupported, parameter));
}

void refuse_source(Reader& reader, Json, CreateTableRequest&) {
  refuse(reader, "GlobalTableSourceArn");
}

constexpr Member<IndexDefinition> kIndex[] = {
    {"IndexName", set_text<&IndexDefinition::name>, true},
    {"KeySchema", set_list<&IndexDefinition::key_schema, kKeySchemaElement>, true},
    {"Projection", set_structure<&IndexDefinition::projection, kProjection>, true},
    {"ProvisionedThroughput", set_structure<&IndexDefinition::throughput, kThroughput>},
    {"OnDemandThroughput", set_structure<&IndexDefinition::on_demand_throughput, kOnDemand>},
    {"WarmThroughput", set_structure<&IndexDefinition::warm_throughput, kWarmThroughput>},
};

constexpr Member<EncryptionSpecification> kEncryption[] = {
    {"Enabled", set_boolean<&EncryptionSpecification::enabled>},
    {"SSEType", set_enum<&EncryptionSpecification::type>},
    {"KMSMasterKeyId", set_text<&EncryptionSpecification::key_id>},
};

constexpr Member<Tag> kTag[] = {
    {"Key", set_text<&Tag::key>, true},
    {"Value", set_text<&Tag::value>, true},
};

using Create = CreateTableRequest;
constexpr Member<Create> kCreateTable[] = {
    {"TableName", set_table<&Create::table>},
    {"AttributeDefinitions", set_list<&Create::attributes, kAttributeDefinition>, true},
    {"KeySchema", set_list<&Create::key_schema, kKeySchemaElement>, true},
    {"LocalSecondaryIndexes", set_list<&Create::local_indexes, kIndex>},
    {"GlobalSecondaryIndexes", set_list<&Create::global_indexes, kIndex>},
    {"BillingMode", set_enum<&Create::billing_mode>},
    {"ProvisionedThroughput", set_structure<&Create::throughput, kThroughput>},
    {"OnDemandThroughput", set_structure<&Create::on_demand_throughput, kOnDemand>},
    {"WarmThroughput", set_structure<&Create::warm_throughput, kWarmThroughput>},
    {"TableClass", set_enum<&Create::table_class>},
    {"DeletionProtectionEnabled", set_boolean<&Create::deletion_protection>},
    {"Tags", set_list<&Create::tags, kTag>},
    {"StreamSpecification", set_structure<&Create::stream, kStream>},
    {"SSESpecification", set_structure<&Create::encryption, kEncryption>},
    {"ResourcePolicy", set_text<&Create::resource_policy>},
    {"GlobalTableSourceArn", refuse_source},
};

constexpr Member<DescribeTableRequest> kDescribeTable[] = {
    {"TableName", set_table<&DescribeTableRequest::table>},
};

constexpr Member<DeleteTableRequest> kDeleteTable[] = {
    {"TableName", set_table<&DeleteTableRequest::table>},
};

// ---- UpdateTable

void refuse_consistency(Reader& reader, Json, UpdateTableRequest&) {
  refuse(reader, "MultiRegionConsistency");
}

void refuse_witnesses(Reader& reader, Json, UpdateTableRequest&) {
  refuse(reader, "GlobalTableWitnessUpdates");
}

struct Replica {
  std::string region;
};
constexpr Member<Replica> kReplica[] = {{"RegionName", set_text<&Replica::region>, true}};

void set_replica(Reader& reader, Json json, Replica& out) {
  reader.members(json, kReplica, out);
}

constexpr Member<Replica> kReplicaUpdate[] = {
    {"Create", set_replica}, {"Update", set_replica}, {"Delete", set_replica}};

void set_replicas(Reader& reader, Json json, UpdateTableRequest& out) {
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

void set_removed(Reader& reader, Json json, GlobalIndexChange& out) {
  IndexName index;
  reader.members(json, kIndexName, index);
  out.remove = std::move(index.name);
}

constexpr Member<GlobalIndexChange> kIndexChange[] = {
    {"Update", set_structure<&GlobalIndexChange::update, kIndexUpdate>},
    {"Create", set_structure<&GlobalIndexChange::create, kIndex>},
    {"Delete", set_removed},
};

using Change = UpdateTableRequest;
constexpr Member<Change> kUpdateTable[] = {
    {"TableName", set_table<&Change::table>},
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
    {"MultiRegionConsistency", refuse_consistency},
    {"GlobalTableWitnessUpdates", refuse_witnesses},
};

using SetTimeToLive = UpdateTimeToLiveRequest;
constexpr Member<SetTimeToLive> kUpdateTimeToLive[] = {
    {"TableName", set_table<&SetTimeToLive::table>},
    {"TimeToLiveSpecification", set_structure<&SetTimeToLive::specification, kTimeToLive>, true},
};

constexpr Member<DescribeTimeToLiveRequest> kDescribeTimeToLive[] = {
    {"TableName", set_table<&DescribeTimeToLiveRequest::table>},
};

constexpr Member<ListTablesRequest> kListTables[] = {
    {"Limit", set_integer<&ListTablesRequest::limit>},
    {"ExclusiveStartTableName", set_text<&ListTablesRequest::exclusive_start_table>},
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
