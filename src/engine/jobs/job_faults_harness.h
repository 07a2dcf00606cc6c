// SPDX-License-Identifier: Apache-2.0
// JobFaults: an engine with a table, a backup and a bucket, on a store whose operations a test can
// make fail.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "api/admin/document.h"
#include "engine/admin/administration.h"
#include "engine/catalog/catalog_rows.h"
#include "engine/catalog/records.h"
#include "engine/jobs/job_engine.h"
#include "engine/testing/engine_harness.h"
#include "engine/testing/faulty_store.h"
#include "engine/testing/import_request.h"

namespace stator::test {

class JobFaults : public EngineTest {
 protected:
  static constexpr int kItems = 12;

  JobFaults() { restart(); }
  ~JobFaults() override { engine_.reset(); }

  // Creates a new store with the tables and the backup that the jobs use.
  void restart() {
    engine_.reset();
    faults_.mend();
    most_failures_ = 0;
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
    clock_.advance(std::chrono::hours(1));
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
                                .collection_bytes_max = collection_bytes_max_,
                                .retry_delay =
                                    [this](int failures) {
                                      most_failures_ = std::max(most_failures_.load(), failures);
                                      return pause_.load();
                                    },
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
  std::string import(int rows = kItems, const std::string& genre = "folk") {
    std::ofstream file(buckets_ / "mine" / "rows.csv");
    file << "pk,genre\n";
    for (int i = 0; i < rows; ++i) file << i << "," << genre << "\n";
    file.close();
    const Item answer = call(admin::kImportTable, import_request("mine"));
    return text_of(map_of(answer, "ImportTableDescription"), "ImportArn");
  }
  std::string export_table(Item more) {
    more.insert({{"TableArn", "arn:aws:dynamodb:us-east-1:000000782867:table/Songs"},
                 {"S3Bucket", "mine"}});
    return text_of(map_of(call(admin::kExportTableToPointInTime, more), "ExportDescription"),
                   "ExportArn");
  }
  // Puts with a condition that half of them meet, then a damaged record.
  std::string start_bulk_puts() {
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
    return text_of(map_of(answer, "BulkOperationDescription"), "BulkOperationArn");
  }
  Item described_bulk_puts(const std::string& arn) {
    return described(admin::kDescribeBulkOperation, "BulkOperation", "BulkOperationDescription",
                     arn);
  }
  Item ended_bulk_puts(const std::string& arn) {
    return ended([&] { return described_bulk_puts(arn); }, "BulkOperationStatus");
  }
  void expect_ended_bulk_puts(const std::string& arn) {
    const Item bulk = ended_bulk_puts(arn);
    EXPECT_EQ(text_of(bulk, "BulkOperationStatus"), "COMPLETED_WITH_ERRORS");
    EXPECT_EQ(integer_of(bulk, "ProcessedItemCount"), 2 * kItems + 1);
    EXPECT_EQ(integer_of(bulk, "FailedItemCount"), 1);
    EXPECT_EQ(count("Songs"), 2 * kItems);
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

  // Drops the table without a final backup.
  void drop_songs() {
    call(admin::kUpdateContinuousBackups,
         {{"TableName", "Songs"},
          {"PointInTimeRecoverySpecification", Item{{"PointInTimeRecoveryEnabled", false}}}});
    ASSERT_THAT(engine_->delete_table({.table = "Songs"}), IsOk());
  }
  // Returns the ARN of a backup that fails with the store and is retried in an hour.
  std::string drop_songs_while_a_backup_fails() {
    pause_ = std::chrono::hours(1);
    faults_.fail_all({.code = Code::kIo, .message = "the disk is full"});
    std::string backup = create_backup();
    EXPECT_TRUE(comes_true([&] { return engine_->stats().failing_jobs == 1; }));
    drop_songs();
    return backup;
  }
  // Waits until the rows of dropped tables are erased.
  void expect_erased() {
    const std::string dropped = catalog_row_key(CatalogRow::kDropped);
    EXPECT_TRUE(comes_true([&] {
      bool any = false;
      EXPECT_THAT(
          read_range(engine_->store(), {.range = {.begin = dropped, .end = prefix_end(dropped)}},
                     [&](std::string_view, std::string_view) { return any = true; }),
          IsOk());
      return !any;
    }));
  }

  std::vector<std::string> keys_in(SpaceId space) {
    std::vector<std::string> keys;
    EXPECT_THAT(read_range(*store_, {.range = space_range(space)},
                           [&](std::string_view key, std::string_view) {
                             keys.emplace_back(key);
                             return true;
                           }),
                IsOk());
    return keys;
  }

  void begin_index(const std::string& name) {
    ASSERT_THAT(
        engine_->update_table(
            {.table = "Songs",
             .attributes = {{{"genre", ScalarType::kS}}},
             .global_indexes = {{{.create = index_on(name, {{"genre", KeyType::kHash}})}}}}),
        IsOk());
  }
  IndexDescription newest_index() {
    return engine_->describe_table({.table = "Songs"})->table.global_indexes.back();
  }
  // Returns the index once it is filled.
  IndexDescription add_index(const std::string& name) {
    begin_index(name);
    EXPECT_TRUE(comes_true([&] { return newest_index().status == TableStatus::kActive; }));
    return newest_index();
  }

  // Runs a job on a new store, after `prepare`. First its first operation fails, then its second,
  // until none fails.
  void refuse_each_operation(
      const std::function<void()>& job, const std::function<void()>& prepare = [] {}) {
    for (const Code code : {Code::kThrottling, Code::kIo}) {
      for (int operation = 0;; ++operation) {
        SCOPED_TRACE("operation " + std::to_string(operation) + ", code " +
                     std::to_string(static_cast<int>(code)));
        ASSERT_LT(operation, 1000);
        restart();
        prepare();
        faults_.fail_at(operation, {.code = code, .message = "refused"});
        job();
        if (testing::Test::HasFailure()) return;
        // Work that the job leaves to other jobs can end later.
        if (!faults_.has_failed()) {
          EXPECT_GT(operation, 1);
          break;
        }
      }
    }
  }

  TempDir buckets_directory_;
  std::filesystem::path buckets_ = buckets_directory_.path();
  int64_t collection_bytes_max_ = EngineOptions().collection_bytes_max;
  std::atomic<std::chrono::milliseconds> pause_ = std::chrono::milliseconds(0);
  std::atomic<int> most_failures_ = 0;  // of one job in a row, since a restart
  Faults faults_;
  std::shared_ptr<TransactStore> store_;
  int64_t moment_ms_ = 0;
  std::string backup_;
};

}  // namespace stator::test
