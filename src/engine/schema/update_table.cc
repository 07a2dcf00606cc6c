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

// Only one index is built at a time. One that is being built may go; no other may come or go.
Result<void> check_one_index_change(const TableDefinition& definition,
                                    const UpdateTableRequest& request) {
  if (!request.global_indexes) return {};
  const IndexDefinitions& indexes = global_indexes(definition.settings);
  const auto unfinished = std::ranges::find_if(
      definition.global_spaces, [&](SpaceId space) { return definition.is_unfinished(space); });
  if (unfinished == definition.global_spaces.end()) return {};
  const std::string& being_built =
      indexes[static_cast<std::size_t>(unfinished - definition.global_spaces.begin())].name;
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

// An index that stays keeps its space; 0 for one that is new.
std::vector<SpaceId> spaces_of(const IndexDefinitions& wanted, const TableDefinition& before) {
  std::map<std::string_view, SpaceId> known;
  const IndexDefinitions& indexes = global_indexes(before.settings);
  for (std::size_t i = 0; i < indexes.size(); ++i) known[indexes[i].name] = before.global_spaces[i];
  std::vector<SpaceId> spaces;
  for (const IndexDefinition& index : wanted) spaces.push_back(known[index.name]);
  return spaces;
}

void note_changes(const CreateTableRequest& after, int64_t now_ms, TableDefinition& definition) {
  const CreateTableRequest& before = definition.settings;
  const auto on_demand = [](const CreateTableRequest& settings) {
    return settings.billing_mode == BillingMode::kPayPerRequest;
  };
  // A table that began on demand and leaves it goes on saying since when it was.
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

// Its log is the catalog's work.
Result<void> change_stream(const UpdateTableRequest& request, CreateTableRequest& settings) {
  if (!request.stream) return {};
  const bool is_enabled = settings.stream && settings.stream->enabled;
  if (request.stream->enabled && is_enabled) {
    return fail(Code::kValidation, messages::kStreamEnabled);
  }
  if (!request.stream->enabled && !is_enabled) {
    return fail(Code::kValidation, messages::kNoStream);
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
  definition.global_spaces = spaces_of(global_indexes(settings), definition);
  note_changes(settings, now_ms, definition);
  definition.settings = std::move(settings);
  return {};
}

// There is one region, and the table is in it.
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

// What the service answers: the change has begun, and capacity is still what it was.
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
