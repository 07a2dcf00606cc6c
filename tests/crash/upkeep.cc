// SPDX-License-Identifier: Apache-2.0
#include "crash/upkeep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "crash/shifted_clock.h"
#include "support/poll_until.h"

namespace stator::test {
namespace {

constexpr const char* kTable = "Kept";
constexpr const char* kFromBackup = "FromBackup";
constexpr const char* kFromMoment = "FromMoment";

}  // namespace

Upkeep::Upkeep(const std::filesystem::path& buckets, uint64_t seed)
    : random_(seed), transfers_(buckets, kTable, random_()) {}

// ---- Jobs in progress

Result<void> Upkeep::create(Client& client) {
  STATOR_RETURN_IF_ERROR(client.create_table(
      {.table = kTable,
       .attributes = {{"pk", ScalarType::kS}},
       .key_schema = {{"pk", KeyType::kHash}},
       .billing_mode = BillingMode::kPayPerRequest,
       .stream = StreamSpecification{.enabled = true, .view = StreamViewType::kNewAndOldImages}}));
  while (written_ < kNumberedItems) {
    constexpr int64_t kBatch = 25;
    BatchWriteItemRequest batch;
    for (int64_t i = 1; i <= kBatch; ++i) {
      batch.items[kTable].push_back({.put = item_of(written_ + i)});
    }
    STATOR_RETURN_IF_ERROR(client.batch_write_item(batch));
    written_ += kBatch;
  }
  STATOR_RETURN_IF_ERROR(transfers_.create_table(client));
  return outcome(client.call("UpdateContinuousBackups",
                             R"({"TableName": "Kept",
          "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": true}})"));
}

Result<void> Upkeep::run(Client& client) {
  STATOR_RETURN_IF_ERROR(toggle_index(client));
  STATOR_RETURN_IF_ERROR(toggle_expiry(client));
  STATOR_RETURN_IF_ERROR(start_jobs(client));
  while (true) STATOR_RETURN_IF_ERROR(write(client));
}

// A job can wait for another one, so their order is random.
Result<void> Upkeep::start_jobs(Client& client) {
  std::vector<std::function<Result<void>()>> jobs = {
      [&] { return restore_backup(client); },
      [&] { return restore_moment(client); },
      [&] { return transfers_.start_export(client, moment_); },
      [&] { return transfers_.start_increment(client, moment_); },
      [&] { return transfers_.start_import(client); },
      [&] { return transfers_.start_puts(client); },
      [&] {
        return outcome(
            client.call("CreateBackup", R"({"TableName": "Kept", "BackupName": "Crashed"})"));
      },
  };
  std::ranges::shuffle(jobs, random_);
  for (const auto& job : jobs) STATOR_RETURN_IF_ERROR(job());
  return {};
}

Result<void> Upkeep::toggle_index(Client& client) {
  UpdateTableRequest request{.table = kTable, .global_indexes = {{GlobalIndexChange()}}};
  GlobalIndexChange& change = request.global_indexes->front();
  if (indexed_) {
    if (random_() % 2 == 0) return {};
    change.remove = kShelfIndex;
  } else {
    request.attributes = {{{"shelf", ScalarType::kN}, {"number", ScalarType::kN}}};
    change.create =
        IndexDefinition{.name = kShelfIndex,
                        .key_schema = {{"shelf", KeyType::kHash}, {"number", KeyType::kRange}},
                        .projection = {}};
  }
  return outcome(client.update_table(request));
}

Result<void> Upkeep::toggle_expiry(Client& client) {
  if (expiring_ && random_() % 2 == 0) return {};
  return outcome(client.update_time_to_live(
      {.table = kTable, .specification = {.enabled = !expiring_, .attribute = "expires"}}));
}

Result<void> Upkeep::restore_backup(Client& client) {
  if (backup_.empty()) return {};
  return outcome(client.call(
      "RestoreTableFromBackup",
      R"({"BackupArn": ")" + backup_ + R"(", "TargetTableName": ")" + kFromBackup + "\"}"));
}

Result<void> Upkeep::restore_moment(Client& client) {
  restored_to_ = moment_.number;
  return outcome(client.call("RestoreTableToPointInTime",
                             R"({"SourceTableName": "Kept", "RestoreDateTime": )" +
                                 seconds_of(moment_) + R"(, "TargetTableName": ")" + kFromMoment +
                                 "\"}"));
}

Result<void> Upkeep::write(Client& client) {
  const int64_t number = written_ + 1;
  if (number % 5 == 0) {
    const Item expired{{"pk", std::string(kExpired) + std::to_string(number)},
                       {"expires", shifted_now_ms() / 1000 - 60}};
    STATOR_RETURN_IF_ERROR(client.put_item({.table = kTable, .item = expired}));
  }
  if (erases(number)) {
    STATOR_RETURN_IF_ERROR(client.delete_item({.table = kTable, .key = {{"pk", name_of(number)}}}));
  } else {
    STATOR_RETURN_IF_ERROR(client.put_item({.table = kTable, .item = item_of(number)}));
  }
  written_ = number;
  return {};
}

// ---- Checks

void Upkeep::settle(Client& client) {
  check_table(client);
  check_expired(client);
  check_restored(client, kFromMoment, restored_to_);
  restored_to_.reset();
  check_restored(client, kFromBackup, {});
  check_backups(client);
  expect_stream_of(client, kTable);
  moment_ = {.time_ms = shifted_now_ms() - 1, .number = written_};
  transfers_.settle(client, moment_);
}

void Upkeep::check_table(Client& client) {
  EXPECT_TRUE(poll_until([&] {
    const auto described = client.describe_table({.table = kTable});
    EXPECT_TRUE(described) << described.error().message;
    if (!described) return true;
    indexed_ = !described->table.global_indexes.empty();
    return described->table.status == TableStatus::kActive;
  })) << "the table does not become ACTIVE";
  const auto number = number_of(scan_all(client, kTable));
  ASSERT_TRUE(number) << "the table has what no number of writes leads to";
  EXPECT_TRUE(*number == written_ || *number == written_ + 1)
      << *number << " writes of " << written_ << " are there";
  written_ = *number;
  if (indexed_) expect_index_of(client, kTable);
}

// With TTL enabled, expired items are deleted after some time, and all others remain.
void Upkeep::check_expired(Client& client) {
  EXPECT_TRUE(poll_until([&] {
    const auto described = client.describe_time_to_live({.table = kTable});
    EXPECT_TRUE(described) << described.error().message;
    expiring_ = described && described->status != TimeToLiveStatus::kDisabled;
    if (!expiring_) return true;
    const auto expired = client.scan({.table = kTable,
                                      .filter = "begins_with(pk, :expired)",
                                      .values = Values{{":expired", kExpired}},
                                      .select = Select::kCount});
    EXPECT_TRUE(expired) << expired.error().message;
    return !expired || (expired->count == 0 && described->status == TimeToLiveStatus::kEnabled);
  })) << "expired items stay";
  EXPECT_EQ(number_of(scan_all(client, kTable)), written_) << "an item went that had not expired";
}

void Upkeep::check_restored(Client& client, const std::string& table,
                            std::optional<int64_t> number) {
  std::optional<TableDescription> restored;
  EXPECT_TRUE(poll_until([&] {
    const auto described = client.describe_table({.table = table});
    restored = described ? std::optional(described->table) : std::nullopt;
    return !restored || restored->status == TableStatus::kActive;
  })) << table + " does not become ACTIVE";
  if (!restored) return;  // the request did not arrive
  const auto found = number_of(scan_all(client, table));
  EXPECT_TRUE(found) << table << " has what no number of writes leads to";
  EXPECT_EQ(found, number ? number : found) << table;
  EXPECT_LE(found.value_or(0), written_) << table;
  if (!restored->global_indexes.empty()) expect_index_of(client, table);
  EXPECT_TRUE(client.delete_table({.table = table}));
  ++restored_;
}

// Keeps the newest backup, for the next restore.
void Upkeep::check_backups(Client& client) {
  const std::string first = R"("BackupArn":")";
  Result<std::string> listed;
  EXPECT_TRUE(poll_until([&] {
    listed = client.call("ListBackups", "{}");
    EXPECT_TRUE(listed) << listed.error().message;
    return !listed || listed->find("CREATING") == std::string::npos;
  })) << "a backup is not taken";
  ASSERT_TRUE(listed);
  backup_.clear();
  for (std::size_t at = listed->find(first); at != std::string::npos;
       at = listed->find(first, at + 1)) {
    if (!backup_.empty()) {
      EXPECT_TRUE(client.call("DeleteBackup", R"({"BackupArn": ")" + backup_ + "\"}"));
    }
    const std::size_t begin = at + first.size();
    backup_ = listed->substr(begin, listed->find('"', begin) - begin);
  }
}

}  // namespace stator::test
