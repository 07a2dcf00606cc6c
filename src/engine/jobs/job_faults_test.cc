// SPDX-License-Identifier: Apache-2.0
// Jobs of every kind on a store that fails one of their operations, each in turn.
#include <fstream>
#include <functional>

#include "api/admin/document.h"
#include "engine/admin/administration.h"
#include "engine/catalog/records.h"
#include "engine/jobs/backups.h"
#include "engine/jobs/job_engine.h"
#include "engine/testing/engine_harness.h"
#include "engine/testing/faulty_store.h"

namespace stator::test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr int kItems = 12;

class JobFaults : public EngineTest {
 protected:
  JobFaults() { restart(); }
  ~JobFaults() override { engine_.reset(); }

  // Creates a new store with the tables and the backup that the jobs use.
  void restart() {
    engine_.reset();
    faults_.mend();
    std::filesystem::create_directories(buckets_ / "mine");
    std::filesystem::remove_all(buckets_ / "mine" / "AWSDynamoDB");
    store_ = make_memory_store();
    reopen();
    CreateTableRequest songs = hash_table("Songs");
    songs.attributes.push_back({"genre", ScalarType::kS});
    songs.global_indexes = {index_on("byGenre", {{"genre", KeyType::kHash}})};
    create(songs);
    call(admin::kUpdateContinuousBackups,
         {{"TableName", "Songs"},
          {"PointInTimeRecoverySpecification", Item{{"PointInTimeRecoveryEnabled", true}}}});
    for (int i = 0; i < kItems; ++i) put_song(i);
    moment_ms_ = clock_.unix_ms();
    clock_.advance(1h);
    put_song(kItems);
    backup_ = create_backup();
    wait_for_backup(backup_);
  }
  // Destroys the engine, with its jobs, and opens another one on the same store.
  void reopen() {
    engine_.reset();
    faults_.mend();
    auto opened = Engine::open(std::make_unique<FaultyStore>(faults_, store_),
                               {.clock = &clock_,
                                .buckets = buckets_,
                                .sweep_interval = {},
                                .retry_delay = [this](int) { return pause_.load(); },
                                .maintenance_interval = {}});
    ASSERT_THAT(opened, IsOk());
    engine_ = std::move(*opened);
  }
  void put_song(int i) {
    ASSERT_THAT(put("Songs", {{"pk", std::to_string(i)}, {"genre", "folk"}, {"expires", i}}),
                IsOk());
  }

  Item call(const admin::Operation& operation, const Item& request) {
    auto answer = engine_->administer(operation, request);
    EXPECT_THAT(answer, IsOk());
    return answer ? std::move(*answer) : Item();
  }
  std::string create_backup() {
    const Item answer =
        call(admin::kCreateBackup, {{"TableName", "Songs"}, {"BackupName", "Copy"}});
    return text_of(map_of(answer, "BackupDetails"), "BackupArn");
  }
  std::string backup_status(const std::string& arn) {
    const auto answer = engine_->administer(admin::kDescribeBackup, {{"BackupArn", arn}});
    if (!answer) return "";
    return text_of(map_of(map_of(*answer, "BackupDescription"), "BackupDetails"), "BackupStatus");
  }
  void wait_for_backup(const std::string& arn) {
    ASSERT_TRUE(comes_true([&] { return backup_status(arn) != "CREATING"; }));
  }
  std::string import() {
    std::ofstream file(buckets_ / "mine" / "rows.csv");
    file << "pk,genre\n";
    for (int i = 0; i < kItems; ++i) file << i << ",folk\n";
    file.close();
    const Item answer = call(
        admin::kImportTable,
        {{"S3BucketSource", Item{{"S3Bucket", "mine"}, {"S3KeyPrefix", "rows"}}},
         {"InputFormat", "CSV"},
         {"TableCreationParameters",
          Item{
              {"TableName", "New"},
              {"BillingMode", "PAY_PER_REQUEST"},
              {"AttributeDefinitions", List{Item{{"AttributeName", "pk"}, {"AttributeType", "S"}}}},
              {"KeySchema", List{Item{{"AttributeName", "pk"}, {"KeyType", "HASH"}}}}}}});
    return text_of(map_of(answer, "ImportTableDescription"), "ImportArn");
  }
  std::string export_table(Item more) {
    more.insert({{"TableArn", "arn:aws:dynamodb:us-east-1:000000782867:table/Songs"},
                 {"S3Bucket", "mine"}});
    return text_of(map_of(call(admin::kExportTableToPointInTime, more), "ExportDescription"),
                   "ExportArn");
  }
  Item described(const admin::Operation& operation, const std::string& kind,
                 const std::string& member, const std::string& arn) {
    return map_of(call(operation, {{kind + "Arn", arn}}), member);
  }
  Item described_import(const std::string& arn) {
    return described(admin::kDescribeImport, "Import", "ImportTableDescription", arn);
  }
  Item described_export(const std::string& arn) {
    return described(admin::kDescribeExport, "Export", "ExportDescription", arn);
  }
  Item ended(const std::function<Item()>& describe, const std::string& status) {
    EXPECT_TRUE(comes_true([&] { return text_of(describe(), status) != "IN_PROGRESS"; }));
    return describe();
  }
  int64_t count(const std::string& table, std::optional<std::string> index = {}) {
    const auto page =
        call_and_wait(*engine_, &Engine::scan,
                      {.table = table, .index = std::move(index), .select = Select::kCount});
    EXPECT_THAT(page, IsOk());
    return page ? page->count : -1;
  }

  // Returns the index once it is filled.
  IndexDescription add_index(const std::string& name) {
    EXPECT_THAT(
        engine_->update_table(
            {.table = "Songs",
             .attributes = {{{"genre", ScalarType::kS}}},
             .global_indexes = {{{.create = index_on(name, {{"genre", KeyType::kHash}})}}}}),
        IsOk());
    const auto index = [&] {
      return engine_->describe_table({.table = "Songs"})->table.global_indexes.back();
    };
    EXPECT_TRUE(comes_true([&] { return index().status == TableStatus::kActive; }));
    return index();
  }

  // Runs a job on a new store. First its first operation fails, then its second, until none fails.
  void refuse_each_operation(const std::function<void()>& job) {
    for (const Code code : {Code::kThrottling, Code::kIo}) {
      for (int operation = 0;; ++operation) {
        SCOPED_TRACE("operation " + std::to_string(operation) + ", code " +
                     std::to_string(static_cast<int>(code)));
        ASSERT_LT(operation, 1000);
        restart();
        faults_.fail_at(operation, {.code = code, .message = "refused"});
        job();
        if (testing::Test::HasFailure()) return;
        // Work that the job leaves to other jobs can end later.
        if (!faults_.has_failed()) {
          EXPECT_GT(operation, 2);
          break;
        }
      }
    }
  }

  TempDir buckets_directory_;
  std::filesystem::path buckets_ = buckets_directory_.path();
  std::atomic<std::chrono::milliseconds> pause_ = 0ms;
  Faults faults_;
  std::shared_ptr<TransactStore> store_;
  int64_t moment_ms_ = 0;
  std::string backup_;
};

TEST_F(JobFaults, ABackupSurvivesARefusalOfAnyOperation) {
  refuse_each_operation([&] {
    const std::string arn = create_backup();
    wait_for_backup(arn);
    EXPECT_EQ(backup_status(arn), "AVAILABLE");
    call(admin::kRestoreTableFromBackup, {{"BackupArn", arn}, {"TargetTableName", "Copy"}});
    wait_for_table("Copy");
    EXPECT_EQ(count("Copy"), kItems + 1);
  });
}

TEST_F(JobFaults, ARestorationSurvivesARefusalOfAnyOperation) {
  refuse_each_operation([&] {
    call(admin::kRestoreTableFromBackup, {{"BackupArn", backup_}, {"TargetTableName", "Copy"}});
    wait_for_table("Copy");
    EXPECT_EQ(count("Copy"), kItems + 1);
    EXPECT_EQ(count("Copy", "byGenre"), kItems + 1);
  });
}

TEST_F(JobFaults, ARestorationToAPointInTimeSurvivesARefusalOfAnyOperation) {
  refuse_each_operation([&] {
    call(admin::kRestoreTableToPointInTime, {{"SourceTableName", "Songs"},
                                             {"TargetTableName", "Copy"},
                                             {"RestoreDateTime", moment_ms_}});
    wait_for_table("Copy");
    EXPECT_EQ(count("Copy"), kItems);
    EXPECT_EQ(count("Copy", "byGenre"), kItems);
  });
}

TEST_F(JobFaults, AnImportSurvivesARefusalOfAnyOperation) {
  refuse_each_operation([&] {
    const std::string arn = import();
    const Item import = ended([&] { return described_import(arn); }, "ImportStatus");
    EXPECT_EQ(text_of(import, "ImportStatus"), "COMPLETED");
    EXPECT_FALSE(import.contains("FailureCode"));
    EXPECT_EQ(integer_of(import, "ImportedItemCount"), kItems);
    EXPECT_EQ(integer_of(import, "ProcessedItemCount"), kItems);
    EXPECT_EQ(count("New"), kItems);
  });
}

TEST_F(JobFaults, BulkPutsSurviveARefusalOfAnyOperation) {
  refuse_each_operation([&] {
    std::ofstream file(buckets_ / "mine" / "puts.json");
    const std::string if_new = R"-(,"ConditionExpression":"attribute_not_exists(pk)"})-";
    for (int i = 0; i < 2 * kItems; ++i) {
      file << R"({"Item":{"pk":{"S":")" << i << R"("},"genre":{"S":"jazz"}})" << if_new << '\n';
    }
    file << "garbage";
    file.close();
    const Item answer = call(
        admin::kStartBulkPutItems,
        {{"TableName", "Songs"},
         {"InputS3Configuration",
          Item{{"S3Bucket", "mine"}, {"S3KeyPrefix", "puts"}, {"InputFormat", "DYNAMODB_JSON"}}},
         {"OutputS3Configuration",
          Item{{"S3Bucket", "mine"}, {"OutputType", List{"CONDITION_CHECK_FAILURE"}}}}});
    const std::string arn = text_of(map_of(answer, "BulkOperationDescription"), "BulkOperationArn");
    const Item bulk = ended(
        [&] {
          return described(admin::kDescribeBulkOperation, "BulkOperation",
                           "BulkOperationDescription", arn);
        },
        "BulkOperationStatus");
    EXPECT_EQ(text_of(bulk, "BulkOperationStatus"), "COMPLETED_WITH_ERRORS");
    EXPECT_EQ(integer_of(bulk, "ProcessedItemCount"), 2 * kItems + 1);
    EXPECT_EQ(integer_of(bulk, "FailedItemCount"), 1);
    EXPECT_EQ(count("Songs"), 2 * kItems);
    EXPECT_EQ(count("Songs", "byGenre"), 2 * kItems);
    EXPECT_TRUE(Records(engine_->store()).list(RecordKind::kOutput)->empty());
  });
}

// The engine stops at each operation of the import in turn.
TEST_F(JobFaults, AnImportThatFailsIsNeverCompletedAfterARestart) {
  for (int operation = 0;; ++operation) {
    SCOPED_TRACE("operation " + std::to_string(operation));
    ASSERT_LT(operation, 1000);
    pause_ = 0ms;
    restart();
    pause_ = 1h;
    faults_.fail_all({.code = Code::kIo, .message = "refused"});
    const std::string arn = import();
    ASSERT_TRUE(comes_true([&] { return engine_->stats().failing_jobs == 1; }));
    std::filesystem::remove_all(buckets_ / "mine");
    faults_.fail_at(operation, {.code = Code::kIo, .message = "refused"});
    engine_->parts().jobs.retry_now();
    ASSERT_TRUE(comes_true([&] { return faults_.has_failed() || engine_->stats().jobs == 0; }));
    const bool has_failed = faults_.has_failed();
    reopen();
    const Item import = ended([&] { return described_import(arn); }, "ImportStatus");
    EXPECT_EQ(text_of(import, "ImportStatus"), "FAILED");
    EXPECT_EQ(text_of(import, "FailureCode"), "S3NoSuchBucket");
    EXPECT_EQ(count("New"), 0);
    if (!has_failed) {
      EXPECT_GT(operation, 2);
      return;
    }
  }
}

TEST_F(JobFaults, AnExportSurvivesARefusalOfAnyOperation) {
  refuse_each_operation([&] {
    const std::string arn = export_table({{"ExportTime", moment_ms_}});
    const Item exported = ended([&] { return described_export(arn); }, "ExportStatus");
    EXPECT_EQ(text_of(exported, "ExportStatus"), "COMPLETED");
    EXPECT_EQ(integer_of(exported, "ItemCount"), kItems);
  });
}

TEST_F(JobFaults, AnIncrementalExportSurvivesARefusalOfAnyOperation) {
  refuse_each_operation([&] {
    const std::string arn =
        export_table({{"ExportType", "INCREMENTAL_EXPORT"},
                      {"IncrementalExportSpecification",
                       Item{{"ExportFromTime", moment_ms_}, {"ExportToTime", clock_.unix_ms()}}}});
    const Item exported = ended([&] { return described_export(arn); }, "ExportStatus");
    EXPECT_EQ(text_of(exported, "ExportStatus"), "COMPLETED");
    EXPECT_EQ(integer_of(exported, "ItemCount"), kItems);
  });
}

TEST_F(JobFaults, AnIndexIsFilledDespiteARefusalOfAnyOperation) {
  refuse_each_operation([&] {
    EXPECT_EQ(add_index("again").item_count, kItems + 1);
    EXPECT_EQ(count("Songs", "again"), kItems + 1);
  });
}

TEST_F(JobFaults, AnIndexWhoseLastStepIsRefusedIsNotFilledAgain) {
  std::vector<std::size_t> scans;  // scans of the table, by the operation that failed
  do {
    ASSERT_LT(scans.size(), 1000U);
    restart();
    const KeyRange rows =
        space_range((*engine_->parts().catalog->snapshot()->find("Songs"))->key().space);
    faults_.take_scans(rows);
    faults_.fail_at(static_cast<int>(scans.size()), {.code = Code::kIo, .message = "refused"});
    add_index("again");
    scans.push_back(faults_.take_scans(rows).size());
  } while (faults_.has_failed());
  ASSERT_GT(scans.size(), 2U);
  const std::size_t unhindered = scans.back();
  EXPECT_GT(unhindered, 0U);
  EXPECT_EQ(scans[scans.size() - 2], unhindered);
}

TEST_F(JobFaults, TheRowsOfADroppedTableAreErasedDespiteARefusalOfAnyOperation) {
  refuse_each_operation([&] {
    call(admin::kUpdateContinuousBackups,
         {{"TableName", "Songs"},
          {"PointInTimeRecoverySpecification", Item{{"PointInTimeRecoveryEnabled", false}}}});
    ASSERT_THAT(engine_->delete_table({.table = "Songs"}), IsOk());
    const std::string dropped = catalog_row_key(CatalogRow::kDropped);
    EXPECT_TRUE(comes_true([&] {
      bool any = false;
      EXPECT_THAT(
          read_range(engine_->store(), {.range = {.begin = dropped, .end = prefix_end(dropped)}},
                     [&](std::string_view, std::string_view) { return any = true; }),
          IsOk());
      return !any;
    }));
  });
}

TEST_F(JobFaults, AJobSaysWhyItWaitsAndResumesWithoutARestart) {
  pause_ = 1h;
  faults_.fail_all({.code = Code::kIo, .message = "the disk is full"});
  const std::string backup = create_backup();
  const std::string import_arn = import();
  const std::string export_arn = export_table({});
  for (const auto& describe :
       std::vector<std::function<Item()>>{[&] { return described_import(import_arn); },
                                          [&] { return described_export(export_arn); }}) {
    ASSERT_TRUE(comes_true([&] { return describe().contains("FailureMessage"); }));
    EXPECT_EQ(text_of(describe(), "FailureCode"), "InternalServerError");
    EXPECT_EQ(text_of(describe(), "FailureMessage"), "the disk is full");
  }
  EXPECT_EQ(text_of(described_import(import_arn), "ImportStatus"), "IN_PROGRESS");
  EXPECT_EQ(text_of(described_export(export_arn), "ExportStatus"), "IN_PROGRESS");
  EXPECT_EQ(backup_status(backup), "CREATING");
  faults_.mend();
  ASSERT_TRUE(comes_true([&] {
    engine_->run_maintenance();
    return text_of(described_import(import_arn), "ImportStatus") == "COMPLETED" &&
           text_of(described_export(export_arn), "ExportStatus") == "COMPLETED" &&
           backup_status(backup) == "AVAILABLE";
  }));
  EXPECT_FALSE(described_import(import_arn).contains("FailureMessage"));
  EXPECT_EQ(count("New"), kItems);
}

TEST_F(JobFaults, ARequestForAPointInTimeDoesNotReadTheChangesSince) {
  clock_.advance(1h);
  for (int i = 0; i < 200; ++i) put_song(i);
  const TablePtr songs = *engine_->parts().catalog->snapshot()->find("Songs");
  constexpr std::size_t kEnds =
      2 * kLogPartitions;  // the last change of each log partition, a few boundaries
  faults_.watch(space_range(songs->log_space()));
  call(
      admin::kRestoreTableToPointInTime,
      {{"SourceTableName", "Songs"}, {"TargetTableName", "Copy"}, {"RestoreDateTime", moment_ms_}});
  EXPECT_LE(faults_.watched_rows(), kEnds);
  faults_.watch(space_range(songs->log_space()));
  const std::string arn = export_table({{"ExportTime", moment_ms_}});
  EXPECT_LE(faults_.watched_rows(), kEnds);
  wait_for_table("Copy");
  EXPECT_EQ(count("Copy"), kItems);
  EXPECT_EQ(integer_of(ended([&] { return described_export(arn); }, "ExportStatus"), "ItemCount"),
            kItems);
}

constexpr const char* kDamage = "a row is damaged";

class DamagedStore : public JobFaults {
 protected:
  void damage_next() { faults_.fail_at(0, {.code = Code::kCorruption, .message = kDamage}); }
};

TEST_F(DamagedStore, EndsABackupWhichIsDeleted) {
  damage_next();
  const std::string arn = create_backup();
  EXPECT_TRUE(comes_true([&] { return backup_status(arn).empty(); }));
}

TEST_F(DamagedStore, EndsARestorationWhoseTableIsDropped) {
  damage_next();
  call(admin::kRestoreTableFromBackup, {{"BackupArn", backup_}, {"TargetTableName", "Copy"}});
  ASSERT_TRUE(comes_true([&] { return !engine_->describe_table({.table = "Copy"}); }));
  create(hash_table("Copy"));
}

TEST_F(DamagedStore, EndsAnImportWhichSaysWhy) {
  damage_next();
  const std::string arn = import();
  const Item import = ended([&] { return described_import(arn); }, "ImportStatus");
  EXPECT_EQ(text_of(import, "ImportStatus"), "FAILED");
  EXPECT_EQ(text_of(import, "FailureCode"), "InternalServerError");
  EXPECT_EQ(text_of(import, "FailureMessage"), kDamage);
  EXPECT_THAT(engine_->delete_table({.table = "New"}), IsOk());
}

TEST_F(DamagedStore, EndsAnExportWhichSaysWhy) {
  damage_next();
  const std::string arn = export_table({});
  const Item exported = ended([&] { return described_export(arn); }, "ExportStatus");
  EXPECT_EQ(text_of(exported, "ExportStatus"), "FAILED");
  EXPECT_EQ(text_of(exported, "FailureCode"), "InternalServerError");
  EXPECT_EQ(text_of(exported, "FailureMessage"), kDamage);
}

}  // namespace
}  // namespace stator::test
