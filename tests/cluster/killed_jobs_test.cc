// SPDX-License-Identifier: Apache-2.0
// Jobs of a `stator serve` that is killed at one of the job's commits. An engine of this process,
// with a clock that the test advances, takes the job over after its lease, and finishes it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>

#include "api/admin/document.h"
#include "api/json/item_json.h"
#include "api/wire/wire.h"
#include "cli/stator_program.h"
#include "engine/admin/administration.h"
#include "engine/catalog/catalog_rows.h"
#include "engine/catalog/job_lease.h"
#include "engine/catalog/records.h"
#include "engine/testing/engine_harness.h"
#include "engine/testing/import_request.h"
#include "stator/http_client.h"
#include "storage/postgres/postgres_fixture.h"
#include "support/poll_until.h"
#include "support/server_process.h"
#include "transfer/bucket.h"
#include "transfer/item_reader.h"

namespace stator::test {
namespace {

using Fate = PostgresProxy::Fate;

enum class Kind { kBackup, kRestore, kImport, kExport, kBulkPuts, kIndex };

class KilledJobs : public EngineTest, public ::testing::WithParamInterface<Kind> {
 protected:
  void SetUp() override {
    postgres_dsn();
    if (own_postgres() == nullptr) GTEST_SKIP() << "the proxy needs the server's socket";
  }
  ~KilledJobs() override {
    let_go();
    engine_.reset();
  }

  // Starts a server, and on it a job that will be held at one of its commits. Commits are numbered
  // from 1; the first one acquires the lease.
  void start_job(int held_commit, Fate fate) {
    let_go();
    server_.reset();
    engine_.reset();
    proxy_.reset();
    clock_.advance(std::chrono::milliseconds(system_clock().unix_ms() - clock_.unix_ms()));
    schema_.emplace();
    proxy_.emplace(own_postgres()->socket(),
                   [this](PostgresProxy::CommitPipeline commit) { return fate_of(commit); });
    std::filesystem::remove_all(buckets_ / "mine");
    std::filesystem::create_directories(buckets_ / "mine");
    engine_ = must(Engine::open(
        schema_->open(),
        {.clock = &clock_, .buckets = buckets_, .sweep_interval = {}, .maintenance_interval = {}}));
    prepare();
    commits_left_ = held_commit;
    fate_ = fate;
    is_held_ = false;
    is_released_ = false;
    server_.emplace(stator_binary(),
                    std::vector<std::string>{"--store", proxy_->url(), "--schema", schema_->name(),
                                             "--buckets", buckets_.string()});
    ASSERT_FALSE(server_->url().empty()) << "the server did not start";
    start();
  }
  // Kills the server while it is held. Then its commit meets its fate.
  void kill_server() {
    server_->kill_now();
    let_go();
    EXPECT_TRUE(poll_until([&] { return proxy_->connections() == 0; }));
  }
  bool is_held() const { return is_held_; }

  // The row of the job's lease; absent if there is none.
  std::optional<std::string> lease() {
    std::optional<std::string> found;
    const std::string begin = catalog_row_key(CatalogRow::kLease);
    EXPECT_THAT(read_range(engine_->store(), {.range = {.begin = begin, .end = prefix_end(begin)}},
                           [&](std::string_view, std::string_view row) {
                             EXPECT_FALSE(found) << "two leases";
                             found = row;
                             return true;
                           }),
                IsOk());
    return found;
  }
  bool is_done() {
    switch (GetParam()) {
      case Kind::kBackup:
        return backup_status() == "AVAILABLE";
      case Kind::kRestore:
        return described_table("New").status == TableStatus::kActive;
      case Kind::kImport:
        return text_of(described_import(), "ImportStatus") == "COMPLETED";
      case Kind::kExport:
        return text_of(described_export(), "ExportStatus") == "COMPLETED";
      case Kind::kBulkPuts:
        return described_bulk_puts().contains("EndTime");
      case Kind::kIndex:
        break;
    }
    const auto indexes = described_table("Things").global_indexes;
    return indexes.size() == 1 && indexes[0].status == TableStatus::kActive;
  }
  // Each item was processed once.
  void check() {
    switch (GetParam()) {
      case Kind::kBackup:
        administer(admin::kRestoreTableFromBackup,
                   {{"BackupArn", arn_}, {"TargetTableName", "New"}});
        wait_for_table("New");
        return check_items({.table = "New"});
      case Kind::kRestore:
        return check_items({.table = "New"});
      case Kind::kImport:
        EXPECT_EQ(integer_of(described_import(), "ProcessedItemCount"), items());
        EXPECT_EQ(integer_of(described_import(), "ImportedItemCount"), items());
        return check_items({.table = "New"});
      case Kind::kExport:
        EXPECT_EQ(integer_of(described_export(), "ItemCount"), items());
        return check_exported(text_of(described_export(), "ExportManifest"));
      case Kind::kBulkPuts:
        EXPECT_EQ(text_of(described_bulk_puts(), "BulkOperationStatus"), "COMPLETED");
        EXPECT_EQ(integer_of(described_bulk_puts(), "ProcessedItemCount"), items());
        return check_items({.table = "Things"});
      case Kind::kIndex:
        return check_items({.table = "Things", .index = "byKey"});
    }
  }

  // An index is filled with a few items in each commit.
  static int items() { return GetParam() == Kind::kIndex ? 100 : 600; }

  std::optional<PostgresProxy> proxy_;

 private:
  Fate fate_of(PostgresProxy::CommitPipeline commit) {
    if (!commit.bytes.contains(lease_prefix().substr(kPartitionBytes))) return Fate::kPass;
    if (--commits_left_ != 0) return Fate::kPass;
    is_held_ = true;
    is_released_.wait(false);
    return fate_;
  }
  void let_go() {
    is_released_ = true;
    is_released_.notify_all();
  }

  // The beginning of the key of the job's lease, which each of its commits reads.
  static std::string lease_prefix() {
    switch (GetParam()) {  // the ids of jobs begin with a 0
      case Kind::kBackup:
        return lease_key(record_key(RecordKind::kBackup, "0"));
      case Kind::kRestore:
        return lease_key(record_key(RecordKind::kRestore, "New"));
      case Kind::kImport:
        return lease_key(record_key(RecordKind::kImport, "0"));
      case Kind::kExport:
        return lease_key(record_key(RecordKind::kExport, "0"));
      case Kind::kBulkPuts:
        return lease_key(record_key(RecordKind::kBulk, "0"));
      case Kind::kIndex:
        break;
    }
    return lease_key(catalog_row_key(CatalogRow::kBackfill));
  }

  // Creates what the job reads.
  void prepare() {
    if (GetParam() == Kind::kImport)
      return write_object("pk\n", [](int i) { return std::to_string(i); });
    create(hash_table("Things"));
    if (GetParam() == Kind::kBulkPuts) {
      return write_object(
          "", [](int i) { return R"({"Item":{"pk":{"S":")" + std::to_string(i) + "\"}}}"; });
    }
    administer(admin::kUpdateContinuousBackups,
               {{"TableName", "Things"},
                {"PointInTimeRecoverySpecification", Item{{"PointInTimeRecoveryEnabled", true}}}});
    for (int i = 0; i < items(); i += kBatch) {
      std::vector<WriteRequest> batch;
      for (int n = i; n < i + kBatch; ++n)
        batch.push_back({.put = Item{{"pk", std::to_string(n)}}});
      ASSERT_THAT(batch_write({.items = {{"Things", std::move(batch)}}}), IsOk());
    }
    if (GetParam() != Kind::kRestore) return;
    arn_ = text_of(
        map_of(administer(admin::kCreateBackup, {{"TableName", "Things"}, {"BackupName", "Copy"}}),
               "BackupDetails"),
        "BackupArn");
    ASSERT_TRUE(comes_true([&] { return backup_status() == "AVAILABLE"; }));
  }
  void write_object(const std::string& header, std::string (*line)(int)) const {
    std::ofstream rows(buckets_ / "mine" / "rows");
    rows << header;
    for (int i = 0; i < items(); ++i) rows << line(i) << '\n';
  }

  // Requests the job from the server.
  void start() {
    switch (GetParam()) {
      case Kind::kBackup:
        arn_ = call("CreateBackup", {{"TableName", "Things"}, {"BackupName", "Copy"}},
                    "BackupDetails", "BackupArn");
        return;
      case Kind::kRestore:
        call("RestoreTableFromBackup", {{"BackupArn", arn_}, {"TargetTableName", "New"}},
             "TableDescription", "TableArn");
        return;
      case Kind::kImport:
        arn_ = call("ImportTable", import_request("mine"), "ImportTableDescription", "ImportArn");
        return;
      case Kind::kExport:
        arn_ = call("ExportTableToPointInTime",
                    {{"TableArn", "arn:aws:dynamodb:us-east-1:000000782867:table/Things"},
                     {"S3Bucket", "mine"}},
                    "ExportDescription", "ExportArn");
        return;
      case Kind::kBulkPuts:
        arn_ = call(
            "StartBulkPutItems",
            {{"TableName", "Things"},
             {"InputS3Configuration",
              Item{
                  {"S3Bucket", "mine"}, {"S3KeyPrefix", "rows"}, {"InputFormat", "DYNAMODB_JSON"}}},
             {"OutputS3Configuration",
              Item{{"S3Bucket", "mine"}, {"S3KeyPrefix", "out"}, {"OutputType", List{"ERROR"}}}}},
            "BulkOperationDescription", "BulkOperationArn");
        return;
      case Kind::kIndex:
        call("UpdateTable",
             {{"TableName", "Things"},
              {"AttributeDefinitions", List{Item{{"AttributeName", "pk"}, {"AttributeType", "S"}}}},
              {"GlobalSecondaryIndexUpdates",
               List{Item{{"Create", Item{{"IndexName", "byKey"},
                                         {"KeySchema",
                                          List{Item{{"AttributeName", "pk"}, {"KeyType", "HASH"}}}},
                                         {"Projection", Item{{"ProjectionType", "ALL"}}}}}}}}},
             "TableDescription", "TableArn");
        return;
    }
  }
  // Returns an ARN from the member of the response that describes what was started.
  std::string call(const std::string& operation, const Item& request, const std::string& member,
                   const std::string& arn) {
    auto client = must(HttpClient::open({.endpoint = server_->url(), .max_attempts = 1}));
    const auto answer = client.call(operation, wire::item_to_plain_json(request));
    EXPECT_THAT(answer, IsOk());
    if (!answer) return "";
    return text_of(map_of(must(wire::item_from_plain_json(*answer)), member), arn);
  }

  std::string backup_status() {
    const Item described =
        map_of(administer(admin::kDescribeBackup, {{"BackupArn", arn_}}), "BackupDescription");
    return text_of(map_of(described, "BackupDetails"), "BackupStatus");
  }
  Item described_import() {
    return map_of(administer(admin::kDescribeImport, {{"ImportArn", arn_}}),
                  "ImportTableDescription");
  }
  Item described_export() {
    return map_of(administer(admin::kDescribeExport, {{"ExportArn", arn_}}), "ExportDescription");
  }
  Item described_bulk_puts() {
    return map_of(administer(admin::kDescribeBulkOperation, {{"BulkOperationArn", arn_}}),
                  "BulkOperationDescription");
  }
  TableDescription described_table(const std::string& table) {
    return must(engine_->describe_table({.table = table})).table;
  }
  Item administer(const admin::Operation& operation, const Item& request) {
    auto answer = engine_->administer(operation, request);
    EXPECT_THAT(answer, IsOk());
    return answer ? std::move(*answer) : Item();
  }

  static void check_keys(const std::multiset<std::string>& found) {
    std::multiset<std::string> expected;
    for (int i = 0; i < items(); ++i) expected.insert(std::to_string(i));
    EXPECT_EQ(found, expected);
  }
  void check_items(const ScanRequest& request) {
    std::multiset<std::string> keys;
    for (const Item& item : all_pages(request)) keys.insert(text_of(item, "pk"));
    check_keys(keys);
  }
  void check_exported(const std::string& manifest) {
    const auto bucket = must(transfer::Bucket::open(buckets_, "mine"));
    std::multiset<std::string> keys;
    for (const std::string& file :
         must(bucket.keys(manifest.substr(0, manifest.rfind('/')) + "/data/"))) {
      auto reader =
          must(transfer::read_items(must(bucket.read(file)), transfer::DataFormat::kDynamoDbJson,
                                    transfer::Compression::kGzip, {}));
      while (reader->next() == transfer::Found::kItem) keys.insert(text_of(reader->item(), "pk"));
    }
    check_keys(keys);
  }

  static constexpr int kBatch = 25;

  const std::filesystem::path buckets_ = directory_.path() / "buckets";
  std::optional<PostgresSchema> schema_;
  std::optional<ServerProcess> server_;
  std::string arn_;
  std::atomic<int> commits_left_ = 0;  // up to the one that is held
  Fate fate_ = Fate::kPass;            // of that one
  std::atomic<bool> is_held_ = false;
  std::atomic<bool> is_released_ = true;
};

TEST_P(KilledJobs, AreFinishedOnceByAnotherEngine) {
  for (int commit = 1;; ++commit) {
    constexpr std::array kFates = {Fate::kLoseRequest, Fate::kLoseReply, Fate::kDeliverLate};
    SCOPED_TRACE("commit " + std::to_string(commit));
    ASSERT_NO_FATAL_FAILURE(start_job(commit, kFates[static_cast<std::size_t>(commit) % 3]));
    ASSERT_TRUE(poll_until([&] { return is_held() || is_done(); }));
    if (!is_held()) {
      EXPECT_GT(commit, 3);
      return;
    }
    kill_server();
    const auto held_lease = lease();
    engine_->run_maintenance();
    for (int64_t left_ms = kJobLeaseMs; left_ms > 0; left_ms -= kLeaseLookMs) {
      EXPECT_TRUE(!held_lease || lease() == held_lease) << "it was taken too early";
      clock_.advance(std::chrono::milliseconds(kLeaseLookMs));
      engine_->run_maintenance();
    }
    ASSERT_TRUE(poll_until([&] { return is_done(); }));
    proxy_->deliver_late();
    EXPECT_EQ(lease(), std::nullopt);
    check();
    if (HasFailure()) return;
  }
}

std::string name_of(Kind kind) {
  constexpr std::array kNames = {"Backup", "Restore", "Import", "Export", "BulkPuts", "Index"};
  return kNames.at(static_cast<std::size_t>(kind));
}
INSTANTIATE_TEST_SUITE_P(Jobs, KilledJobs,
                         ::testing::Values(Kind::kBackup, Kind::kRestore, Kind::kImport,
                                           Kind::kExport, Kind::kBulkPuts, Kind::kIndex),
                         [](const auto& instance) { return name_of(instance.param); });

}  // namespace
}  // namespace stator::test
