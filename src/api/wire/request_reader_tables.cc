// SPDX-License-Identifier: Apache-2.0
#include "api/model/messages.h"
#include "api/wire/request_reader.h"
#include "api/wire/table_shapes.h"
#include "fmt/format.h"

namespace stator::wire {
namespace {

// A request that can create indexes. See refuse_untyped_projections().
template <class Request>
struct IndexesDraft : Request {
  bool lacks_projection_type = false;
};

template <class Definition>
struct DefinitionDraft : Definition {
  bool has_projection_type = false;
};
using IndexDraft = DefinitionDraft<IndexDefinition>;
using VectorIndexDraft = DefinitionDraft<VectorIndexDefinition>;

struct ProjectionDraft : Projection {
  bool has_type = false;
};

void set_projection_type(Reader& reader, Json json, ProjectionDraft& out) {
  out.type = reader.enumeration<ProjectionType>(json);
  out.has_type = true;
}

void set_non_key_attributes(Reader& reader, Json json, ProjectionDraft& out) {
  const std::string path = reader.path();
  out.non_key_attributes = reader.texts(json);
  if (out.non_key_attributes.empty() && !reader.failed()) {
    reader.constraints().count(0, path, 1, SIZE_MAX);
  }
}

constexpr Member<ProjectionDraft> kProjectionDraft[] = {
    {"ProjectionType", set_projection_type},
    {"NonKeyAttributes", set_non_key_attributes},
};

template <class Draft>
void set_projection(Reader& reader, Json json, Draft& out) {
  ProjectionDraft draft;
  reader.members(json, kProjectionDraft, draft);
  out.has_projection_type = draft.has_type;
  if (!draft.has_type) draft.non_key_attributes.clear();
  out.projection = std::move(draft);
}

constexpr Member<IndexDraft> kIndex[] = {
    {"IndexName", set_text<&IndexDraft::name>, true},
    {"KeySchema", set_list<&IndexDraft::key_schema, kKeySchemaElement>, true},
    {"Projection", set_projection, true},
    {"ProvisionedThroughput", set_structure<&IndexDraft::throughput, kThroughput>},
    {"OnDemandThroughput", set_structure<&IndexDraft::on_demand_throughput, kOnDemand>},
    {"WarmThroughput", set_structure<&IndexDraft::warm_throughput, kWarmThroughput>},
};

void set_search_schema(Reader& reader, Json json, VectorIndexDraft& out) {
  const std::string path = reader.path();
  set_list<&VectorIndexDefinition::search_schema, kSearchSchemaElement>(reader, json, out);
  if (out.search_schema.empty() && !reader.failed()) {
    reader.constraints().count(0, path, 1, SIZE_MAX);
  }
}

constexpr Member<VectorIndexDraft> kVectorIndex[] = {
    {"IndexName", set_text<&VectorIndexDraft::name>, true},
    {"VectorAttribute", set_members<kVectorAttribute>, true},
    {"SearchSchema", set_search_schema},
    {"Projection", set_projection, true},
    {"Dimensions", set_long<&VectorIndexDraft::dimensions>, true},
    {"DistanceFunction", set_enum<&VectorIndexDraft::distance_function>, true},
};

template <class Draft, std::size_t N, class Request>
Draft read_index(Reader& reader, Json json, const Member<Draft> (&table)[N],
                 IndexesDraft<Request>& out) {
  Draft draft;
  reader.members(json, table, draft);
  if (!draft.has_projection_type) out.lacks_projection_type = true;
  return draft;
}

template <auto member, const auto& table>
void set_indexes(Reader& reader, Json json, IndexesDraft<CreateTableRequest>& out) {
  typename ValueOf<std::remove_cvref_t<decltype(out.*member)>>::Type indexes;
  reader.elements(
      json, [&](Json element) { indexes.push_back(read_index(reader, element, table, out)); });
  out.*member = std::move(indexes);
}

// All other errors of the request are reported first.
template <class Request>
void refuse_untyped_projections(Reader& reader, const IndexesDraft<Request>& draft) {
  if (!draft.lacks_projection_type || !reader.sound()) return;
  const Request& request = draft;
  if (const auto valid = validate(request); !valid) return reader.fail(valid.error());
  reader.fail(Code::kValidation, fmt::format(messages::kInvalid, messages::kNoProjectionType));
}

constexpr Member<EncryptionSpecification> kEncryption[] = {
    {"Enabled", set_boolean<&EncryptionSpecification::enabled>},
    {"SSEType", set_enum<&EncryptionSpecification::type>},
    {"KMSMasterKeyId", set_text<&EncryptionSpecification::key_id>},
};

constexpr Member<Tag> kTag[] = {
    {"Key", set_text<&Tag::key>, true},
    {"Value", set_text<&Tag::value>, true},
};

using Create = IndexesDraft<CreateTableRequest>;

constexpr Member<Create> kCreateTable[] = {
    {"TableName", set_managed_table<&Create::table>},
    {"AttributeDefinitions", set_list<&Create::attributes, kAttributeDefinition>, true},
    {"KeySchema", set_list<&Create::key_schema, kKeySchemaElement>, true},
    {"GlobalSecondaryIndexes", set_indexes<&CreateTableRequest::global_indexes, kIndex>},
    {"LocalSecondaryIndexes", set_indexes<&CreateTableRequest::local_indexes, kIndex>},
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
    {"VectorIndexes", set_indexes<&CreateTableRequest::vector_indexes, kVectorIndex>},
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

using Change = IndexesDraft<UpdateTableRequest>;

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
struct ChangeDraft : IndexChange {
  Change* request = nullptr;
};

template <const auto& table, class Draft>
void set_created(Reader& reader, Json json, Draft& out) {
  out.create = read_index(reader, json, table, *out.request);
}

template <class Draft>
void set_removed(Reader& reader, Json json, Draft& out) {
  IndexName index;
  reader.members(json, kIndexName, index);
  out.remove = std::move(index.name);
}

constexpr Member<ChangeDraft<GlobalIndexChange>> kIndexChange[] = {
    {"Update", set_structure<&GlobalIndexChange::update, kIndexUpdate>},
    {"Create", set_created<kIndex>},
    {"Delete", set_removed},
};
constexpr Member<ChangeDraft<VectorIndexChange>> kVectorIndexChange[] = {
    {"Create", set_created<kVectorIndex>},
    {"Delete", set_removed},
};

template <auto member, const auto& table>
void set_index_changes(Reader& reader, Json json, Change& out) {
  typename ValueOf<std::remove_cvref_t<decltype(out.*member)>>::Type changes;
  reader.elements(json, [&](Json element) {
    ChangeDraft<typename decltype(changes)::value_type> draft;
    draft.request = &out;
    reader.members(element, table, draft);
    changes.push_back(std::move(draft));
  });
  out.*member = std::move(changes);
}

constexpr Member<Change> kUpdateTable[] = {
    {"TableName", set_managed_table<&Change::table>},
    {"AttributeDefinitions", set_list<&Change::attributes, kAttributeDefinition>},
    {"BillingMode", set_enum<&Change::billing_mode>},
    {"ProvisionedThroughput", set_structure<&Change::throughput, kThroughput>},
    {"OnDemandThroughput", set_structure<&Change::on_demand_throughput, kOnDemand>},
    {"WarmThroughput", set_structure<&Change::warm_throughput, kWarmThroughput>},
    {"TableClass", set_enum<&Change::table_class>},
    {"DeletionProtectionEnabled", set_boolean<&Change::deletion_protection>},
    {"GlobalSecondaryIndexUpdates",
     set_index_changes<&UpdateTableRequest::global_indexes, kIndexChange>},
    {"StreamSpecification", set_structure<&Change::stream, kStream>},
    {"SSESpecification", set_structure<&Change::encryption, kEncryption>},
    {"ReplicaUpdates", set_replicas},
    {"VectorIndexUpdates",
     set_index_changes<&UpdateTableRequest::vector_indexes, kVectorIndexChange>},
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
  return read_document<CreateTableRequest>(json, kCreateTable,
                                           refuse_untyped_projections<CreateTableRequest>);
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
  return read_document<UpdateTableRequest>(json, kUpdateTable,
                                           refuse_untyped_projections<UpdateTableRequest>);
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
