// SPDX-License-Identifier: Apache-2.0
// CreateBackup, DescribeBackup, ListBackups, DeleteBackup, RestoreTableFromBackup.
#include "api/wire/wire.h"
#include "engine/admin/support.h"
#include "engine/catalog/catalog_codec.h"
#include "engine/catalog/records.h"
#include "engine/core/arns.h"
#include "engine/errors/admin_messages.h"
#include "engine/jobs/backup_job.h"
#include "engine/jobs/restore_job.h"
#include "engine/schema/table_description.h"

namespace stator::admin {
namespace {

struct Backup {
  std::string id;
  Item record;
  std::string key() const { return record_key(RecordKind::kBackup, id); }
};

Result<Backup> find_backup(const JobEngine& engine, const std::string& arn) {
  constexpr std::string_view kBackup = "/backup/";
  const std::size_t at = arn.rfind(kBackup);
  if (at != std::string::npos) {
    Backup backup{.id = arn.substr(at + kBackup.size()), .record = {}};
    STATOR_ASSIGN_OR_RETURN(backup.record, Records(*engine.store).get(backup.key()));
    if (!backup.record.empty() && backup_arn(engine, backup.record, backup.id) == arn) {
      return backup;
    }
  }
  return fail(Code::kBackupNotFound, messages::backup_not_found(arn));
}

bool is_by_service(const Item& record) {
  return record.contains("ExpiresMs");
}

Item details_of(const JobEngine& engine, const Backup& backup) {
  const bool by_service = is_by_service(backup.record);
  Item details{{"BackupArn", backup_arn(engine, backup.record, backup.id)},
               {"BackupName", text_of(backup.record, "Name")},
               {"BackupSizeBytes", integer_of(backup.record, "Bytes")},
               {"BackupStatus", text_of(backup.record, "Status")},
               {"BackupType", by_service ? "SYSTEM" : "USER"},
               {"BackupCreationDateTime", seconds(integer_of(backup.record, "CreatedMs"))}};
  if (by_service) {
    details["BackupExpiryDateTime"] = seconds(integer_of(backup.record, "ExpiresMs"));
  }
  return details;
}

// The members of an index description that a backup's description includes.
List indexes_of(const Item& table, std::string_view member) {
  List indexes;
  for (const AttributeValue& index : list_of(table, member)) {
    Item told;
    for (const std::string_view name :
         {"IndexName", "KeySchema", "Projection", "ProvisionedThroughput", "OnDemandThroughput",
          "VectorAttribute", "SearchSchema", "Dimensions", "DistanceFunction"}) {
      const auto found = as_map(index).find(name);
      if (found != as_map(index).end()) told.insert(*found);
    }
    if (told.contains("ProvisionedThroughput")) {
      Item throughput = map_of(told, "ProvisionedThroughput");
      throughput.erase("NumberOfDecreasesToday");
      told["ProvisionedThroughput"] = std::move(throughput);
    }
    indexes.emplace_back(std::move(told));
  }
  return indexes;
}

Result<Item> describe(const JobEngine& engine, const Backup& backup) {
  STATOR_ASSIGN_OR_RETURN(TableDefinition definition, table_in(backup.record));
  STATOR_ASSIGN_OR_RETURN(const TablePtr table,
                          Table::make(std::move(definition), engine.catalog->secret()));
  const Item described = wire::to_document(stator::describe(engine, *table, TableStatus::kActive));
  Item source{{"TableName", table->name()},
              {"TableId", table->definition().id},
              {"TableArn", table_arn(engine, table->name())},
              {"TableSizeBytes", integer_of(backup.record, "Bytes")},
              {"ItemCount", integer_of(backup.record, "Items")},
              {"KeySchema", list_of(described, "KeySchema")},
              {"TableCreationDateTime", seconds(table->definition().created_ms)}};
  const CreateTableRequest& settings = table->definition().settings;
  const Throughput throughput = settings.throughput.value_or(Throughput{});
  source["ProvisionedThroughput"] =
      Item{{"ReadCapacityUnits", throughput.read}, {"WriteCapacityUnits", throughput.write}};
  source["BillingMode"] =
      settings.billing_mode == BillingMode::kPayPerRequest ? "PAY_PER_REQUEST" : "PROVISIONED";
  Item features;
  for (const std::string_view member :
       {"LocalSecondaryIndexes", "GlobalSecondaryIndexes", "VectorIndexes"}) {
    List indexes = indexes_of(described, member);
    if (!indexes.empty()) features.emplace(member, std::move(indexes));
  }
  return Item{{"BackupDescription", Item{{"BackupDetails", details_of(engine, backup)},
                                         {"SourceTableDetails", std::move(source)},
                                         {"SourceTableFeatureDetails", std::move(features)}}}};
}

Result<Item> create_backup(JobEngine& engine, const Item& request) {
  STATOR_ASSIGN_OR_RETURN(const TablePtr table,
                          find_table_named(engine, text_of(request, "TableName")));
  STATOR_ASSIGN_OR_RETURN(auto state, state_of_now(engine));
  const TableDefinition& definition = table->definition();
  const int64_t now_ms = engine.now_ms();
  Backup backup{.id = engine.job_ids.next(engine.now_ms()), .record = {}};
  STATOR_ASSIGN_OR_RETURN(
      const SpaceId space, engine.catalog->take_space(backup.key(), [&](SpaceId taken) -> Item {
        return backup.record = Item{{"Name", text_of(request, "BackupName")},
                                    {"Table", table->name()},
                                    {"Definition", Binary{encode_table(definition)}},
                                    {"Space", taken},
                                    {"Status", kBackupCreating},
                                    {"CreatedMs", now_ms}};
      }));
  start_backup(engine, backup.id, table, space, std::move(state));
  return Item{{"BackupDetails", details_of(engine, backup)}};
}

Result<Item> describe_backup(JobEngine& engine, const Item& request) {
  STATOR_ASSIGN_OR_RETURN(const Backup backup, find_backup(engine, text_of(request, "BackupArn")));
  return describe(engine, backup);
}

Result<Item> list_backups(JobEngine& engine, const Item& request) {
  constexpr int64_t kPage = 100;
  const auto most = static_cast<std::size_t>(integer_of(request, "Limit", kPage));
  const std::string asked = text_of(request, "BackupType");
  const std::string_view type = asked.empty() ? "USER" : std::string_view(asked);
  const int64_t from_ms = integer_of(request, "TimeRangeLowerBound", INT64_MIN);
  const int64_t to_ms = integer_of(request, "TimeRangeUpperBound", INT64_MAX);
  const std::string start = text_of(request, "ExclusiveStartBackupArn");
  const std::string after = start.substr(start.rfind('/') + 1);
  STATOR_ASSIGN_OR_RETURN(const auto records, Records(*engine.store).list(RecordKind::kBackup));
  List summaries;
  for (const auto& [id, record] : records) {
    const int64_t created_ms = integer_of(record, "CreatedMs");
    const bool wanted = (start.empty() || id > after) && created_ms >= from_ms &&
                        created_ms < to_ms &&
                        (type == "ALL" || type == (is_by_service(record) ? "SYSTEM" : "USER")) &&
                        (!request.contains("TableName") ||
                         text_of(request, "TableName") == text_of(record, "Table"));
    if (!wanted) continue;
    if (summaries.size() == most) {
      const std::string last = text_of(as_map(summaries.back()), "BackupArn");
      return Item{{"BackupSummaries", std::move(summaries)}, {"LastEvaluatedBackupArn", last}};
    }
    STATOR_ASSIGN_OR_RETURN(const TableDefinition definition, table_in(record));
    Item summary = details_of(engine, {.id = id, .record = record});
    summary["TableName"] = text_of(record, "Table");
    summary["TableId"] = definition.id;
    summary["TableArn"] = table_arn(engine, text_of(record, "Table"));
    summaries.emplace_back(std::move(summary));
  }
  return Item{{"BackupSummaries", std::move(summaries)}};
}

Result<Item> delete_backup(JobEngine& engine, const Item& request) {
  const std::string arn = text_of(request, "BackupArn");
  STATOR_ASSIGN_OR_RETURN(Backup backup, find_backup(engine, arn));
  if (is_by_service(backup.record)) return fail(Code::kValidation, messages::kSystemBackup);
  bool is_released = false;
  if (text_of(backup.record, "Status") == kBackupAvailable) {
    STATOR_ASSIGN_OR_RETURN(is_released, engine.catalog->release_space(backup.key()));
  }
  if (!is_released) return fail(Code::kBackupInUse, messages::backup_in_use(arn));
  backup.record["Status"] = "DELETED";
  return describe(engine, backup);
}

Result<Item> restore_table_from_backup(JobEngine& engine, const Item& request) {
  const std::string arn = text_of(request, "BackupArn");
  STATOR_ASSIGN_OR_RETURN(const Backup backup, find_backup(engine, arn));
  if (text_of(backup.record, "Status") != kBackupAvailable) {
    return fail(Code::kBackupInUse, messages::backup_in_use(arn));
  }
  STATOR_ASSIGN_OR_RETURN(const TableDefinition source, table_in(backup.record));
  RestoreSummary summary{.source_backup_arn = arn,
                         .source_table_arn = table_arn(engine, text_of(backup.record, "Table")),
                         .time_ms = integer_of(backup.record, "CreatedMs")};
  STATOR_ASSIGN_OR_RETURN(TableDefinition target,
                          restored_definition(engine, source, request, std::move(summary)));
  const PinRequest pin{.backup_key = backup.key()};
  return begin_restore(engine, std::move(target),
                       Item{{"Backup", arn}, {"From", integer_of(backup.record, "Space")}}, pin);
}

}  // namespace

const Operation kCreateBackup{shapes::kCreateBackup, create_backup};
const Operation kDescribeBackup{shapes::kBackupArn, describe_backup};
const Operation kListBackups{shapes::kListBackups, list_backups};
const Operation kDeleteBackup{shapes::kBackupArn, delete_backup};
const Operation kRestoreTableFromBackup{shapes::kRestoreTableFromBackup, restore_table_from_backup};

}  // namespace stator::admin
