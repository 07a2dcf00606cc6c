// SPDX-License-Identifier: Apache-2.0
// Jobs of each kind while two engines share a store: the engine that works on a job is stopped at
// each of its calls in turn, and the other one finishes the job.
#include <fstream>

#include "api/admin/document.h"
#include "engine/catalog/records.h"
#include "engine/jobs/shared_jobs_harness.h"

namespace stator::test {
namespace {

// A kind of job, on the table of SharedJobs::restart().
class JobSharing : public SharedJobs, public ::testing::WithParamInterface<std::string> {
 protected:
  void prepare() override {
    restart();
    if (GetParam() == "restore") {
      backup_ = create_backup(*engine_);
      ASSERT_TRUE(comes_true([&] { return backup_status() == "AVAILABLE"; }));
    }
    if (GetParam() == "import") {
      std::ofstream file(buckets_ / "mine" / "rows.csv");
      file << "pk,genre\n";
      for (int i = 0; i < kItems; ++i) file << i << ",folk\n";
    }
    our_store_->take_has_written();
    their_store_->take_has_written();
  }

  void start(Engine& engine) override {
    if (GetParam() == "backup") {
      backup_ = create_backup(engine);
    } else if (GetParam() == "restore") {
      call(engine, admin::kRestoreTableFromBackup,
           {{"BackupArn", backup_}, {"TargetTableName", "Copy"}});
    } else if (GetParam() == "recovery") {
      call(engine, admin::kRestoreTableToPointInTime,
           {{"SourceTableName", "Songs"},
            {"TargetTableName", "Copy"},
            {"RestoreDateTime", moment_ms_}});
    } else if (GetParam() == "import") {
      import_ = start_import(engine);
    } else if (GetParam() == "index") {
      UpdateTableRequest request{.table = "Songs", .attributes = {{{"year", ScalarType::kS}}}};
      request.global_indexes = {{{.create = index_on("byYear", {{"year", KeyType::kHash}})}}};
      EXPECT_THAT(engine.update_table(request), IsOk());
    } else {
      EXPECT_THAT(
          engine.update_time_to_live(
              {.table = "Songs", .specification = {.enabled = true, .attribute = "expires"}}),
          IsOk());
    }
  }

  bool is_done() override {
    EXPECT_THAT(engine_->parts().catalog->refresh(), IsOk());
    if (GetParam() == "backup") return backup_status() == "AVAILABLE";
    if (GetParam() == "import") {
      const Item described = call(*engine_, admin::kDescribeImport, {{"ImportArn", import_}});
      return text_of(map_of(described, "ImportTableDescription"), "ImportStatus") == "COMPLETED";
    }
    const auto snapshot = engine_->parts().catalog->snapshot();
    const bool is_copy = GetParam() == "restore" || GetParam() == "recovery";
    const TablePtr* table = snapshot->find(is_copy ? "Copy" : "Songs");
    return table != nullptr && (*table)->definition().unfinished.empty();
  }

  void check() override {
    const auto expected = items("Songs");
    ASSERT_EQ(expected.size(), static_cast<std::size_t>(kItems));
    if (GetParam() == "restore" || GetParam() == "recovery") {
      EXPECT_EQ(items("Copy"), expected);
      EXPECT_EQ(items("Copy", "byGenre"), expected);
    } else if (GetParam() == "index") {
      EXPECT_EQ(items("Songs", "byYear"), expected);
    } else if (GetParam() == "import") {
      EXPECT_EQ(items("New").size(), expected.size());
      const Item described = call(*engine_, admin::kDescribeImport, {{"ImportArn", import_}});
      const Item import = map_of(described, "ImportTableDescription");
      EXPECT_EQ(integer_of(import, "ImportedItemCount"), kItems);
      EXPECT_EQ(integer_of(import, "ProcessedItemCount"), kItems);
    } else if (GetParam() == "backup") {
      call(*engine_, admin::kRestoreTableFromBackup,
           {{"BackupArn", backup_}, {"TargetTableName", "Copy"}});
      wait_for_table("Copy");
      EXPECT_EQ(items("Copy"), expected);
    }
  }

  std::string backup_;  // its ARN

 private:
  std::string create_backup(Engine& engine) {
    const Item answer =
        call(engine, admin::kCreateBackup, {{"TableName", "Songs"}, {"BackupName", "Copy"}});
    return text_of(map_of(answer, "BackupDetails"), "BackupArn");
  }
  std::string backup_status() {
    const Item answer = call(*engine_, admin::kDescribeBackup, {{"BackupArn", backup_}});
    return text_of(map_of(map_of(answer, "BackupDescription"), "BackupDetails"), "BackupStatus");
  }
  static std::string start_import(Engine& engine) {
    const Item key{{"AttributeName", "pk"}, {"AttributeType", "S"}};
    const Item answer =
        call(engine, admin::kImportTable,
             {{"S3BucketSource", Item{{"S3Bucket", "mine"}, {"S3KeyPrefix", "rows"}}},
              {"InputFormat", "CSV"},
              {"TableCreationParameters",
               Item{{"TableName", "New"},
                    {"BillingMode", "PAY_PER_REQUEST"},
                    {"AttributeDefinitions", List{key}},
                    {"KeySchema", List{Item{{"AttributeName", "pk"}, {"KeyType", "HASH"}}}}}}});
    return text_of(map_of(answer, "ImportTableDescription"), "ImportArn");
  }

  std::string import_;
};

TEST_P(JobSharing, AnotherEngineFinishesWhatADeadOneBegan) {
  stop_at_each_call([&] { kill_ours(); }, [] {});
}

TEST_P(JobSharing, AnOwnerThatWakesUpAfterItsLeaseWritesNothing) {
  stop_at_each_call([] {}, [&] { wake_up_ours(); });
}

TEST_P(JobSharing, OneEngineWorksOnAJobWhileBothRun) {
  prepare();
  start(*ours_);
  ASSERT_TRUE(comes_true([&] {
    engine_->run_maintenance();
    return is_done();
  }));
  EXPECT_TRUE(comes_true([&] { return ours_->stats().jobs + engine_->stats().jobs == 0; }));
  const bool our_part = our_store_->take_has_written();
  const bool their_part = their_store_->take_has_written();
  EXPECT_NE(our_part, their_part);
  check();
  expect_sound();
}

TEST_P(JobSharing, AnEngineThatStopsHandsItsJobsOver) {
  prepare();
  our_store_->hold_after(2);
  start(*ours_);
  ASSERT_TRUE(comes_true([&] { return our_store_->is_holding(); }));
  our_store_->let_go();
  ours_.reset();
  engine_->run_maintenance();
  EXPECT_TRUE(comes_true([&] { return is_done(); }));
  check();
  expect_sound();
}

class BackupSharing : public JobSharing {
 protected:
  // A backup whose owner stops when it has copied some of the items.
  void begin_copy() {
    for (int calls = 1;; ++calls) {
      prepare();
      our_store_->hold_after(calls);
      start(*ours_);
      ASSERT_TRUE(comes_true([&] { return our_store_->is_holding(); }));
      if (our_store_->take_has_written()) break;
      kill_ours();
    }
    ASSERT_FALSE(is_done());
  }
};

// Its rows can be erased while they are copied: the other process does not know that they are read.
TEST_P(BackupSharing, ABackupOfATableThatAnotherProcessDropsIsDeleted) {
  begin_copy();
  ASSERT_THAT(engine_->delete_table({.table = "Songs"}), IsOk());
  our_store_->let_go();
  EXPECT_TRUE(comes_true([&] { return ours_->stats().jobs == 0; }));
  EXPECT_THAT(engine_->administer(admin::kDescribeBackup, {{"BackupArn", backup_}}),
              FailsWith(Code::kBackupNotFound, "Backup not found"));
  expect_sound();
}

TEST_P(BackupSharing, ACopyThatBeginsAgainHasNothingOfTheOneBefore) {
  begin_copy();
  kill_ours();
  for (int i = 0; i < kItems; i += 3) {
    ASSERT_THAT(erase({.table = "Songs", .key = {{"pk", std::to_string(i)}}}), IsOk());
  }
  engine_->run_maintenance();
  clock_.advance(kLease);
  engine_->run_maintenance();
  ASSERT_TRUE(comes_true([&] { return is_done(); }));
  call(*engine_, admin::kRestoreTableFromBackup,
       {{"BackupArn", backup_}, {"TargetTableName", "Copy"}});
  wait_for_table("Copy");
  EXPECT_EQ(items("Copy"), items("Songs"));
  expect_sound();
}

// The engine that continued the backup ends before it has erased what the first one copied.
TEST_P(BackupSharing, TheRowsOfAnEarlierCopyAreErasedAfterARestart) {
  begin_copy();
  const auto space = [&] {
    const auto records = *Records(engine_->store()).list(RecordKind::kBackup);
    return static_cast<SpaceId>(integer_of(records.begin()->second, "Space"));
  };
  const SpaceId before = space();
  kill_ours();
  const auto rows_before = [&] {
    std::size_t rows = 0;
    EXPECT_THAT(read_range(engine_->store(), {.range = space_range(before)},
                           [&](std::string_view, std::string_view) { return ++rows > 0; }),
                IsOk());
    return rows;
  };
  EXPECT_GT(rows_before(), 0U);
  engine_->run_maintenance();
  clock_.advance(kLease);
  their_store_->hold_after(2);  // the lease, and the other space
  engine_->run_maintenance();
  ASSERT_TRUE(comes_true([&] { return space() != before; }));
  their_store_->cut();
  engine_ = open_engine(their_store_);
  EXPECT_TRUE(comes_true([&] { return rows_before() == 0; }));
}

class ImportSharing : public JobSharing {};

TEST_P(ImportSharing, AnImportIsNeverSeenWithoutItsTable) {
  prepare();
  our_store_->before_requests([&] {
    engine_->run_maintenance();
    EXPECT_TRUE(comes_true([&] { return engine_->stats().jobs == 0; }));
  });
  start(*ours_);
  our_store_->before_requests({});
  EXPECT_TRUE(comes_true([&] { return is_done(); }));
  check();
  expect_sound();
}

INSTANTIATE_TEST_SUITE_P(Jobs, ImportSharing, ::testing::Values("import"),
                         [](const auto& instance) { return instance.param; });
INSTANTIATE_TEST_SUITE_P(Jobs, BackupSharing, ::testing::Values("backup"),
                         [](const auto& instance) { return instance.param; });
INSTANTIATE_TEST_SUITE_P(Jobs, JobSharing,
                         ::testing::Values("backup", "restore", "recovery", "import", "index",
                                           "expiry"),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace stator::test
