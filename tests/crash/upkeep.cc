// SPDX-License-Identifier: Apache-2.0
#include "crash/upkeep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "support/stream_consumer.h"

namespace stator::test {
namespace {

constexpr const char* kTable = "Kept";
constexpr const char* kIndex = "ByShelf";
constexpr const char* kFromBackup = "FromBackup";
constexpr const char* kFromMoment = "FromMoment";
constexpr int64_t kItems = 1500;
constexpr int64_t kFarSeconds = 4'102'444'800;  // 2100
constexpr std::string_view kExpired = "expired-";

int64_t now_ms() {
  return std::chrono::system_clock::now().time_since_epoch() / std::chrono::milliseconds(1);
}

std::string name_of(int64_t number) {
  return "item-" + std::to_string(number % kItems);
}

bool erases(int64_t number) {
  return number > kItems && number % 7 == 0;
}

Item item_of(int64_t number) {
  Item item{{"pk", name_of(number)}, {"number", number}};
  if (number % 5 < 3) item["shelf"] = number % 5;
  if (number % 3 == 0) item["expires"] = kFarSeconds;
  return item;
}

// What the first `count` writes lead to.
std::map<std::string, Item> state_after(int64_t count) {
  std::map<std::string, Item> items;
  for (int64_t last = std::max<int64_t>(1, count - kItems + 1); last <= count; ++last) {
    if (!erases(last)) items.emplace(name_of(last), item_of(last));
  }
  return items;
}

template <class Condition>
void wait_until(const std::string& what, Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition()) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << what;
    std::this_thread::yield();
  }
}

std::map<std::string, Item> scan(Client& client, const std::string& table,
                                 const std::optional<std::string>& index = {}) {
  std::map<std::string, Item> items;
  ScanRequest request{.table = table, .index = index};
  do {
    auto page = client.scan(request);
    EXPECT_TRUE(page) << page.error().message;
    if (!page) return items;
    for (Item& item : page->items) {
      std::string name = *item.at("pk").get_if<std::string>();
      EXPECT_TRUE(items.emplace(std::move(name), std::move(item)).second) << "an item twice";
    }
    request.exclusive_start_key = page->last_evaluated_key;
  } while (request.exclusive_start_key);
  return items;
}

// How many writes lead to the items; absent: no number of them.
std::optional<int64_t> number_of(std::map<std::string, Item> items) {
  std::erase_if(items, [](const auto& entry) { return entry.first.starts_with(kExpired); });
  int64_t newest = 0;
  for (const auto& [name, item] : items) {
    newest = std::max(newest, item.at("number").get_if<Number>()->to_int64().value_or(0));
  }
  // The last write may have erased an item.
  for (const int64_t count : {newest, newest + 1}) {
    if ((count == newest || erases(count)) && state_after(count) == items) return count;
  }
  return std::nullopt;
}

void expect_index_of(Client& client, const std::string& table) {
  std::map<std::string, Item> items = scan(client, table);
  std::erase_if(items, [](const auto& entry) { return !entry.second.contains("shelf"); });
  EXPECT_EQ(scan(client, table, kIndex), items) << "the index of " << table;
}

template <class T>
Result<void> outcome(const Result<T>& result) {
  if (!result) return Failure(result.error());
  return {};
}

}  // namespace

// ---- What is under way

Result<void> Upkeep::create(Client& client) {
  STATOR_CHECK_OK(client.create_table(
      {.table = kTable,
       .attributes = {{"pk", ScalarType::kS}},
       .key_schema = {{"pk", KeyType::kHash}},
       .billing_mode = BillingMode::kPayPerRequest,
       .stream = StreamSpecification{.enabled = true, .view = StreamViewType::kNewAndOldImages}}));
  while (written_ < kItems) {
    constexpr int64_t kBatch = 25;
    BatchWriteItemRequest batch;
    for (int64_t i = 1; i <= kBatch; ++i) {
      batch.items[kTable].push_back({.put = item_of(written_ + i)});
    }
    STATOR_CHECK_OK(client.batch_write_item(batch));
    written_ += kBatch;
  }
  return outcome(client.call("UpdateContinuousBackups",
                             R"({"TableName": "Kept",
          "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": true}})"));
}

Result<void> Upkeep::run(Client& client) {
  STATOR_CHECK_OK(toggle_index(client));
  STATOR_CHECK_OK(toggle_expiry(client));
  STATOR_CHECK_OK(restore(client));
  STATOR_CHECK_OK(client.call("CreateBackup", R"({"TableName": "Kept", "BackupName": "Crashed"})"));
  while (true) STATOR_CHECK_OK(write(client));
}

Result<void> Upkeep::toggle_index(Client& client) {
  UpdateTableRequest request{.table = kTable, .global_indexes = {{GlobalIndexChange()}}};
  GlobalIndexChange& change = request.global_indexes->front();
  if (indexed_) {
    if (random_() % 2 == 0) return {};
    change.remove = kIndex;
  } else {
    request.attributes = {{{"shelf", ScalarType::kN}, {"number", ScalarType::kN}}};
    change.create =
        IndexDefinition{.name = kIndex,
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

Result<void> Upkeep::restore(Client& client) {
  if (!backup_.empty()) {
    STATOR_CHECK_OK(client.call(
        "RestoreTableFromBackup",
        R"({"BackupArn": ")" + backup_ + R"(", "TargetTableName": ")" + kFromBackup + "\"}"));
  }
  if (!moment_) return {};
  const std::string seconds = std::to_string(moment_->time_ms / 1000) + "." +
                              std::to_string(1000 + moment_->time_ms % 1000).substr(1);
  restored_to_ = moment_->number;
  return outcome(client.call("RestoreTableToPointInTime",
                             R"({"SourceTableName": "Kept", "RestoreDateTime": )" + seconds +
                                 R"(, "TargetTableName": ")" + kFromMoment + "\"}"));
}

Result<void> Upkeep::write(Client& client) {
  const int64_t number = written_ + 1;
  if (number % 5 == 0) {
    const Item expired{{"pk", std::string(kExpired) + std::to_string(number)},
                       {"expires", now_ms() / 1000 - 60}};
    STATOR_CHECK_OK(client.put_item({.table = kTable, .item = expired}));
  }
  if (erases(number)) {
    STATOR_CHECK_OK(client.delete_item({.table = kTable, .key = {{"pk", name_of(number)}}}));
  } else {
    STATOR_CHECK_OK(client.put_item({.table = kTable, .item = item_of(number)}));
  }
  written_ = number;
  return {};
}

// ---- What must be true

void Upkeep::settle(Client& client) {
  check_table(client);
  check_expired(client);
  check_restored(client, kFromMoment, restored_to_);
  restored_to_.reset();
  check_restored(client, kFromBackup, {});
  check_backups(client);
  StreamReplay replay;
  StreamConsumer consumer;
  const auto described = client.describe_table({.table = kTable});
  ASSERT_TRUE(described) << described.error().message;
  for (const StreamRecord& record :
       consumer.read(client, described->table.latest_stream_arn.value_or("none"))) {
    replay.apply(record);
  }
  std::map<std::string, Item> told;
  for (const auto& [keys, item] : replay.items()) {
    told.emplace(*item.at("pk").get_if<std::string>(), item);
  }
  EXPECT_EQ(told, scan(client, kTable)) << "the stream of " << kTable;
  moment_ = Moment{.time_ms = now_ms() - 1, .number = written_};
}

void Upkeep::check_table(Client& client) {
  wait_until("the table does not become ACTIVE", [&] {
    const auto described = client.describe_table({.table = kTable});
    EXPECT_TRUE(described) << described.error().message;
    if (!described) return true;
    indexed_ = !described->table.global_indexes.empty();
    return described->table.status == TableStatus::kActive;
  });
  const auto number = number_of(scan(client, kTable));
  ASSERT_TRUE(number) << "the table has what no number of writes leads to";
  EXPECT_TRUE(*number == written_ || *number == written_ + 1)
      << *number << " writes of " << written_ << " are there";
  written_ = *number;
  if (indexed_) expect_index_of(client, kTable);
}

// Where items expire, those that had are gone in a while, and all others are there.
void Upkeep::check_expired(Client& client) {
  wait_until("expired items stay", [&] {
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
  });
  EXPECT_EQ(number_of(scan(client, kTable)), written_) << "an item went that had not expired";
}

void Upkeep::check_restored(Client& client, const std::string& table,
                            std::optional<int64_t> number) {
  std::optional<TableDescription> restored;
  wait_until(table + " does not become ACTIVE", [&] {
    const auto described = client.describe_table({.table = table});
    restored = described ? std::optional(described->table) : std::nullopt;
    return !restored || restored->status == TableStatus::kActive;
  });
  if (!restored) return;  // the request did not arrive
  const auto found = number_of(scan(client, table));
  EXPECT_TRUE(found) << table << " has what no number of writes leads to";
  EXPECT_EQ(found, number ? number : found) << table;
  EXPECT_LE(found.value_or(0), written_) << table;
  if (!restored->global_indexes.empty()) expect_index_of(client, table);
  EXPECT_TRUE(client.delete_table({.table = table}));
  ++restored_;
}

// Keeps the newest to restore from.
void Upkeep::check_backups(Client& client) {
  const std::string first = R"("BackupArn":")";
  Result<std::string> listed;
  wait_until("a backup is not taken", [&] {
    listed = client.call("ListBackups", "{}");
    EXPECT_TRUE(listed) << listed.error().message;
    return !listed || listed->find("CREATING") == std::string::npos;
  });
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
