// SPDX-License-Identifier: Apache-2.0
// Global tables of version 2017.11.29. There is one region, so a global table has one replica. It
// is stored in the member "GlobalTable" of its table's settings. Other regions have no tables.
#include <algorithm>
#include <map>

#include "engine/admin/support.h"
#include "engine/errors/admin_messages.h"
#include "engine/schema/update_table.h"

namespace stator::admin {
namespace {

struct GlobalTable {
  TablePtr table;
  int64_t created_ms = 0;
};

Result<GlobalTable> find_global(const JobEngine& engine, const std::string& name) {
  STATOR_ASSIGN_OR_RETURN(const auto snapshot, engine.catalog->newest_snapshot());
  if (const TablePtr* table = snapshot->find(name)) {
    STATOR_ASSIGN_OR_RETURN(const Item settings, settings_of(engine, **table));
    const Item& kept = map_of(settings, "GlobalTable");
    if (!kept.empty()) return GlobalTable{*table, integer_of(kept, "CreatedMs")};
  }
  return fail(Code::kGlobalTableNotFound, messages::global_table_not_found(name));
}

Item describe(const JobEngine& engine, const GlobalTable& global, std::string_view status) {
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

Result<Item> create_global_table(JobEngine& engine, const Item& request) {
  const std::string name = text_of(request, "GlobalTableName");
  const List& replicas = list_of(request, "ReplicationGroup");
  if (replicas.empty()) return fail(Code::kValidation, messages::kNoReplicas);
  for (const AttributeValue& replica : replicas) {
    const std::string region = text_of(as_map(replica), "RegionName");
    if (region != engine.options.region) {
      return fail(Code::kTableNotFound, messages::no_table_in_region(name, region));
    }
  }
  STATOR_ASSIGN_OR_RETURN(const TablePtr table, find_table_named(engine, name));
  GlobalTable global{table, engine.now_ms()};
  STATOR_RETURN_IF_ERROR(change_settings(engine, *table, [&](Item& settings) -> Result<void> {
    if (settings.contains("GlobalTable")) {
      return fail(Code::kGlobalTableAlreadyExists, messages::global_table_exists(name));
    }
    settings["GlobalTable"] = Item{{"CreatedMs", global.created_ms}};
    return {};
  }));
  return describe(engine, global, "CREATING");
}

Result<Item> describe_global_table(JobEngine& engine, const Item& request) {
  STATOR_ASSIGN_OR_RETURN(const GlobalTable global,
                          find_global(engine, text_of(request, "GlobalTableName")));
  return describe(engine, global, "ACTIVE");
}

Result<Item> list_global_tables(JobEngine& engine, const Item& request) {
  constexpr int64_t kPage = 100;
  const auto most = static_cast<std::size_t>(integer_of(request, "Limit", kPage));
  const std::string after = text_of(request, "ExclusiveStartGlobalTableName");
  const bool elsewhere =
      request.contains("RegionName") && text_of(request, "RegionName") != engine.options.region;
  List found;
  STATOR_ASSIGN_OR_RETURN(const auto snapshot, engine.catalog->newest_snapshot());
  for (auto table = snapshot->tables.upper_bound(after);
       table != snapshot->tables.end() && !elsewhere; ++table) {
    STATOR_ASSIGN_OR_RETURN(const Item settings, settings_of(engine, *table->second));
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

// Only the replica of this region exists, so only it can be deleted.
Result<Item> update_global_table(JobEngine& engine, const Item& request) {
  const std::string name = text_of(request, "GlobalTableName");
  STATOR_ASSIGN_OR_RETURN(const GlobalTable global, find_global(engine, name));
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
    if (!as_map(update).contains("Delete")) {
      return fail(Code::kValidation, messages::kNoReplicaUpdate);
    }
    const std::string removed = text_of(map_of(as_map(update), "Delete"), "RegionName");
    if (removed != engine.options.region) {
      return fail(Code::kReplicaNotFound, messages::replica_not_found(name, removed));
    }
    remove = true;
  }
  if (remove) {
    STATOR_RETURN_IF_ERROR(
        change_settings(engine, *global.table, [](Item& settings) -> Result<void> {
          settings.erase("GlobalTable");
          return {};
        }));
  }
  return describe(engine, global, remove ? "DELETING" : "ACTIVE");
}

Item replica_settings(const JobEngine& engine, const Table& table) {
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

Result<Item> describe_global_table_settings(JobEngine& engine, const Item& request) {
  STATOR_ASSIGN_OR_RETURN(const GlobalTable global,
                          find_global(engine, text_of(request, "GlobalTableName")));
  return replica_settings(engine, *global.table);
}

// Stator does not scale throughput automatically.
bool asks_auto_scaling(const Item& document) {
  const auto in_list = [](const List& list) {
    return std::ranges::any_of(
        list, [](const AttributeValue& element) { return asks_auto_scaling(as_map(element)); });
  };
  return std::ranges::any_of(document, [&](const auto& member) {
    const List* list = member.second.template get_if<List>();
    return member.first.find("AutoScaling") != std::string::npos ||
           (list != nullptr && in_list(*list));
  });
}

// The requested settings, as an UpdateTable request for the table of the only replica.
class SettingsUpdate {
 public:
  explicit SettingsUpdate(const Table& table)
      : settings_(table.definition().settings),
        throughput_(settings_.throughput.value_or(Throughput())) {
    if (!settings_.global_indexes) return;
    for (const IndexDefinition& index : *settings_.global_indexes) {
      indexes_[index.name] = index.throughput.value_or(Throughput());
    }
  }

  Result<UpdateTableRequest> read(const Item& request) {
    if (request.contains("GlobalTableBillingMode")) {
      mode_ = text_of(request, "GlobalTableBillingMode") == "PROVISIONED"
                  ? BillingMode::kProvisioned
                  : BillingMode::kPayPerRequest;
    }
    set(throughput_.write, request, "GlobalTableProvisionedWriteCapacityUnits", sets_throughput_);
    STATOR_RETURN_IF_ERROR(read_indexes(request, "GlobalTableGlobalSecondaryIndexSettingsUpdate",
                                        "ProvisionedWriteCapacityUnits", &Throughput::write));
    for (const AttributeValue& element : list_of(request, "ReplicaSettingsUpdate")) {
      const Item& replica = as_map(element);
      set(throughput_.read, replica, "ReplicaProvisionedReadCapacityUnits", sets_throughput_);
      STATOR_RETURN_IF_ERROR(read_indexes(replica, "ReplicaGlobalSecondaryIndexSettingsUpdate",
                                          "ProvisionedReadCapacityUnits", &Throughput::read));
      if (replica.contains("ReplicaTableClass")) {
        table_class_ = text_of(replica, "ReplicaTableClass") == "STANDARD"
                           ? TableClass::kStandard
                           : TableClass::kStandardInfrequentAccess;
      }
    }
    return changes();
  }

 private:
  static void set(int64_t& units, const Item& from, std::string_view member, bool& is_set) {
    if (!from.contains(member)) return;
    units = integer_of(from, member);
    is_set = true;
  }

  Result<void> read_indexes(const Item& from, std::string_view member, std::string_view units,
                            int64_t Throughput::* which) {
    for (const AttributeValue& element : list_of(from, member)) {
      const std::string name = text_of(as_map(element), "IndexName");
      const auto index = indexes_.find(name);
      if (index == indexes_.end())
        return fail(Code::kIndexNotFound, messages::index_not_found(name));
      set(index->second.*which, as_map(element), units, sets_indexes_);
    }
    return {};
  }

  UpdateTableRequest changes() const {
    UpdateTableRequest update{.table = settings_.table, .billing_mode = mode_};
    const bool switches =
        mode_ && *mode_ != settings_.billing_mode.value_or(BillingMode::kProvisioned);
    const bool provisions = switches && mode_ == BillingMode::kProvisioned;
    if (!switches) update.billing_mode.reset();
    if (provisions || (sets_throughput_ && throughput_ != settings_.throughput)) {
      update.throughput = throughput_;
    }
    if (table_class_ && table_class_ != settings_.table_class) update.table_class = table_class_;
    if (!settings_.global_indexes || !(provisions || sets_indexes_)) return update;
    std::vector<GlobalIndexChange> changes;
    for (const IndexDefinition& index : *settings_.global_indexes) {
      const Throughput wanted = indexes_.at(index.name);
      if (index.throughput == wanted) continue;
      changes.push_back({.update = GlobalIndexUpdate{.name = index.name, .throughput = wanted}});
    }
    if (!changes.empty()) update.global_indexes = std::move(changes);
    return update;
  }

  const CreateTableRequest& settings_;
  Throughput throughput_;
  std::map<std::string, Throughput> indexes_;
  std::optional<BillingMode> mode_;
  std::optional<TableClass> table_class_;
  bool sets_throughput_ = false;
  bool sets_indexes_ = false;
};

Result<Item> update_global_table_settings(JobEngine& engine, const Item& request) {
  const std::string name = text_of(request, "GlobalTableName");
  STATOR_ASSIGN_OR_RETURN(GlobalTable global, find_global(engine, name));
  for (const AttributeValue& replica : list_of(request, "ReplicaSettingsUpdate")) {
    const std::string region = text_of(as_map(replica), "RegionName");
    if (region != engine.options.region) {
      return fail(Code::kReplicaNotFound, messages::replica_not_found(name, region));
    }
  }
  if (asks_auto_scaling(request)) return fail(Code::kValidation, messages::kNoAutoScaling);
  STATOR_ASSIGN_OR_RETURN(const UpdateTableRequest update,
                          SettingsUpdate(*global.table).read(request));
  if (update.billing_mode || update.throughput || update.table_class || update.global_indexes) {
    STATOR_ASSIGN_OR_RETURN(const TableVersions versions, change_table(engine, update));
    global.table = versions.after;
  }
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
