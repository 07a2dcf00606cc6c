// SPDX-License-Identifier: Apache-2.0
// UpdateTable.
#include <algorithm>
#include <map>

#include "api/model/constraints.h"
#include "api/model/messages.h"
#include "api/validation/table_update.h"
#include "api/validation/validate.h"
#include "engine/errors/messages.h"
#include "engine/errors/service_errors.h"
#include "engine/schema/backfill.h"
#include "engine/schema/schema_operations.h"
#include "engine/schema/table_description.h"
#include "engine/schema/update_table.h"
#include "fmt/format.h"

namespace stator {
namespace {

constexpr int64_t kDayMs = 24LL * 3600 * 1000;

void note_change(const std::optional<Throughput>& before, const std::optional<Throughput>& after,
                 int64_t now_ms, ThroughputChanges& changes) {
  if (!before || !after || before == after) return;
  if (after->read > before->read || after->write > before->write) changes.increased_ms = now_ms;
  if (after->read >= before->read && after->write >= before->write) return;
  const bool first_today =
      !changes.decreased_ms || *changes.decreased_ms / kDayMs != now_ms / kDayMs;
  changes.decreases_today = first_today ? 1 : changes.decreases_today + 1;
  changes.decreased_ms = now_ms;
}

using IndexDefinitions = std::vector<IndexDefinition>;

const IndexDefinitions& global_indexes(const CreateTableRequest& settings) {
  static const IndexDefinitions none;
  return settings.global_indexes ? *settings.global_indexes : none;
}

const std::vector<VectorIndexDefinition>& vector_indexes(const CreateTableRequest& settings) {
  static const std::vector<VectorIndexDefinition> none;
  return settings.vector_indexes ? *settings.vector_indexes : none;
}

// Returns the name of the index, or an empty string if no index is being built.
std::string index_being_built(const TableDefinition& definition) {
  const auto name_in = [&](const auto& indexes, const std::vector<SpaceId>& spaces) {
    for (std::size_t i = 0; i < indexes.size(); ++i) {
      if (definition.is_unfinished(spaces[i])) return indexes[i].name;
    }
    return std::string();
  };
  std::string name = name_in(global_indexes(definition.settings), definition.global_spaces);
  if (!name.empty()) return name;
  return name_in(vector_indexes(definition.settings), definition.vector_spaces);
}

// Only one index is built at a time. Meanwhile it can be deleted, but no other index can be created
// or deleted.
Result<void> check_one_index_change(const TableDefinition& definition,
                                    const UpdateTableRequest& request) {
  const std::string being_built = index_being_built(definition);
  if (being_built.empty()) return {};
  if (request.vector_indexes) {
    for (const VectorIndexChange& change : *request.vector_indexes) {
      if (change.create || *change.remove != being_built) {
        return fail(Code::kLimitExceeded, messages::kOneIndexChange);
      }
    }
  }
  if (!request.global_indexes) return {};
  for (const GlobalIndexChange& change : *request.global_indexes) {
    if (change.create || (change.remove && *change.remove != being_built)) {
      return fail(Code::kLimitExceeded, messages::kOneIndexChange);
    }
    if (change.update && change.update->name == being_built) {
      return fail(Code::kResourceInUse, messages::index_being_created(being_built));
    }
  }
  return {};
}

// An existing index keeps its space. The space of a new index is 0.
template <class Definitions>
std::vector<SpaceId> spaces_of(const Definitions& wanted, const Definitions& before,
                               const std::vector<SpaceId>& spaces_before) {
  std::map<std::string_view, SpaceId> known;
  for (std::size_t i = 0; i < before.size(); ++i) known[before[i].name] = spaces_before[i];
  std::vector<SpaceId> spaces;
  spaces.reserve(wanted.size());
  for (const auto& index : wanted) spaces.push_back(known[index.name]);
  return spaces;
}

void note_changes(const CreateTableRequest& after, int64_t now_ms, TableDefinition& definition) {
  const CreateTableRequest& before = definition.settings;
  const auto on_demand = [](const CreateTableRequest& settings) {
    return settings.billing_mode == BillingMode::kPayPerRequest;
  };
  // on_demand_since_ms remains when a table changes to provisioned capacity.
  if (on_demand(before) != on_demand(after)) {
    if (on_demand(after)) {
      definition.on_demand_since_ms = now_ms;
    } else if (!definition.on_demand_since_ms) {
      definition.on_demand_since_ms = definition.created_ms;
    }
  }
  if (before.table_class != after.table_class) definition.table_class_changed_ms = now_ms;
  note_change(before.throughput, after.throughput, now_ms, definition.throughput_changes);
  std::map<std::string, ThroughputChanges> by_index;
  for (const IndexDefinition& index : global_indexes(after)) {
    const auto known =
        std::ranges::find(global_indexes(before), index.name, &IndexDefinition::name);
    if (known == global_indexes(before).end()) continue;
    ThroughputChanges changes = definition.index_throughput_changes[index.name];
    note_change(known->throughput, index.throughput, now_ms, changes);
    if (changes != ThroughputChanges()) by_index[index.name] = changes;
  }
  definition.index_throughput_changes = std::move(by_index);
}

// The catalog creates and ends the log.
Result<void> change_stream(const UpdateTableRequest& request, CreateTableRequest& settings) {
  if (!request.stream) return {};
  const bool is_enabled = settings.stream && settings.stream->enabled;
  if (request.stream->enabled && is_enabled) {
    return fail(Code::kValidation, messages::stream_enabled(settings.table));
  }
  if (!request.stream->enabled && !is_enabled) {
    return fail(Code::kValidation, messages::no_stream(settings.table));
  }
  settings.stream = request.stream;
  return {};
}

Result<void> change(const UpdateTableRequest& request, int64_t now_ms,
                    TableDefinition& definition) {
  STATOR_RETURN_IF_ERROR(check_one_index_change(definition, request));
  STATOR_ASSIGN_OR_RETURN(CreateTableRequest settings,
                          updated_settings(definition.settings, request));
  STATOR_RETURN_IF_ERROR(change_stream(request, settings));
  definition.global_spaces = spaces_of(
      global_indexes(settings), global_indexes(definition.settings), definition.global_spaces);
  definition.vector_spaces = spaces_of(
      vector_indexes(settings), vector_indexes(definition.settings), definition.vector_spaces);
  note_changes(settings, now_ms, definition);
  definition.settings = std::move(settings);
  return {};
}

// There is one region, which contains the table.
Result<void> check_replicas(const SchemaEngine& engine, const std::vector<std::string>& regions) {
  if (regions.empty()) return {};
  if (std::ranges::find(regions, engine.options.region) != regions.end()) {
    return fail(Code::kValidation, messages::kLocalReplica);
  }
  Constraints constraints;
  for (std::size_t i = 0; i < regions.size(); ++i) {
    constraints.violated(regions[i], fmt::format("replicaUpdates.{}.member.regionName", i + 1),
                         "Member must satisfy enum value set: [" + engine.options.region + "]");
  }
  return constraints.result();
}

// The response of DynamoDB: the change has begun, and the capacity has not changed yet.
TableDescription describe_begun(const SchemaEngine& engine, const TableVersions& versions) {
  TableDescription description = describe(engine, *versions.after);
  const TableDescription before = describe(engine, *versions.before);
  description.status = TableStatus::kUpdating;
  if (description.billing_mode == before.billing_mode) description.throughput = before.throughput;
  for (IndexDescription& index : description.global_indexes) {
    if (versions.before->index(index.definition.name) == nullptr) index.backfilling = false;
  }
  for (const IndexDescription& index : before.global_indexes) {
    if (versions.after->index(index.definition.name) != nullptr) continue;
    description.global_indexes.push_back(index);
    description.global_indexes.back().status = TableStatus::kDeleting;
  }
  for (VectorIndexDescription& index : description.vector_indexes) {
    if (versions.before->vector_index(index.definition.name) == nullptr) index.backfilling = false;
  }
  for (const VectorIndexDescription& index : before.vector_indexes) {
    if (versions.after->vector_index(index.definition.name) != nullptr) continue;
    description.vector_indexes.push_back(index);
    description.vector_indexes.back().status = TableStatus::kDeleting;
  }
  return description;
}

}  // namespace

Result<TableVersions> change_table(SchemaEngine& engine, const UpdateTableRequest& request) {
  STATOR_RETURN_IF_ERROR(validate(request));
  STATOR_RETURN_IF_ERROR(check_replicas(engine, request.replica_regions));
  auto versions = engine.catalog->update(
      request.table, engine.now_ms(),
      [&](TableDefinition& definition) { return change(request, engine.now_ms(), definition); },
      [&engine](const std::string& table, SpaceId space) { start_backfill(engine, table, space); });
  if (!versions) return Failure(service_error(std::move(versions).error()));
  return versions;
}

Result<UpdateTableResult> update_table(SchemaEngine& engine, const UpdateTableRequest& request) {
  STATOR_ASSIGN_OR_RETURN(const TableVersions versions, change_table(engine, request));
  return UpdateTableResult{describe_begun(engine, versions)};
}

}  // namespace stator
