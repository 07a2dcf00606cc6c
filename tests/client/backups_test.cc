// SPDX-License-Identifier: Apache-2.0
// Backups and tables restored from them, on each backend.
#include <thread>

#include "client/client_test.h"

namespace stator::test {
namespace {

class BackupsTest : public ClientTest {
 protected:
  std::string answer(std::string_view operation, const std::string& json) {
    const auto got = client_.call(operation, json);
    EXPECT_THAT(got, IsOk()) << operation << " " << json;
    return got.value_or("");
  }
  // Returns the text of the first member with this name.
  static std::string member(const std::string& json, const std::string& name) {
    const std::string begin = "\"" + name + "\":\"";
    const std::size_t at = json.find(begin);
    if (at == std::string::npos) return "";
    const std::size_t from = at + begin.size();
    return json.substr(from, json.find('"', from) - from);
  }
  static std::string of(const std::string& arn) { return R"({"BackupArn": ")" + arn + "\"}"; }

  // Creates a backup, waits until it is complete, and returns its ARN.
  std::string backup(const std::string& table, const std::string& name) {
    const std::string created = answer(
        "CreateBackup", R"({"TableName": ")" + table + R"(", "BackupName": ")" + name + "\"}");
    const std::string arn = member(created, "BackupArn");
    while (member(answer("DescribeBackup", of(arn)), "BackupStatus") == "CREATING") {
      std::this_thread::yield();
    }
    return arn;
  }
  void restore(const std::string& arn, const std::string& table, const std::string& more = "") {
    const std::string started =
        answer("RestoreTableFromBackup", R"({"BackupArn": ")" + arn + R"(", "TargetTableName": ")" +
                                             table + "\"" + more + "}");
    EXPECT_EQ(member(started, "TableStatus"), "CREATING");
    EXPECT_EQ(member(started, "SourceBackupArn"), arn);
    wait_until_active(table);
  }
  void wait_until_active(const std::string& table) {
    while (true) {
      const auto described = client_.describe_table({.table = table});
      ASSERT_THAT(described, IsOk());
      if (described->table.status == TableStatus::kActive) return;
      std::this_thread::yield();
    }
  }
  void fill(const std::string& table, int count) {
    for (int i = 0; i < count; ++i) {
      put(table, {{"pk", "p" + std::to_string(i % 7)},
                  {"sk", i},
                  {"place", i % 2 == 0 ? "here" : "there"},
                  {"rank", i},
                  {"note", std::string(50, 'n')}});
    }
  }
};
STATOR_IN_EACH_HOME(BackupsTest);

TEST_P(BackupsTest, ARestoredTableHasTheItemsOfTheBackupsTime) {
  create(indexed_table("Tab"));
  fill("Tab", 600);
  const std::vector<Item> before = all_items(ScanRequest{.table = "Tab"});
  const std::string arn = backup("Tab", "Monday");
  fill("Tab", 700);
  ASSERT_THAT(client_.delete_item({.table = "Tab", .key = {{"pk", "p0"}, {"sk", 0}}}), IsOk());

  restore(arn, "Again");
  EXPECT_EQ(all_items(ScanRequest{.table = "Again"}), before);
  const QueryRequest by_place{.table = "Again",
                              .index = "GlobalByPlace",
                              .key_condition = "place = :p",
                              .values = Values{{":p", "here"}}};
  EXPECT_EQ(all_items(by_place).size(), 300);
  put("Again", {{"pk", "p0"}, {"sk", 0}, {"place", "new"}, {"rank", 1}});
  EXPECT_EQ(all_items(by_place).size(), 299);
}

TEST_P(BackupsTest, ABackupOutlivesItsTable) {
  create(hash_table("Tab"));
  put("Tab", {{"pk", "a"}});
  const std::string arn = backup("Tab", "Kept");
  ASSERT_THAT(client_.delete_table({.table = "Tab"}), IsOk());
  restore(arn, "Tab");
  EXPECT_TRUE(get("Tab", {{"pk", "a"}}));
  EXPECT_THAT(client_.call("RestoreTableFromBackup",
                           R"({"TargetTableName": "Tab", "BackupArn": ")" + arn + "\"}"),
              FailsWith(Code::kTableAlreadyExists, "Tab"));
}

TEST_P(BackupsTest, OverridesChooseIndexesAndBilling) {
  create(indexed_table("Tab"));
  fill("Tab", 10);
  const std::string arn = backup("Tab", "Whole");
  restore(arn, "Bare",
          R"(, "GlobalSecondaryIndexOverride": [], "LocalSecondaryIndexOverride": [],
              "BillingModeOverride": "PROVISIONED",
              "ProvisionedThroughputOverride": {"ReadCapacityUnits": 3, "WriteCapacityUnits": 4})");
  const auto described = client_.describe_table({.table = "Bare"});
  ASSERT_THAT(described, IsOk());
  EXPECT_TRUE(described->table.global_indexes.empty());
  EXPECT_TRUE(described->table.local_indexes.empty());
  EXPECT_EQ(described->table.attributes.size(), 2);
  EXPECT_EQ(described->table.billing_mode, BillingMode::kProvisioned);
  EXPECT_EQ(described->table.throughput, (Throughput{3, 4}));
  EXPECT_EQ(all_items(ScanRequest{.table = "Bare"}).size(), 10);
  EXPECT_THAT(client_.call("RestoreTableFromBackup",
                           R"({"TargetTableName": "Other", "BackupArn": ")" + arn +
                               R"(", "GlobalSecondaryIndexOverride": [{"IndexName": "Strange",
                            "KeySchema": [{"AttributeName": "place", "KeyType": "HASH"}],
                            "Projection": {"ProjectionType": "ALL"}}]})"),
              FailsWith(Code::kValidation,
                        "Invalid Request: Index Strange does not match a secondary index"));
}

TEST_P(BackupsTest, BackupsAreListedDescribedAndDeleted) {
  create(hash_table("One"));
  create(indexed_table("Two"));
  fill("Two", 3);
  const std::string first = backup("One", "First");
  const std::string second = backup("Two", "Second");
  const std::string page = answer("ListBackups", R"({"Limit": 1})");
  EXPECT_EQ(member(page, "BackupName"), "First");
  EXPECT_EQ(member(page, "LastEvaluatedBackupArn"), first);
  const std::string rest =
      answer("ListBackups", R"({"ExclusiveStartBackupArn": ")" + first + "\"}");
  EXPECT_EQ(member(rest, "BackupName"), "Second");
  EXPECT_EQ(member(rest, "LastEvaluatedBackupArn"), "");
  EXPECT_EQ(member(answer("ListBackups", R"({"TableName": "Two"})"), "BackupArn"), second);
  EXPECT_EQ(answer("ListBackups", R"({"BackupType": "SYSTEM"})"), R"({"BackupSummaries":[]})");
  EXPECT_EQ(answer("ListBackups", R"({"TimeRangeUpperBound": 1})"), R"({"BackupSummaries":[]})");

  const std::string described = answer("DescribeBackup", of(second));
  EXPECT_NE(described.find(R"("ItemCount":3)"), std::string::npos) << described;
  EXPECT_NE(described.find(R"("IndexName":"GlobalByPlace")"), std::string::npos) << described;
  EXPECT_EQ(member(answer("DeleteBackup", of(second)), "BackupStatus"), "DELETED");
  EXPECT_THAT(client_.call("DescribeBackup", of(second)),
              FailsWith(Code::kBackupNotFound, "Backup not found: " + second));
  EXPECT_THAT(client_.call("DeleteBackup", of(second)), FailsWith(Code::kBackupNotFound, second));
  EXPECT_EQ(member(answer("ListBackups", "{}"), "BackupArn"), first);
}

TEST_P(BackupsTest, AbsentTablesAndBackupsAreRefused) {
  EXPECT_THAT(client_.call("CreateBackup", R"({"TableName": "Lost", "BackupName": "Some"})"),
              FailsWith(Code::kTableNotFound, "Table not found: Lost"));
  const std::string arn =
      "arn:aws:dynamodb:us-east-1:000000782867:table/Lost/backup/01489602797149-73d8d5bc";
  EXPECT_THAT(client_.call("DescribeBackup", of(arn)), FailsWith(Code::kBackupNotFound, arn));
  EXPECT_THAT(client_.call("DescribeBackup", of("short")),
              FailsWith(Code::kValidation, "length greater than or equal to 37"));
  EXPECT_THAT(client_.call("RestoreTableFromBackup",
                           R"({"TargetTableName": "Tab", "BackupArn": ")" + arn + "\"}"),
              FailsWith(Code::kBackupNotFound, arn));
}

}  // namespace
}  // namespace stator::test
