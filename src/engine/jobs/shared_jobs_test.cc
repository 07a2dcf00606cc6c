// SPDX-License-Identifier: Apache-2.0
// Jobs of each kind while two engines share a store. The engine that runs a job is stopped at each
// of its calls in turn, and the other engine finishes the job.
#include <algorithm>
#include <fstream>

#include "api/admin/document.h"
#include "engine/catalog/catalog_header.h"
#include "engine/catalog/raise_format.h"
#include "engine/catalog/records.h"
#include "engine/jobs/shared_jobs_harness.h"
#include "engine/testing/import_request.h"
#include "transfer/bucket.h"

namespace stator::test {
namespace {

// Writes puts of a new and of an existing item per song, and one invalid put.
void write_puts(const std::filesystem::path& file, int songs) {
  std::ofstream puts(file);
  const std::string if_new = R"-(,"ConditionExpression":"attribute_not_exists(pk)"})-";
  for (int i = 0; i < songs; ++i) {
    for (const std::string pk : {"new ", ""}) {
      puts << R"({"Item":{"pk":{"S":")" << pk << i << R"("},"genre":{"S":"jazz"}})" << if_new
           << '\n';
    }
  }
  puts << R"({"Item":{"genre":{"S":"jazz"}}})" << '\n';
}

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
    if (GetParam() == "bulk") write_puts(buckets_ / "mine" / "puts.json", kItems);
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
    } else if (GetParam() == "bulk") {
      bulk_ = start_bulk(engine);
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
    if (GetParam() == "bulk") return described_bulk().contains("EndTime");
    const auto snapshot = engine_->parts().catalog->snapshot();
    const bool is_copy = GetParam() == "restore" || GetParam() == "recovery";
    const TablePtr* table = snapshot->find(is_copy ? "Copy" : "Songs");
    return table != nullptr && (*table)->definition().unfinished.empty();
  }

  void check() override {
    if (GetParam() == "bulk") return check_bulk();
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
    const Item answer = call(engine, admin::kImportTable, import_request("mine"));
    return text_of(map_of(answer, "ImportTableDescription"), "ImportArn");
  }

  static std::string start_bulk(Engine& engine) {
    const Item answer = call(
        engine, admin::kStartBulkPutItems,
        {{"TableName", "Songs"},
         {"InputS3Configuration",
          Item{{"S3Bucket", "mine"}, {"S3KeyPrefix", "puts"}, {"InputFormat", "DYNAMODB_JSON"}}},
         {"OutputS3Configuration",
          Item{{"S3Bucket", "mine"}, {"OutputType", List{"ERROR", "CONDITION_CHECK_FAILURE"}}}}});
    return text_of(map_of(answer, "BulkOperationDescription"), "BulkOperationArn");
  }
  Item described_bulk() {
    return map_of(call(*engine_, admin::kDescribeBulkOperation, {{"BulkOperationArn", bulk_}}),
                  "BulkOperationDescription");
  }
  // Every put took effect once and was reported once.
  void check_bulk() {
    const Item bulk = described_bulk();
    EXPECT_EQ(text_of(bulk, "BulkOperationStatus"), "COMPLETED_WITH_ERRORS");
    EXPECT_EQ(integer_of(bulk, "ProcessedItemCount"), 2 * kItems + 1);
    EXPECT_EQ(integer_of(bulk, "FailedItemCount"), 1);
    const auto found = items("Songs");
    EXPECT_EQ(found.size(), static_cast<std::size_t>(2 * kItems));
    EXPECT_EQ(items("Songs", "byGenre"), found);
    EXPECT_EQ(std::ranges::count_if(
                  found, [](const auto& item) { return text_of(item.second, "genre") == "jazz"; }),
              kItems);
    const auto bucket = must(transfer::Bucket::open(buckets_, "mine"));
    const std::string directory = "AWSDynamoDB/" + bulk_.substr(bulk_.rfind('/') + 1) + "/";
    const auto lines = [&](const std::string& type) {
      std::ptrdiff_t count = 0;
      for (const std::string& key : must(bucket.keys(directory + type))) {
        auto bytes = must(transfer::unfolded(must(bucket.read(key)), transfer::Compression::kGzip));
        std::string buffer(1UL << 20, '\0');
        while (const std::size_t size = must(bytes->read(buffer))) {
          count +=
              std::count(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(size), '\n');
        }
      }
      return count;
    };
    EXPECT_EQ(lines("error/"), 1);
    EXPECT_EQ(lines("condition-check-failure/"), kItems);
    EXPECT_TRUE(bucket.has(directory + "manifest-summary.json"));
  }

  std::string import_;
  std::string bulk_;
};

TEST_P(JobSharing, AnotherEngineFinishesTheJobOfACrashedOne) {
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

// A newer version raises the format at each call of the job. The test lowers it again, as this
// version cannot resume the job otherwise.
TEST_P(JobSharing, AnOwnerWritesNothingAfterANewerVersionRaisedTheFormat) {
  hold_at_each_call([&](int) {
    SharedStore newer(*backend_, 0);
    ASSERT_THAT(raise_format(newer, kCatalogFormat + 1), IsOk());
    wake_up_ours([&] {
      if (ours_->stats().failing_jobs > 0) ours_->run_maintenance();
    });
    ours_->run_maintenance();
    EXPECT_FALSE(ours_->health().writable);
    Batch lowered;
    lowered.put(catalog_row_key(CatalogRow::kHeader),
                encode_catalog_header(
                    {.format = kCatalogFormat, .secret = engine_->parts().catalog->secret()}));
    ASSERT_THAT(write_or_fail(newer, std::move(lowered)), IsOk());
    ASSERT_TRUE(comes_true([&] {
      engine_->run_maintenance();
      return is_done();
    }));
  });
}

class BackupSharing : public JobSharing {
 protected:
  // Starts a backup whose owner stops after it has copied some of the items.
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

// The rows can be erased while they are copied: the other process does not know of the reads.
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
  run_out_lease();
  ASSERT_TRUE(comes_true([&] { return is_done(); }));
  call(*engine_, admin::kRestoreTableFromBackup,
       {{"BackupArn", backup_}, {"TargetTableName", "Copy"}});
  wait_for_table("Copy");
  EXPECT_EQ(items("Copy"), items("Songs"));
  expect_sound();
}

// The engine that resumed the backup stops before it erases the rows of the first copy.
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
  run_out_lease([&] { their_store_->hold_after(2); });  // the lease, then the other space
  ASSERT_TRUE(comes_true([&] { return space() != before; }));
  their_store_->cut();
  engine_ = open_engine(their_store_);
  EXPECT_TRUE(comes_true([&] { return rows_before() == 0; }));
}

TEST_P(BackupSharing, ABackupThatIsDeletedFirstIsNotRestored) {
  prepare();
  start(*engine_);
  ASSERT_TRUE(comes_true([&] { return is_done(); }));
  bool is_deleted = false;
  our_store_->before_requests([&] {
    if (!std::exchange(is_deleted, true)) {
      call(*engine_, admin::kDeleteBackup, {{"BackupArn", backup_}});
    }
  });
  EXPECT_THAT(ours_->administer(admin::kRestoreTableFromBackup,
                                {{"BackupArn", backup_}, {"TargetTableName", "Copy"}}),
              FailsWith(Code::kBackupNotFound, "Backup not found"));
  EXPECT_TRUE(is_deleted);
  expect_sound();
}

TEST_P(BackupSharing, ABackupThatIsRestoredFirstIsNotDeleted) {
  prepare();
  start(*engine_);
  ASSERT_TRUE(comes_true([&] { return is_done(); }));
  our_store_->hold_after(0);
  bool is_restored = false;
  their_store_->before_requests([&] {
    if (!std::exchange(is_restored, true)) {
      call(*ours_, admin::kRestoreTableFromBackup,
           {{"BackupArn", backup_}, {"TargetTableName", "Copy"}});
    }
  });
  const auto erase_backup = [&] {
    return engine_->administer(admin::kDeleteBackup, {{"BackupArn", backup_}});
  };
  EXPECT_THAT(erase_backup(), FailsWith(Code::kBackupInUse, ""));
  EXPECT_TRUE(is_restored);
  our_store_->let_go();
  wait_for_table("Copy");
  EXPECT_EQ(items("Copy"), items("Songs"));
  EXPECT_THAT(erase_backup(), IsOk());
  expect_sound();
}

class DroppedSpaces : public SharedJobs {
 protected:
  void prepare() override { restart(); }
  void start(Engine& engine) override {
    ASSERT_THAT(engine.delete_table({.table = "Songs"}), IsOk());
  }
  bool is_done() override { return !has_dropped_spaces(); }
  void check() override {}
};

TEST_F(DroppedSpaces, AreErasedByAnotherEngineIfTheirsHasEnded) {
  prepare();
  const SpaceId space =  // of the index
      (*ours_->parts().catalog->snapshot()->find("Songs"))->definition().global_spaces.at(0);
  our_store_->hold_after(0);
  start(*ours_);
  kill_ours();
  engine_->run_maintenance();
  EXPECT_FALSE(is_done());
  engine_->run_maintenance();
  EXPECT_TRUE(comes_true([&] { return is_done(); }));
  std::size_t rows = 0;
  EXPECT_THAT(read_range(engine_->store(), {.range = space_range(space)},
                         [&](std::string_view, std::string_view) { return ++rows > 0; }),
              IsOk());
  EXPECT_EQ(rows, 0U);
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

// Two processes get the same request at the same time.
class TokenSharing : public SharedJobs, public ::testing::WithParamInterface<std::string> {
 protected:
  void prepare() override { restart(); }
  void start(Engine& engine) override { static_cast<void>(begin(engine)); }
  bool is_done() override { return engine_->stats().jobs + ours_->stats().jobs == 0; }
  void check() override {}

  // Returns the ARN of the job that the request has begun.
  std::string begin(Engine& engine) {
    if (GetParam() == "export") {
      const Item answer = call(engine, admin::kExportTableToPointInTime,
                               {{"TableArn", "arn:aws:dynamodb:us-east-1:000000782867:table/Songs"},
                                {"S3Bucket", "mine"},
                                {"ClientToken", "token"}});
      return text_of(map_of(answer, "ExportDescription"), "ExportArn");
    }
    Item request = import_request(GetParam() == "import" ? "mine" : "missing");
    request["ClientToken"] = "token";
    return text_of(map_of(call(engine, admin::kImportTable, request), "ImportTableDescription"),
                   "ImportArn");
  }
};

TEST_P(TokenSharing, OneJobBeginsOfOneToken) {
  prepare();
  // After an import has ended, a repeated request is rejected because the table exists.
  their_store_->hold_after(0);
  std::string theirs;
  our_store_->before_requests([&] {
    if (theirs.empty()) theirs = begin(*engine_);
  });
  const std::string ours = begin(*ours_);
  our_store_->before_requests({});
  their_store_->let_go();
  EXPECT_FALSE(ours.empty());
  EXPECT_EQ(ours, theirs);
  const RecordKind kind = GetParam() == "export" ? RecordKind::kExport : RecordKind::kImport;
  EXPECT_EQ(must(Records(engine_->store()).list(kind)).size(), 1U);
  EXPECT_TRUE(comes_true([&] { return is_done(); }));
  expect_sound();
}

INSTANTIATE_TEST_SUITE_P(Jobs, TokenSharing,
                         ::testing::Values("export", "import", "import_of_nothing"),
                         [](const auto& instance) { return instance.param; });
INSTANTIATE_TEST_SUITE_P(Jobs, ImportSharing, ::testing::Values("import"),
                         [](const auto& instance) { return instance.param; });
INSTANTIATE_TEST_SUITE_P(Jobs, BackupSharing, ::testing::Values("backup"),
                         [](const auto& instance) { return instance.param; });
INSTANTIATE_TEST_SUITE_P(Jobs, JobSharing,
                         ::testing::Values("backup", "restore", "recovery", "import", "bulk",
                                           "index", "expiry"),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace stator::test
