// SPDX-License-Identifier: Apache-2.0
// UpdateTable, UpdateTimeToLive, DescribeTimeToLive.
#include <thread>

#include "client/client_test.h"

namespace stator::test {
namespace {

using ::testing::IsEmpty;

class TableChanges : public ClientTest {
 protected:
  TableDescription described(const std::string& table) {
    auto result = client_.describe_table({.table = table});
    EXPECT_THAT(result, IsOk());
    return result ? result->table : TableDescription();
  }
};
STATOR_IN_EACH_HOME(TableChanges);

TEST_P(TableChanges, ChangeTheTablesDescription) {
  create(hash_table("Settings"));
  const auto answer = client_.update_table({.table = "Settings",
                                            .billing_mode = BillingMode::kProvisioned,
                                            .throughput = Throughput{.read = 3, .write = 4}});
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(answer->table.status, TableStatus::kUpdating);
  ASSERT_THAT(client_.update_table(
                  {.table = "Settings", .table_class = TableClass::kStandardInfrequentAccess}),
              IsOk());
  ASSERT_THAT(client_.update_table({.table = "Settings", .deletion_protection = true}), IsOk());
  const TableDescription table = described("Settings");
  EXPECT_EQ(table.status, TableStatus::kActive);
  EXPECT_EQ(table.billing_mode, BillingMode::kProvisioned);
  EXPECT_TRUE(table.on_demand_since_ms);
  EXPECT_EQ(table.throughput, (Throughput{.read = 3, .write = 4}));
  EXPECT_EQ(table.warm_throughput, (Throughput{.read = 3, .write = 4}));
  EXPECT_EQ(table.table_class, TableClass::kStandardInfrequentAccess);
  EXPECT_TRUE(table.table_class_changed_ms);
  EXPECT_TRUE(table.deletion_protection);
  ASSERT_THAT(client_.update_table({.table = "Settings", .deletion_protection = false}), IsOk());
  ASSERT_THAT(
      client_.update_table({.table = "Settings", .throughput = Throughput{.read = 5, .write = 1}}),
      IsOk());
  EXPECT_TRUE(described("Settings").throughput_changes.increased_ms);
  EXPECT_EQ(described("Settings").throughput_changes.decreases_today, 1);
  EXPECT_THAT(client_.delete_table({.table = "Settings"}), IsOk());
}

TEST_P(TableChanges, AreOfOneKindInARequest) {
  create(hash_table("Settings"));
  const std::string only = " must be the only operation in the request";
  const std::string index = R"("GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"gone"}}])";
  const std::string new_index =
      R"("AttributeDefinitions":[{"AttributeName":"g","AttributeType":"S"}],
         "GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"new","KeySchema":
           [{"AttributeName":"g","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}}])";
  const std::string stream =
      R"("StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"})";
  const std::string encryption = R"("SSESpecification":{"Enabled":true})";
  const std::string table_class = R"("TableClass":"STANDARD_INFREQUENT_ACCESS")";
  const std::string protection = R"("DeletionProtectionEnabled":false)";
  const std::string warm = R"("WarmThroughput":{"ReadUnitsPerSecond":20000})";
  const std::string on_demand = R"("OnDemandThroughput":{"MaxReadRequestUnits":10})";
  const std::string throughput =
      R"("ProvisionedThroughput":{"ReadCapacityUnits":3,"WriteCapacityUnits":4})";
  const std::string per_request = R"("BillingMode":"PAY_PER_REQUEST")";
  const std::string provisioned = R"("BillingMode":"PROVISIONED",)" + throughput;
  const std::string replica = R"("ReplicaUpdates":[{"Create":{"RegionName":"eu-west-1"}}])";
  const std::string iops = "You cannot modify stream status while updating table IOPS";
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{replica, encryption}, "Replica modification" + only},
      {{encryption, table_class}, "Server-Side Encryption modification" + only},
      {{encryption, protection}, "Server-Side Encryption modification" + only},
      {{table_class, protection}, "TableClass modification" + only},
      {{table_class, per_request}, "TableClass modification" + only},
      {{protection, stream}, "DeletionProtection modification" + only},
      {{protection, new_index}, "DeletionProtection modification" + only},
      {{protection, warm}, "DeletionProtection modification" + only},
      {{protection, on_demand}, "DeletionProtection modification" + only},
      {{warm, stream}, "WarmThroughput" + only},
      {{warm, per_request}, "WarmThroughput" + only},
      {{warm, new_index},
       "Create global secondary index cannot be specified when updating WarmThroughput"},
      {{on_demand, stream},
       "OnDemandThroughput can only be combined with BillingMode in an UpdateTable request"},
      {{on_demand, warm},
       "OnDemandThroughput can only be combined with BillingMode in an UpdateTable request"},
      {{throughput, stream}, iops},
      {{provisioned, stream}, iops},
      {{throughput, index}, "You cannot create or delete index while updating table IOPS"},
      {{throughput, new_index}, "You cannot create or delete index while updating table IOPS"},
      {{stream, new_index}, "You cannot create or delete index while changing stream status"},
      {{stream, index}, "You cannot create or delete index while changing stream status"},
  };
  for (const auto& [members, message] : cases) {
    std::string request = R"({"TableName":"Settings")";
    for (const std::string& member : members) request += "," + member;
    const auto refused = client_.call("UpdateTable", request + "}");
    ASSERT_FALSE(refused) << request;
    EXPECT_EQ(refused.error().code, Code::kValidation) << request;
    EXPECT_EQ(refused.error().message, "One or more parameter values were invalid: " + message)
        << request;
  }
  EXPECT_THAT(client_.call("UpdateTable",
                           R"({"TableName":"Settings",)" + per_request + "," + on_demand + "}"),
              IsOk());
  EXPECT_THAT(
      client_.call("UpdateTable", R"({"TableName":"Settings",)" + per_request + "," + stream + "}"),
      IsOk());
}

TEST_P(TableChanges, AddAnIndexOverExistingItemsAndDeleteIt) {
  create(hash_table("Grown"));
  for (int i = 0; i < 50; ++i) {
    put("Grown", {{"pk", std::to_string(i)}, {"a", i % 2}, {"b", "x"}, {"c", i}});
  }
  ASSERT_THAT(
      client_.update_table(
          {.table = "Grown",
           .attributes = {{{"a", ScalarType::kN}, {"b", ScalarType::kS}, {"c", ScalarType::kN}}},
           .global_indexes = {{{.create = index_on("Wide", {{"a", KeyType::kHash},
                                                            {"b", KeyType::kHash},
                                                            {"c", KeyType::kRange}})}}}}),
      IsOk());
  ASSERT_TRUE(comes_true([&] {
    const TableDescription table = described("Grown");
    return table.status == TableStatus::kActive &&
           table.global_indexes.at(0).status == TableStatus::kActive;
  }));
  EXPECT_EQ(described("Grown").global_indexes[0].item_count, 50);
  const auto found = all_items(QueryRequest{.table = "Grown",
                                            .index = "Wide",
                                            .key_condition = "a = :a AND b = :b AND c > :c",
                                            .values = Values{{":a", 1}, {":b", "x"}, {":c", 40}},
                                            .limit = 2});
  ASSERT_EQ(found.size(), 5U);
  EXPECT_EQ(found[0].at("c"), AttributeValue(41));
  const auto removed =
      client_.update_table({.table = "Grown", .global_indexes = {{{.remove = "Wide"}}}});
  ASSERT_THAT(removed, IsOk());
  EXPECT_EQ(removed->table.global_indexes.at(0).status, TableStatus::kDeleting);
  EXPECT_THAT(described("Grown").global_indexes, IsEmpty());
  EXPECT_EQ(described("Grown").attributes.size(), 1U);
  EXPECT_THAT(client_.scan({.table = "Grown", .index = "Wide"}),
              FailsWith(Code::kValidation, "does not have the specified index"));
  EXPECT_EQ(all_items(ScanRequest{.table = "Grown"}).size(), 50U);
}

TEST_P(TableChanges, AreRefusedWithDynamoDbsMessages) {
  create(hash_table("Refusing"));
  EXPECT_THAT(client_.update_table({.table = "Refusing"}),
              FailsWith(Code::kValidation, "At least one of ProvisionedThroughput"));
  EXPECT_THAT(client_.update_table({.table = "Nowhere", .deletion_protection = true}),
              FailsWith(Code::kResourceNotFound, "Table: Nowhere not found"));
  EXPECT_THAT(client_.update_table({.table = "Refusing", .global_indexes = {{{.remove = "nope"}}}}),
              FailsWith(Code::kResourceNotFound, "Requested resource not found"));
  EXPECT_THAT(
      client_.update_table({.table = "Refusing", .throughput = Throughput{.read = 0, .write = 1}}),
      FailsWith(Code::kValidation, "provisionedThroughput.readCapacityUnits"));
}

TEST_P(TableChanges, TimeToLiveDeletesExpiredItems) {
  create(hash_table("Mortal"));
  const int64_t now = std::chrono::duration_cast<std::chrono::seconds>(
                          std::chrono::system_clock::now().time_since_epoch())
                          .count();
  put("Mortal", {{"pk", "old"}, {"until", now - 3600}});
  put("Mortal", {{"pk", "young"}, {"until", now + 3600}});
  EXPECT_EQ(client_.describe_time_to_live({.table = "Mortal"})->status,
            TimeToLiveStatus::kDisabled);
  const TimeToLiveSpecification specification{.enabled = true, .attribute = "until"};
  const auto set = client_.update_time_to_live({.table = "Mortal", .specification = specification});
  ASSERT_THAT(set, IsOk());
  EXPECT_EQ(set->specification, specification);
  const auto described = [&] { return client_.describe_time_to_live({.table = "Mortal"}).value(); };
  EXPECT_TRUE(comes_true([&] { return described().status == TimeToLiveStatus::kEnabled; }));
  EXPECT_EQ(described().attribute, "until");
  EXPECT_TRUE(comes_true([&] { return !get("Mortal", {{"pk", "old"}}); }));
  EXPECT_TRUE(get("Mortal", {{"pk", "young"}}));
  EXPECT_THAT(client_.update_time_to_live({.table = "Mortal", .specification = specification}),
              FailsWith(Code::kValidation, "TimeToLive is already enabled"));
}

}  // namespace
}  // namespace stator::test
