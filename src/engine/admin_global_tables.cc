// SPDX-License-Identifier: Apache-2.0
// Global tables of version 2017.11.29. There is one region, so a global table has one replica, in
// the member "GlobalTable" of its table's settings; no table is to be found in any other region.
#include "engine/admin_messages.h"
#include "engine/admin_support.h"

namespace stator::admin {
namespace {

struct GlobalTable {
  TablePtr table;
  int64_t created_ms = 0;
};

Result<GlobalTable> find_global(const Engine::Impl& engine, const std::string& name) {
  const auto snapshot = engine.catalogue->snapshot();
  if (const TablePtr* table = snapshot->find(name)) {
    STATOR_TRY(const Item settings, settings_of(engine, **table));
    const Item& kept = map_of(settings, "GlobalTable");
    if (!kept.empty()) return GlobalTable{*table, integer_of(kept, "CreatedMs")};
  }
  return fail(Code::kGlobalTableNotFound, messages::global_table_not_found(name));
}

Item describe(const Engine::Impl& engine, const GlobalTable& global, std::string_view status) {
  const std::string& name = global.table->name();
  return Item{{"GlobalTableDescription",
               Item{{"GlobalTableName", name},
                    {"GlobalTableArn",
                     "arn:aws:dynamodb::" + engine.options.account + ":global-table/" + name},
                    {"GlobalTableStatus", status},
                    {"CreationDateTime", seconds(global.created_ms)},
                    {"ReplicationGroup", List{Item{{"RegionName", engine.options.region},
                                                   {"ReplicaStatus", status}}}}}}};
}

Result<Item> create_global_table(Engine::Impl& engine, const Item& request) {
  const std::string name = text_of(request, "GlobalTableName");
  const List& replicas = list_of(request, "ReplicationGroup");
  if (replicas.empty()) return fail(Code::kValidation, messages::kNoReplicas);
  for (const AttributeValue& replica : replicas) {
    const std::string region = text_of(as_map(replica), "RegionName");
    if (region != engine.options.region) {
      return fail(Code::kTableNotFound, messages::no_table_in_region(name, region));
    }
  }
  STATOR_TRY(const TablePtr table, find_table_named(engine, name));
  GlobalTable global{table, engine.now_ms()};
  STATOR_CHECK_OK(change_settings(engine, *table, [&](Item& settings) -> Result<void> {
    if (settings.contains("GlobalTable")) {
      return fail(Code::kGlobalTableAlreadyExists, messages::global_table_exists(name));
    }
    settings["GlobalTable"] = Item{{"CreatedMs", global.created_ms}};
    return {};
  }));
  return describe(engine, global, "CREATING");
}

Result<Item> describe_global_table(Engine::Impl& engine, const Item& request) {
  STATOR_TRY(const GlobalTable global, find_global(engine, text_of(request, "GlobalTableName")));
  return describe(engine, global, "ACTIVE");
}

Result<Item> list_global_tables(Engine::Impl& engine, const Item& request) {
  constexpr int64_t kPage = 100;
  const auto most = static_cast<std::size_t>(integer_of(request, "Limit", kPage));
  const std::string after = text_of(request, "ExclusiveStartGlobalTableName");
  const bool elsewhere =
      request.contains("RegionName") && text_of(request, "RegionName") != engine.options.region;
  List found;
  const auto snapshot = engine.catalogue->snapshot();
  for (auto table = snapshot->tables.upper_bound(after);
       table != snapshot->tables.end() && !elsewhere; ++table) {
    STATOR_TRY(const Item settings, settings_of(engine, *table->second));
    if (!settings.contains("GlobalTable")) continue;
    if (found.size() == most) {
      const std::string last = text_of(as_map(found.back()), "GlobalTableName");
      return Item{{"GlobalTables", std::move(found)}, {"LastEvaluatedGlobalTableName", last}};
    }
    found.emplace_back(
        Item{{"GlobalTableName", table->first},
             {"ReplicationGroup", List{Item{{"RegionName", engine.options.region}}}}});
  }
  return Item{{"GlobalTables", std::move(found)}};
}

// The replica of this region may go; any other is not there.
Result<Item> update_global_table(Engine::Impl& engine, const Item& request) {
  const std::string name = text_of(request, "GlobalTableName");
  STATOR_TRY(const GlobalTable global, find_global(engine, name));
  bool remove = false;
  for (const AttributeValue& update : list_of(request, "ReplicaUpdates")) {
    const Item& create = map_of(as_map(update), "Create");
    const std::string created = text_of(create, "RegionName");
    if (created == engine.options.region) {
      return fail(Code::kReplicaAlreadyExists, messages::replica_exists(name, created));
    }
    if (!create.empty()) {
      return fail(Code::kTableNotFound, messages::no_table_in_region(name, created));
    }
    const std::string removed = text_of(map_of(as_map(update), "Delete"), "RegionName");
    if (removed != engine.options.region) {
      return fail(Code::kReplicaNotFound, messages::replica_not_found(name, removed));
    }
    remove = true;
  }
  if (remove) {
    STATOR_CHECK_OK(change_settings(engine, *global.table, [](Item& settings) -> Result<void> {
      settings.erase("GlobalTable");
      return {};
    }));
  }
  return describe(engine, global, remove ? "DELETING" : "ACTIVE");
}

Item replica_settings(const Engine::Impl& engine, const Table& table) {
  const CreateTableRequest& settings = table.definition().settings;
  const Throughput throughput = settings.throughput.value_or(Throughput{});
  const bool on_demand = settings.billing_mode == BillingMode::kPayPerRequest;
  List indexes;
  for (const Index& index : table.indexes()) {
    if (index.local) continue;
    Item entry{{"IndexName", index.definition.name}, {"IndexStatus", "ACTIVE"}};
    if (index.definition.throughput) {
      entry["ProvisionedReadCapacityUnits"] = index.definition.throughput->read;
      entry["ProvisionedWriteCapacityUnits"] = index.definition.throughput->write;
    }
    indexes.emplace_back(std::move(entry));
  }
  Item replica{{"RegionName", engine.options.region},
               {"ReplicaStatus", "ACTIVE"},
               {"ReplicaBillingModeSummary",
                Item{{"BillingMode", on_demand ? "PAY_PER_REQUEST" : "PROVISIONED"}}},
               {"ReplicaProvisionedReadCapacityUnits", throughput.read},
               {"ReplicaProvisionedWriteCapacityUnits", throughput.write}};
  if (!indexes.empty()) replica["ReplicaGlobalSecondaryIndexSettings"] = std::move(indexes);
  return Item{{"GlobalTableName", table.name()}, {"ReplicaSettings", List{std::move(replica)}}};
}

Result<Item> describe_global_table_settings(Engine::Impl& engine, const Item& request) {
  STATOR_TRY(const GlobalTable global, find_global(engine, text_of(request, "GlobalTableName")));
  return replica_settings(engine, *global.table);
}

// Capacity is UpdateTable's to change, here as in the later version of global tables.
Result<Item> update_global_table_settings(Engine::Impl& engine, const Item& request) {
  const std::string name = text_of(request, "GlobalTableName");
  STATOR_TRY(const GlobalTable global, find_global(engine, name));
  for (const AttributeValue& replica : list_of(request, "ReplicaSettingsUpdate")) {
    const std::string region = text_of(as_map(replica), "RegionName");
    if (region != engine.options.region) {
      return fail(Code::kReplicaNotFound, messages::replica_not_found(name, region));
    }
  }
  if (request.size() > 1) return fail(Code::kValidation, messages::kNoGlobalSettings);
  return replica_settings(engine, *global.table);
}

}  // namespace

const Operation kCreateGlobalTable{shapes::kCreateGlobalTable, create_global_table};
const Operation kDescribeGlobalTable{shapes::kGlobalTableName, describe_global_table};
const Operation kListGlobalTables{shapes::kListGlobalTables, list_global_tables};
const Operation kUpdateGlobalTable{shapes::kUpdateGlobalTable, update_global_table};
const Operation kDescribeGlobalTableSettings{shapes::kGlobalTableName,
                                             describe_global_table_settings};
const Operation kUpdateGlobalTableSettings{shapes::kUpdateGlobalTableSettings,
                                           update_global_table_settings};

}  // namespace stator::admin
