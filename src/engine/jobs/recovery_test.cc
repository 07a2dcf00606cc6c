// SPDX-License-Identifier: Apache-2.0
// Point-in-time recovery: tables restored to earlier points in time.
#include <map>
#include <random>
#include <set>

#include "engine/admin/administration.h"
#include "engine/catalog/catalog_codec.h"
#include "engine/catalog/records.h"
#include "engine/jobs/job_engine.h"
#include "engine/streams/point_in_time.h"
#include "engine/testing/engine_harness.h"
#include "engine/verify/verify.h"
#include "support/from_environment.h"
#include "support/must.h"

namespace stator::test {
namespace {

constexpr std::chrono::hours kDay{24};

class Recovery : public EngineTest {
 protected:
  Recovery() {
    open_directory();
    CreateTableRequest things = range_table();
    things.attributes.push_back({"n", ScalarType::kN});
    things.global_indexes = {index_on("byN", {{"n", KeyType::kHash}})};
    create(things);
  }

  Result<Item> set_recovery(bool enabled, int64_t days = 35) {
    return engine_->administer(
        admin::kUpdateContinuousBackups,
        {{"TableName", "Things"},
         {"PointInTimeRecoverySpecification",
          Item{{"PointInTimeRecoveryEnabled", enabled}, {"RecoveryPeriodInDays", days}}}});
  }
  Item recovery() {
    const auto described =
        engine_->administer(admin::kDescribeContinuousBackups, {{"TableName", "Things"}});
    EXPECT_THAT(described, IsOk());
    if (!described) return {};
    const Item& backups = map_of(*described, "ContinuousBackupsDescription");
    EXPECT_EQ(text_of(backups, "ContinuousBackupsStatus"), "ENABLED");
    return map_of(backups, "PointInTimeRecoveryDescription");
  }
  static Item request_for(const std::string& target, int64_t time_ms) {
    return {
        {"SourceTableName", "Things"}, {"TargetTableName", target}, {"RestoreDateTime", time_ms}};
  }
  Result<Item> restore(const Item& request) {
    return engine_->administer(admin::kRestoreTableToPointInTime, request);
  }
  Contents contents(const std::string& table, std::optional<std::string> index = {}) {
    Contents found;
    for (Item& item : all_pages(ScanRequest{.table = table, .index = std::move(index)})) {
      std::string name = key_text(item);
      found.emplace(std::move(name), std::move(item));
    }
    return found;
  }
  Contents restored_to(int64_t time_ms) {
    const std::string table = "At" + std::to_string(++restored_);
    EXPECT_THAT(restore(request_for(table, time_ms)), IsOk());
    wait_for_table(table);
    return contents(table);
  }
  void write_something(std::mt19937_64& random, Contents& model) {
    const Item key{{"pk", std::string(1, static_cast<char>('a' + random() % 20))},
                   {"sk", static_cast<int64_t>(random() % 8)}};
    if (random() % 3 == 0) {
      ASSERT_THAT(erase({.table = "Things", .key = key}), IsOk());
      model.erase(key_text(key));
      return;
    }
    Item item = key;
    item["n"] = static_cast<int64_t>(random() % 1000);
    ASSERT_THAT(put("Things", item), IsOk());
    model[key_text(key)] = item;
  }
  std::vector<Item> backups(const std::string& type) {
    const auto listed = engine_->administer(admin::kListBackups, {{"BackupType", type}});
    EXPECT_THAT(listed, IsOk());
    std::vector<Item> found;
    if (!listed) return found;
    for (const AttributeValue& summary : list_of(*listed, "BackupSummaries")) {
      found.push_back(as_map(summary));
    }
    return found;
  }
  void put_many(int count, int n) {
    for (int i = 0; i < count; ++i) {
      ASSERT_THAT(put("Things", {{"pk", std::to_string(i)}, {"sk", 0}, {"n", n}}), IsOk());
    }
  }
  std::vector<Finding> findings() {
    return verify(engine_->store(), [](std::string_view, uint64_t, uint64_t) {}).findings;
  }
  TablePtr table(const std::string& name = "Things") {
    return *must(engine_->parts().catalog->newest_snapshot())->find(name);
  }
  std::size_t rows_of(SpaceId space) {
    std::size_t rows = 0;
    EXPECT_THAT(read_range(engine_->store(), {.range = space_range(space)},
                           [&](std::string_view, std::string_view) {
                             ++rows;
                             return true;
                           }),
                IsOk());
    return rows;
  }

  int restored_ = 0;
};

TEST_F(Recovery, RestoresATableToEachPointInTimeOfARandomHistory) {
  const uint64_t seed = number_from_environment("STATOR_SEED", std::random_device{}());
  SCOPED_TRACE("STATOR_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  Contents model;
  for (int i = 0; i < 50; ++i) ASSERT_NO_FATAL_FAILURE(write_something(random, model));
  ASSERT_THAT(set_recovery(true), IsOk());
  std::map<int64_t, Contents> moments = {{clock_.unix_ms(), model}};
  clock_.advance(std::chrono::seconds(1));
  for (int i = 0; i < 400; ++i) {
    ASSERT_NO_FATAL_FAILURE(write_something(random, model));
    if (random() % 40 != 0) continue;
    moments[clock_.unix_ms()] = model;
    clock_.advance(std::chrono::milliseconds(1 + random() % 10'000));
    if (random() % 4 == 0) clock_.advance(std::chrono::hours(5));
    if (random() % 4 == 0) open_directory();
    engine_->run_maintenance();
  }
  for (const auto& [time_ms, expected] : moments) {
    ASSERT_EQ(restored_to(time_ms), expected) << time_ms;
    const std::string last = "At" + std::to_string(restored_);
    ASSERT_EQ(contents(last, "byN"), expected);
  }
  ASSERT_THAT(restore({{"SourceTableArn", "Things"},
                       {"TargetTableName", "Latest"},
                       {"UseLatestRestorableTime", true}}),
              IsOk());
  wait_for_table("Latest");
  EXPECT_EQ(contents("Latest"), model);
  EXPECT_TRUE(findings().empty());
}

// Transfers preserve the sum of all accounts, so every restored table must have it.
TEST_F(Recovery, RestoresWholeTransactionsOfATableThatIsBeingWritten) {
  constexpr int kAccounts = 20;
  put_many(kAccounts, 100);
  ASSERT_THAT(set_recovery(true), IsOk());
  std::atomic<bool> stop{false};
  std::vector<std::thread> writers;
  for (unsigned writer = 0; writer < 4; ++writer) {
    writers.emplace_back([&, random = std::mt19937_64(writer)]() mutable {
      while (!stop) {
        const uint64_t from = random() % kAccounts;
        const uint64_t to = (from + 1 + random() % (kAccounts - 1)) % kAccounts;
        TransactWriteItemsRequest request;
        for (const auto& [account, change] : {std::pair(from, -1), std::pair(to, 1)}) {
          request.items.push_back({.action = TransactAction::kUpdate,
                                   .table = "Things",
                                   .item = {{"pk", std::to_string(account)}, {"sk", 0}},
                                   .update = "ADD n :change",
                                   .values = Values{{":change", change}}});
        }
        static_cast<void>(transact(request));
        clock_.advance(std::chrono::milliseconds(1));
      }
    });
  }
  for (int i = 0; i < 10; ++i) {
    int64_t sum = 0;
    for (const auto& [name, item] : restored_to(clock_.unix_ms())) sum += integer_of(item, "n");
    EXPECT_EQ(sum, 100 * kAccounts);
  }
  stop = true;
  for (std::thread& writer : writers) writer.join();
}

TEST_F(Recovery, ResumesARestorationAfterARestart) {
  put_many(700, 1);
  ASSERT_THAT(set_recovery(true), IsOk());
  const Contents expected = contents("Things");
  const int64_t time_ms = clock_.unix_ms();
  clock_.advance(std::chrono::seconds(1));
  put_many(1400, 2);
  ASSERT_THAT(restore(request_for("Again", time_ms)), IsOk());
  open_directory();  // interrupts the job at any point
  EXPECT_TRUE(findings().empty());
  wait_for_table("Again");
  EXPECT_EQ(contents("Again"), expected);
  EXPECT_EQ(contents("Again", "byN"), expected);
}

// The history that a restore reads is kept until the restore has ended.
TEST_F(Recovery, RestoresATableThatIsDeletedConcurrently) {
  put_many(700, 1);
  ASSERT_THAT(set_recovery(true), IsOk());
  const Contents expected = contents("Things");
  PinnedHistory history{.space = table()->definition().space, .log = table()->log_space()};
  history.commit_version = must(commit_version_at(engine_->store(), history.log, clock_.unix_ms()));
  clock_.advance(std::chrono::seconds(1));
  put_many(350, 2);  // the other items are only in the table
  // The state after an earlier process that had not copied anything.
  TableDefinition definition = table()->definition();
  definition.settings.table = "Again";
  definition.id = "4fd3b6f4-2f3c-4a53-8d3a-1d2c5a0e7f10";
  definition.log_space = 0;
  definition.recovery_ms = 0;
  {
    const TablePtr source = table();
    const PinRequest pin{.source = source.get()};
    must(engine_->parts().catalog->begin_restore(
        std::move(definition),
        Item{{"From", history.space},
             {"Log", history.log},
             {"Stamp", static_cast<int64_t>(history.commit_version)}},
        &pin));
  }
  ASSERT_THAT(engine_->delete_table({.table = "Things"}), IsOk());
  clock_.advance(kDay * 36);
  engine_->run_maintenance();
  EXPECT_TRUE(findings().empty());
  open_directory();
  wait_for_table("Again");
  EXPECT_EQ(contents("Again"), expected);
  EXPECT_TRUE(comes_true([&] {
    engine_->run_maintenance();
    return rows_of(history.space) == 0 && rows_of(history.log) == 0;
  }));
  EXPECT_TRUE(findings().empty());
}

TEST_F(Recovery, ADroppedTableLeavesABackupOfItsLastState) {
  ASSERT_THAT(set_recovery(true), IsOk());
  put_many(300, 7);
  const Contents expected = contents("Things");
  const SpaceId space = table()->definition().space;
  ASSERT_THAT(engine_->delete_table({.table = "Things"}), IsOk());
  open_directory();
  EXPECT_TRUE(backups("USER").empty());
  ASSERT_EQ(backups("SYSTEM").size(), 1U);
  ASSERT_EQ(backups("ALL").size(), 1U);
  const Item backup = backups("SYSTEM")[0];
  const std::string arn = text_of(backup, "BackupArn");
  EXPECT_EQ(text_of(backup, "BackupName"), "Things$DeletedTableBackup");
  EXPECT_EQ(text_of(backup, "BackupStatus"), "AVAILABLE");
  EXPECT_THAT(engine_->administer(admin::kDeleteBackup, {{"BackupArn", arn}}),
              FailsWith(Code::kValidation, "SYSTEM"));
  EXPECT_TRUE(findings().empty());

  const Item request{{"BackupArn", arn}, {"TargetTableName", "Things"}};
  ASSERT_THAT(engine_->administer(admin::kRestoreTableFromBackup, request), IsOk());
  wait_for_table("Things");
  EXPECT_EQ(contents("Things"), expected);
  EXPECT_EQ(contents("Things", "byN"), expected);

  clock_.advance(kDay * 35 - std::chrono::seconds(1));
  engine_->run_maintenance();
  EXPECT_EQ(backups("SYSTEM").size(), 1U);
  clock_.advance(std::chrono::seconds(1));
  engine_->run_maintenance();
  EXPECT_TRUE(backups("SYSTEM").empty());
  EXPECT_TRUE(comes_true([&] { return rows_of(space) == 0; }));
  EXPECT_EQ(contents("Things"), expected);
  EXPECT_TRUE(findings().empty());
}

TEST_F(Recovery, ADroppedTableWithoutItLeavesNothing) {
  put_many(3, 7);
  const SpaceId space = table()->definition().space;
  ASSERT_THAT(engine_->delete_table({.table = "Things"}), IsOk());
  EXPECT_TRUE(backups("ALL").empty());
  EXPECT_TRUE(comes_true([&] { return rows_of(space) == 0; }));
}

TEST_F(Recovery, KeepsRecordingForJobsThatPinTheLog) {
  ASSERT_THAT(set_recovery(true), IsOk());
  const SpaceId log = table()->log_space();
  const std::string job = record_key(RecordKind::kExport, "job");
  Catalog& catalog = *engine_->parts().catalog;
  ASSERT_THAT(
      catalog.begin_pinned(job,
                           Item{{"From", table()->definition().space},
                                {"Log", log},
                                {"Stamp", 1},
                                {"Status", "COMPLETED"}},  // so that no engine resumes the job
                           {.source = table().get()}),
      IsOk());
  ASSERT_THAT(set_recovery(false), IsOk());
  EXPECT_EQ(text_of(recovery(), "PointInTimeRecoveryStatus"), "DISABLED");
  engine_->run_maintenance();
  EXPECT_EQ(table()->log_space(), log);
  EXPECT_TRUE(findings().empty());
  ASSERT_THAT(catalog.change_pinned(job,
                                    [](Item& record) -> Result<void> {
                                      record.clear();
                                      return {};
                                    }),
              IsOk());
  engine_->run_maintenance();
  EXPECT_EQ(table()->log_space(), 0U);
  EXPECT_TRUE(comes_true([&] {
    engine_->run_maintenance();
    return rows_of(log) == 0;
  }));
}

TEST_F(Recovery, KeepsChangesForThePeriodAndNoLonger) {
  ASSERT_THAT(set_recovery(true, 2), IsOk());
  std::map<int64_t, Contents> moments;
  for (int hour = 0; hour < 24 * 5; ++hour) {
    ASSERT_THAT(put("Things", {{"pk", "a"}, {"sk", hour % 3}, {"n", hour}}), IsOk());
    moments[clock_.unix_ms()] = contents("Things");
    clock_.advance(std::chrono::hours(1));
    engine_->run_maintenance();
  }
  EXPECT_LE(rows_of(table()->log_space()), 2U * 24 + 4 + 16);
  const int64_t earliest_ms = clock_.unix_ms() - 2 * kDay / std::chrono::milliseconds(1);
  EXPECT_EQ(recovery().at("EarliestRestorableDateTime"), seconds(earliest_ms));
  EXPECT_EQ(recovery().at("LatestRestorableDateTime"), seconds(clock_.unix_ms()));
  EXPECT_THAT(restore(request_for("Old", earliest_ms - 1)),
              FailsWith(Code::kInvalidRestoreTime, "must be within EarliestRestorableDateTime '"));
  EXPECT_THAT(restore(request_for("Future", clock_.unix_ms() + 1)),
              FailsWith(Code::kInvalidRestoreTime, "' and LatestRestorableDateTime '"));
  EXPECT_EQ(restored_to(earliest_ms), moments.at(earliest_ms));
  // Discarded history does not return with a longer period or when recovery is enabled again.
  ASSERT_THAT(set_recovery(true, 35), IsOk());
  EXPECT_EQ(recovery().at("EarliestRestorableDateTime"), seconds(earliest_ms));
  clock_.advance(std::chrono::hours(1));
  EXPECT_EQ(recovery().at("EarliestRestorableDateTime"), seconds(earliest_ms));
  ASSERT_THAT(set_recovery(false), IsOk());
  ASSERT_THAT(set_recovery(true), IsOk());
  open_directory();
  EXPECT_EQ(recovery().at("EarliestRestorableDateTime"), seconds(clock_.unix_ms()));
  EXPECT_EQ(recovery().at("RecoveryPeriodInDays"), AttributeValue(35));
}

TEST_F(Recovery, IsNeverEarliestAfterItIsLatest) {
  clock_.advance(std::chrono::milliseconds(500));
  ASSERT_THAT(set_recovery(true), IsOk());
  const auto expect_one_time = [&] {
    const Item times = recovery();
    EXPECT_EQ(times.at("EarliestRestorableDateTime"), times.at("LatestRestorableDateTime"));
    const auto time_ms = integer_of(times, "LatestRestorableDateTime") * 1000;
    return time_ms;
  };
  ASSERT_THAT(put("Things", {{"pk", "a"}, {"sk", 1}}), IsOk());
  const Contents written = contents("Things");
  expect_one_time();
  clock_.advance(-std::chrono::hours(1));
  EXPECT_EQ(restored_to(expect_one_time()), written);
}

TEST_F(Recovery, IsOffUntilItIsSwitchedOn) {
  EXPECT_EQ(recovery(), (Item{{"PointInTimeRecoveryStatus", "DISABLED"}}));
  EXPECT_THAT(restore(request_for("Copy", clock_.unix_ms())),
              FailsWith(Code::kPointInTimeRecoveryUnavailable,
                        "Point in time recovery is not enabled for table 'Things'"));
  EXPECT_THAT(engine_->administer(admin::kDescribeContinuousBackups, {{"TableName", "None"}}),
              FailsWith(Code::kTableNotFound, "Table not found: None"));
}

TEST_F(Recovery, RejectsRequestsWithMissingOrExtraParameters) {
  ASSERT_THAT(set_recovery(true), IsOk());
  const int64_t now_ms = clock_.unix_ms();
  EXPECT_THAT(restore({{"TargetTableName", "Copy"}, {"UseLatestRestorableTime", true}}),
              FailsWith(Code::kValidation, "The parameter 'TableName' is required"));
  EXPECT_THAT(
      restore({{"TargetTableName", "Copy"},
               {"SourceTableName", "Things"},
               {"SourceTableArn", "Things"},
               {"UseLatestRestorableTime", true}}),
      FailsWith(Code::kValidation, "Must provide exactly one of: sourceTableArn, sourceTableName"));
  EXPECT_THAT(restore({{"SourceTableName", "Things"}, {"TargetTableName", "Copy"}}),
              FailsWith(Code::kValidation,
                        "Invalid Request: Either one of RestoreDateTime or "
                        "UseLatestRestorableTime must be specified, but not both"));
  Item both = request_for("Copy", now_ms);
  both["UseLatestRestorableTime"] = true;
  EXPECT_THAT(restore(both), FailsWith(Code::kValidation,
                                       "Invalid Request: Both RestoreDateTime and "
                                       "UseLatestRestorableTime cannot be set"));
  both["SourceTableName"] = "None";  // missing members are reported first
  EXPECT_THAT(restore(both), FailsWith(Code::kValidation, "cannot be set"));
  EXPECT_THAT(restore(request_for("Things", now_ms)),
              FailsWith(Code::kTableAlreadyExists, "Table already exists: Things"));
  Item unknown = request_for("Copy", now_ms);
  unknown["SourceTableName"] = "None";
  EXPECT_THAT(restore(unknown), FailsWith(Code::kTableNotFound, "Table not found: None"));
}

TEST_F(Recovery, RefusesOverridesThatDoNotFitTheTable) {
  ASSERT_THAT(set_recovery(true), IsOk());
  const auto refused = [&](const Item& overrides, const char* text) {
    Item request = request_for("Copy", clock_.unix_ms());
    request.insert(overrides.begin(), overrides.end());
    EXPECT_THAT(restore(request), FailsWith(Code::kValidation, text));
  };
  const Item throughput{{"ReadCapacityUnits", 3}, {"WriteCapacityUnits", 4}};
  refused({{"ProvisionedThroughputOverride", throughput}},
          "Invalid Request: Cannot override ProvisionedThroughput unless BillingMode is "
          "PROVISIONED");
  refused(
      {{"ProvisionedThroughputOverride", throughput}, {"BillingModeOverride", "PAY_PER_REQUEST"}},
      "Invalid Request: Cannot override ProvisionedThroughput if BillingMode is overridden to "
      "PAY_PER_REQUEST");
  refused({{"BillingModeOverride", "PROVISIONED"}},
          "Invalid Request: Must override ProvisionedThroughput if BillingMode is overridden to "
          "PROVISIONED");
  const Item index{{"IndexName", "other"},
                   {"KeySchema", List{Item{{"AttributeName", "pk"}, {"KeyType", "HASH"}}}},
                   {"Projection", Item{{"ProjectionType", "ALL"}}}};
  refused({{"GlobalSecondaryIndexOverride", List{index}}},
          "Invalid Request: Index other does not match a secondary index that existed in the "
          "source table and cannot be created during the restore operation");
  EXPECT_THAT(engine_->describe_table({.table = "Copy"}), FailsWith(Code::kResourceNotFound, ""));
}

TEST_F(Recovery, DescribesARestorationInTheTablesDescription) {
  put_many(3, 1);
  ASSERT_THAT(set_recovery(true), IsOk());
  const int64_t time_ms = clock_.unix_ms();
  Item request = request_for("Copy", time_ms);
  request["GlobalSecondaryIndexOverride"] = List();
  request["BillingModeOverride"] = "PROVISIONED";
  request["ProvisionedThroughputOverride"] =
      Item{{"ReadCapacityUnits", 3}, {"WriteCapacityUnits", 4}};
  const auto begun = restore(request);
  ASSERT_THAT(begun, IsOk());
  const std::string source = "arn:aws:dynamodb:us-east-1:000000782867:table/Things";
  EXPECT_EQ(map_of(map_of(*begun, "TableDescription"), "RestoreSummary"),
            (Item{{"SourceTableArn", source},
                  {"RestoreDateTime", seconds(time_ms)},
                  {"RestoreInProgress", true}}));
  wait_for_table("Copy");
  open_directory();
  const auto described = engine_->describe_table({.table = "Copy"});
  ASSERT_THAT(described, IsOk());
  EXPECT_EQ(described->table.restore,
            (RestoreSummary{.source_table_arn = source, .time_ms = time_ms}));
  EXPECT_TRUE(described->table.global_indexes.empty());
  EXPECT_EQ(described->table.throughput, (Throughput{3, 4}));
  EXPECT_EQ(contents("Copy").size(), 3U);
}

TEST_F(Recovery, IsVerified) {
  Item record{{"Definition", Binary{encode_table(table()->definition())}},
              {"From", table()->definition().space},
              {"Log", 999},
              {"Stamp", 1}};
  ASSERT_THAT(Records(engine_->store())
                  .change(record_key(RecordKind::kRestore, "Again"),
                          [&](Item& kept) -> Result<void> {
                            kept = record;
                            return {};
                          }),
              IsOk());
  Batch batch;
  put_pins(batch, kFirstTableSpace, {.records = {{"eGone", 7}}});
  ASSERT_EQ(write_and_wait(engine_->store(), std::move(batch)).outcome, CommitOutcome::kCommitted);
  std::vector<std::string> lines;
  for (const Finding& finding : findings()) lines.push_back(finding.message);
  const std::string again = "the restore of 'Again' ";
  EXPECT_THAT(lines, ::testing::UnorderedElementsAre(
                         again + "reads space 16 and log 999, which are not there",
                         again + "has not pinned what it reads of space 16",
                         again + "has not pinned what it reads of space 999",
                         "export 'Gone' does not exist, and pins space 16"));
}

}  // namespace
}  // namespace stator::test
