// SPDX-License-Identifier: Apache-2.0
// Jobs of every kind on a store that fails one of their operations, each in turn.
#include <functional>

#include "engine/jobs/backup_job.h"
#include "engine/jobs/job_faults_harness.h"

namespace stator::test {
namespace {

using namespace std::chrono_literals;

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

// Each attempt copies some items, then fails. Copying the same items again does not count as
// progress. The space of each attempt is erased by another job, during the next attempt.
TEST_F(JobFaults, ABackupWhoseAttemptsFailForADayIsDeleted) {
  for (int i = 0; i < 400; ++i) {
    ASSERT_THAT(
        put("Songs", {{"pk", "large" + std::to_string(i)}, {"v", std::string(10'000, 'x')}}),
        IsOk());
  }
  const KeyRange rows =
      space_range((*engine_->parts().catalog->snapshot()->find("Songs"))->key().space);
  const auto fail_later = [&] {
    faults_.fail_at(2, {.code = Code::kIo, .message = "the disk is full"}, rows);
  };
  pause_ = 13h;
  fail_later();
  const std::string arn = create_backup();
  for (const int failures : {1, 2}) {
    ASSERT_TRUE(comes_true([&] { return most_failures_ == failures; }));
    EXPECT_EQ(backup_status(arn), "CREATING");
    fail_later();
    engine_->parts().jobs.retry_now();
  }
  EXPECT_TRUE(comes_true([&] { return backup_status(arn).empty(); }));
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
    expect_ended_bulk_puts(start_bulk_puts());
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

TEST_F(JobFaults, AnIndexIsFilledAfterDaysOfFailuresWithoutARestart) {
  pause_ = 13h;
  faults_.fail_all({.code = Code::kIo, .message = "the disk is full"});
  begin_index("again");
  for (int failures = 1; failures <= 4; ++failures) {
    ASSERT_TRUE(comes_true([&] { return most_failures_ >= failures; }));
    engine_->parts().jobs.retry_now();
  }
  faults_.mend();
  EXPECT_TRUE(comes_true([&] {
    engine_->parts().jobs.retry_now();
    return newest_index().status == TableStatus::kActive;
  }));
  EXPECT_EQ(count("Songs", "again"), kItems + 1);
}

TEST_F(JobFaults, TheRowsOfADroppedTableAreErasedDespiteARefusalOfAnyOperation) {
  refuse_each_operation([&] {
    drop_songs();
    expect_erased();
  });
}

TEST_F(JobFaults, ATableIsCountedDespiteARefusalOfAnyOperation) {
  const auto lose_counters = [&] {
    engine_.reset();
    const std::string counters = catalog_row_key(CatalogRow::kCounters);
    ASSERT_THAT(store_->drop_range({.begin = counters, .end = prefix_end(counters)}), IsOk());
    reopen();
  };
  const auto count_all = [&] {
    EXPECT_TRUE(comes_true([&] {
      const TableDescription songs = engine_->describe_table({.table = "Songs"})->table;
      return songs.item_count == kItems + 1 && songs.global_indexes[0].item_count == kItems + 1;
    }));
  };
  refuse_each_operation(count_all, lose_counters);
}

TEST_F(JobFaults, AnItemCollectionIsCountedDespiteARefusalOfAnyOperation) {
  collection_bytes_max_ = 20'000;
  const auto create_collections = [&] {
    CreateTableRequest request = range_table("Collections");
    request.local_indexes = {index_on("again", {{"pk", KeyType::kHash}, {"sk", KeyType::kRange}})};
    create(request);
  };
  const auto fill = [&] {
    int number = 0;
    EXPECT_TRUE(comes_true([&] {
      const auto done =
          put("Collections", {{"pk", "a"}, {"sk", number++}, {"v", std::string(1000, 'x')}});
      return !done && done.error().code == Code::kItemCollectionSizeLimitExceeded;
    }));
  };
  refuse_each_operation(fill, create_collections);
}

TEST_F(JobFaults, ExpiredTokensAreErasedDespiteARefusalOfAnyOperation) {
  const auto use_tokens = [&] {
    for (int i = 0; i < kItems; ++i) {
      ASSERT_THAT(transact({.items = {{.table = "Songs", .item = {{"pk", std::to_string(i)}}}},
                            .client_request_token = std::to_string(i)}),
                  IsOk());
    }
    clock_.advance(11min);
  };
  const auto sweep = [&] {
    engine_->run_maintenance();
    EXPECT_TRUE(comes_true([&] { return !engine_->parts().token_sweep.is_running; }));
    EXPECT_EQ(keys_in(kTokenSpace).size(), 0U);
    EXPECT_EQ(keys_in(kTokenExpirySpace).size(), 0U);
  };
  refuse_each_operation(sweep, use_tokens);
}

// Maintenance runs on its own thread, which also begins the log's next epoch.
TEST_F(JobFaults, ALogIsTrimmedDespiteARefusalOfAnyOperation) {
  const auto outlive_an_epoch = [&] {
    clock_.advance(2 * std::chrono::milliseconds(kEpochMs));
    engine_->run_maintenance();
    put_song(kItems + 1);
    clock_.advance(std::chrono::days(40));
  };
  const auto trim = [&] {
    const SpaceId log = (*engine_->parts().catalog->snapshot()->find("Songs"))->log_space();
    EXPECT_TRUE(comes_true([&] {
      std::thread([&] { engine_->run_maintenance(); }).join();
      const std::vector<std::string> keys = keys_in(log);
      return std::ranges::count_if(keys, is_boundary) == 2 && keys.size() == 3;
    }));
  };
  refuse_each_operation(trim, outlive_an_epoch);
}

TEST_F(JobFaults, ATableIsDroppedWhileItsBackupIsRetried) {
  const std::string backup = drop_songs_while_a_backup_fails();
  EXPECT_EQ(backup_status(backup), "CREATING");
  faults_.mend();
  ASSERT_TRUE(comes_true([&] {
    engine_->parts().jobs.retry_now();
    return backup_status(backup) == "AVAILABLE";
  }));
  expect_erased();
  create(hash_table("Songs"));
  call(admin::kRestoreTableFromBackup, {{"BackupArn", backup}, {"TargetTableName", "Copy"}});
  wait_for_table("Copy");
  EXPECT_EQ(count("Copy"), kItems + 1);
  EXPECT_EQ(count("Songs"), 0);
}

TEST_F(JobFaults, AJobReportsWhyItWaitsAndResumesWithoutARestart) {
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

TEST_F(DamagedStore, EndsABackupOfADroppedTableWhoseRowsAreErased) {
  const std::string backup = drop_songs_while_a_backup_fails();
  damage_next();
  engine_->parts().jobs.retry_now();
  EXPECT_TRUE(comes_true([&] { return backup_status(backup).empty(); }));
  expect_erased();
}

TEST_F(DamagedStore, EndsARestorationWhoseTableIsDropped) {
  damage_next();
  call(admin::kRestoreTableFromBackup, {{"BackupArn", backup_}, {"TargetTableName", "Copy"}});
  ASSERT_TRUE(comes_true([&] { return !engine_->describe_table({.table = "Copy"}); }));
  create(hash_table("Copy"));
}

TEST_F(DamagedStore, EndsAnImportThatReportsWhy) {
  damage_next();
  const std::string arn = import();
  const Item import = ended([&] { return described_import(arn); }, "ImportStatus");
  EXPECT_EQ(text_of(import, "ImportStatus"), "FAILED");
  EXPECT_EQ(text_of(import, "FailureCode"), "InternalServerError");
  EXPECT_EQ(text_of(import, "FailureMessage"), kDamage);
  EXPECT_THAT(engine_->delete_table({.table = "New"}), IsOk());
}

TEST_F(DamagedStore, EndsAnExportThatReportsWhy) {
  damage_next();
  const std::string arn = export_table({});
  const Item exported = ended([&] { return described_export(arn); }, "ExportStatus");
  EXPECT_EQ(text_of(exported, "ExportStatus"), "FAILED");
  EXPECT_EQ(text_of(exported, "FailureCode"), "InternalServerError");
  EXPECT_EQ(text_of(exported, "FailureMessage"), kDamage);
}

}  // namespace
}  // namespace stator::test
