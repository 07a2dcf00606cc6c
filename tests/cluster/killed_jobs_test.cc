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

class KilledJobs : public EngineTest, public ::testing::WithParamInterface<std::string> {
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
    const auto answer = request_job();
    ASSERT_THAT(answer, IsOk());
    const Item document = must(wire::item_from_plain_json(*answer));
    arn_ = text_of(map_of(document, description()), arn());
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
    const std::string status = text_of(described(), GetParam() + "Status");
    return status == (GetParam() == "Backup" ? "AVAILABLE" : "COMPLETED");
  }
  // Each item was processed once.
  void check() {
    const Item job = described();
    if (GetParam() == "Export") {
      EXPECT_EQ(integer_of(job, "ItemCount"), kItems);
      return check_exported(text_of(job, "ExportManifest"));
    }
    if (GetParam() == "Import") {
      EXPECT_EQ(integer_of(job, "ProcessedItemCount"), kItems);
      EXPECT_EQ(integer_of(job, "ImportedItemCount"), kItems);
      return check_table("New");
    }
    administer(admin::kRestoreTableFromBackup, {{"BackupArn", arn_}, {"TargetTableName", "New"}});
    wait_for_table("New");
    check_table("New");
  }

  static constexpr int kItems = 600;

  std::optional<PostgresProxy> proxy_;

 private:
  Fate fate_of(PostgresProxy::CommitPipeline commit) {
    // Each commit of a job reads its lease. The ids of jobs begin with a 0.
    const std::string lease = lease_key(record_key(kind(), "0"));
    if (!commit.bytes.contains(lease.substr(kPartitionBytes))) return Fate::kPass;
    if (--commits_left_ != 0) return Fate::kPass;
    is_held_ = true;
    is_released_.wait(false);
    return fate_;
  }
  void let_go() {
    is_released_ = true;
    is_released_.notify_all();
  }

  void prepare() {
    if (GetParam() == "Import") {
      std::ofstream rows(buckets_ / "mine" / "rows.csv");
      rows << "pk\n";
      for (int i = 0; i < kItems; ++i) rows << i << '\n';
      return;
    }
    create(hash_table("Things"));
    administer(admin::kUpdateContinuousBackups,
               {{"TableName", "Things"},
                {"PointInTimeRecoverySpecification", Item{{"PointInTimeRecoveryEnabled", true}}}});
    for (int i = 0; i < kItems; i += kBatch) {
      std::vector<WriteRequest> batch;
      for (int n = i; n < i + kBatch; ++n)
        batch.push_back({.put = Item{{"pk", std::to_string(n)}}});
      ASSERT_THAT(batch_write({.items = {{"Things", std::move(batch)}}}), IsOk());
    }
  }
  Result<std::string> request_job() {
    auto client = must(HttpClient::open({.endpoint = server_->url(), .max_attempts = 1}));
    if (GetParam() == "Import") {
      return client.call("ImportTable", wire::item_to_plain_json(import_request("mine")));
    }
    if (GetParam() == "Export") {
      return client.call(
          "ExportTableToPointInTime",
          R"({"TableArn":"arn:aws:dynamodb:us-east-1:000000782867:table/Things","S3Bucket":"mine"})");
    }
    return client.call("CreateBackup", R"({"TableName":"Things","BackupName":"Copy"})");
  }
  static std::string arn() { return GetParam() + "Arn"; }
  static RecordKind kind() {
    if (GetParam() == "Backup") return RecordKind::kBackup;
    return GetParam() == "Import" ? RecordKind::kImport : RecordKind::kExport;
  }
  // The member of responses that describes the job.
  static std::string description() {
    if (GetParam() == "Backup") return "BackupDetails";
    return (GetParam() == "Import" ? "ImportTable" : "Export") + std::string("Description");
  }
  Item described() {
    const Item request{{arn(), arn_}};
    if (GetParam() == "Backup") {
      return map_of(map_of(administer(admin::kDescribeBackup, request), "BackupDescription"),
                    description());
    }
    const bool is_import = GetParam() == "Import";
    return map_of(administer(is_import ? admin::kDescribeImport : admin::kDescribeExport, request),
                  description());
  }
  Item administer(const admin::Operation& operation, const Item& request) {
    auto answer = engine_->administer(operation, request);
    EXPECT_THAT(answer, IsOk());
    return answer ? std::move(*answer) : Item();
  }

  static void check_keys(const std::multiset<std::string>& found) {
    std::multiset<std::string> expected;
    for (int i = 0; i < kItems; ++i) expected.insert(std::to_string(i));
    EXPECT_EQ(found, expected);
  }
  void check_table(const std::string& table) {
    std::multiset<std::string> keys;
    for (const Item& item : all_pages(ScanRequest{.table = table})) {
      keys.insert(text_of(item, "pk"));
    }
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

INSTANTIATE_TEST_SUITE_P(Jobs, KilledJobs, ::testing::Values("Backup", "Export", "Import"),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace stator::test
