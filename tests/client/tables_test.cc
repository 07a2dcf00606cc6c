// SPDX-License-Identifier: Apache-2.0
// CreateTable, DescribeTable, ListTables, DeleteTable.
#include "client/client_test.h"

namespace stator::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Tables : public ClientTest {};
STATOR_IN_EACH_HOME(Tables);

void expect_same(const TableDescription& one, const TableDescription& other) {
  EXPECT_EQ(one.table, other.table);
  EXPECT_EQ(one.id, other.id);
  EXPECT_EQ(one.arn, other.arn);
  EXPECT_EQ(one.created_ms, other.created_ms);
  EXPECT_EQ(one.attributes, other.attributes);
  EXPECT_EQ(one.key_schema, other.key_schema);
  EXPECT_EQ(one.billing_mode, other.billing_mode);
  EXPECT_EQ(one.throughput, other.throughput);
  EXPECT_EQ(one.on_demand_throughput, other.on_demand_throughput);
  EXPECT_EQ(one.warm_throughput, other.warm_throughput);
  EXPECT_EQ(one.table_class, other.table_class);
  EXPECT_EQ(one.deletion_protection, other.deletion_protection);
}

TEST_P(Tables, AreActiveAtOnceAndDescribedAsTheyWereCreated) {
  CreateTableRequest request = indexed_table("Full");
  request.on_demand_throughput = OnDemandThroughput{.max_read = 50, .max_write = 7};
  (*request.global_indexes)[0].on_demand_throughput = OnDemandThroughput{.max_read = 5};
  request.table_class = TableClass::kStandardInfrequentAccess;
  request.tags = {{"team", "rain"}};
  const auto created = client_.create_table(request);
  ASSERT_THAT(created, IsOk());
  const auto described = client_.describe_table({.table = "Full"});
  ASSERT_THAT(described, IsOk());
  const TableDescription& table = described->table;
  expect_same(table, created->table);
  EXPECT_EQ(table.table, "Full");
  EXPECT_EQ(table.status, TableStatus::kActive);
  EXPECT_EQ(table.id.size(), 36U);
  EXPECT_THAT(table.arn, ::testing::EndsWith(":table/Full"));
  EXPECT_GT(table.created_ms, 1'700'000'000'000);
  EXPECT_EQ(table.attributes, request.attributes);
  EXPECT_EQ(table.key_schema, request.key_schema);
  EXPECT_EQ(table.billing_mode, BillingMode::kPayPerRequest);
  EXPECT_EQ(table.throughput, Throughput());
  EXPECT_EQ(table.on_demand_throughput, request.on_demand_throughput);
  EXPECT_EQ(table.table_class, request.table_class);
  EXPECT_FALSE(table.deletion_protection);
  ASSERT_EQ(table.local_indexes.size(), 1U);
  EXPECT_EQ(table.local_indexes[0].definition.name, "LocalByRank");
  EXPECT_EQ(table.local_indexes[0].definition.key_schema, (*request.local_indexes)[0].key_schema);
  EXPECT_EQ(table.local_indexes[0].definition.projection, (*request.local_indexes)[0].projection);
  ASSERT_EQ(table.global_indexes.size(), 1U);
  const IndexDescription& global = table.global_indexes[0];
  EXPECT_EQ(global.definition.key_schema, (*request.global_indexes)[0].key_schema);
  EXPECT_EQ(global.definition.projection, (*request.global_indexes)[0].projection);
  EXPECT_EQ(global.definition.on_demand_throughput, OnDemandThroughput{.max_read = 5});
  EXPECT_EQ(global.status, TableStatus::kActive);
  EXPECT_EQ(global.arn, table.arn + "/index/GlobalByPlace");
}

TEST_P(Tables, KeepTheirProvisionedThroughput) {
  CreateTableRequest request = indexed_table("Provisioned");
  request.billing_mode.reset();
  request.throughput = Throughput{.read = 5, .write = 6};
  (*request.global_indexes)[0].throughput = Throughput{.read = 7, .write = 8};
  create(request);
  const auto described = client_.describe_table({.table = "Provisioned"});
  ASSERT_THAT(described, IsOk());
  EXPECT_EQ(described->table.billing_mode, BillingMode::kProvisioned);
  EXPECT_EQ(described->table.throughput, request.throughput);
  EXPECT_EQ(described->table.global_indexes[0].definition.throughput,
            (*request.global_indexes)[0].throughput);
  EXPECT_FALSE(described->table.on_demand_throughput);
}

TEST_P(Tables, TakeUpToFourHashAndFourRangeAttributesInAGlobalIndex) {
  CreateTableRequest request = hash_table("Many");
  KeySchema keys;
  for (const char* name : {"h1", "h2", "h3", "h4", "r1", "r2", "r3", "r4"}) {
    request.attributes.push_back({name, ScalarType::kS});
    keys.push_back({name, name[0] == 'h' ? KeyType::kHash : KeyType::kRange});
  }
  request.global_indexes = {{index_on("Wide", keys)}};
  create(request);
  const auto described = client_.describe_table({.table = "Many"});
  ASSERT_THAT(described, IsOk());
  ASSERT_EQ(described->table.global_indexes.size(), 1U);
  EXPECT_EQ(described->table.global_indexes[0].definition.key_schema, keys);
  Item item{{"pk", "a"}};
  for (const auto& [name, type] : keys) item.emplace(name, name);
  put("Many", item);
  EXPECT_EQ(all_items(ScanRequest{.table = "Many", .index = "Wide"}), std::vector<Item>{item});

  keys.push_back({"r5", KeyType::kRange});
  request.table = "TooMany";
  request.attributes.push_back({"r5", ScalarType::kS});
  request.global_indexes = {{index_on("Wide", keys)}};
  EXPECT_THAT(client_.create_table(request), FailsWith(Code::kValidation, ""));
}

TEST_P(Tables, CountTheirItemsAndThoseOfTheirIndexes) {
  create(indexed_table("Counted"));
  put("Counted", {{"pk", "a"}, {"sk", 1}, {"rank", 1}, {"place", "x"}});
  put("Counted", {{"pk", "a"}, {"sk", 2}, {"rank", 1}});
  put("Counted", {{"pk", "a"}, {"sk", 3}});
  const auto described = client_.describe_table({.table = "Counted"});
  ASSERT_THAT(described, IsOk());
  EXPECT_EQ(described->table.item_count, 3);
  EXPECT_EQ(described->table.local_indexes.at(0).item_count, 2);
  EXPECT_EQ(described->table.global_indexes.at(0).item_count, 1);
  EXPECT_GT(described->table.size_bytes, described->table.local_indexes[0].size_bytes);
  EXPECT_GT(described->table.global_indexes[0].size_bytes, 0);
}

TEST_P(Tables, AreListedByPagesInTheOrderOfTheirNames) {
  EXPECT_THAT(client_.list_tables({})->tables, IsEmpty());
  for (const char* name : {"beta", "Zeta", "alpha-1", "alpha", "gamma"}) create(hash_table(name));
  const auto all = client_.list_tables({});
  ASSERT_THAT(all, IsOk());
  EXPECT_THAT(all->tables, ElementsAre("Zeta", "alpha", "alpha-1", "beta", "gamma"));
  EXPECT_FALSE(all->last_evaluated_table);
  const auto first = client_.list_tables({.limit = 2});
  ASSERT_THAT(first, IsOk());
  EXPECT_THAT(first->tables, ElementsAre("Zeta", "alpha"));
  ASSERT_EQ(first->last_evaluated_table, "alpha");
  const auto second = client_.list_tables({.limit = 2, .exclusive_start_table = "alpha"});
  ASSERT_THAT(second, IsOk());
  EXPECT_THAT(second->tables, ElementsAre("alpha-1", "beta"));
  const auto rest = client_.list_tables({.exclusive_start_table = "beta"});
  ASSERT_THAT(rest, IsOk());
  EXPECT_THAT(rest->tables, ElementsAre("gamma"));
  EXPECT_FALSE(rest->last_evaluated_table);
}

TEST_P(Tables, AreDeletedWithTheirItemsAndFreeTheirName) {
  create(hash_table("Gone"));
  put("Gone", {{"pk", "a"}});
  const auto id = client_.describe_table({.table = "Gone"})->table.id;
  const auto deleted = client_.delete_table({.table = "Gone"});
  ASSERT_THAT(deleted, IsOk());
  EXPECT_EQ(deleted->table.table, "Gone");
  EXPECT_EQ(deleted->table.status, TableStatus::kDeleting);
  EXPECT_EQ(deleted->table.id, id);
  EXPECT_THAT(
      client_.describe_table({.table = "Gone"}),
      FailsWith(Code::kResourceNotFound, "Requested resource not found: Table: Gone not found"));
  EXPECT_THAT(client_.put_item({.table = "Gone", .item = {{"pk", "a"}}}),
              FailsWith(Code::kResourceNotFound, "Requested resource not found"));
  create(hash_table("Gone"));
  EXPECT_NE(client_.describe_table({.table = "Gone"})->table.id, id);
  EXPECT_EQ(get("Gone", {{"pk", "a"}}), std::nullopt);
}

TEST_P(Tables, DescribeTheirDeletionWithoutTheirSchema) {
  create(indexed_table("Gone"));
  const auto deleted = client_.delete_table({.table = "Gone"});
  ASSERT_THAT(deleted, IsOk());
  EXPECT_EQ(deleted->table.created_ms, 0);
  EXPECT_THAT(deleted->table.key_schema, ElementsAre());
  EXPECT_THAT(deleted->table.attributes, ElementsAre());
  EXPECT_THAT(deleted->table.local_indexes, ElementsAre());
  EXPECT_THAT(deleted->table.global_indexes, ElementsAre());
  create(hash_table("Gone"));
  const auto json = client_.call("DeleteTable", R"({"TableName":"Gone"})");
  ASSERT_THAT(json, IsOk());
  for (const char* member : {"KeySchema", "AttributeDefinitions", "CreationDateTime", "Indexes"}) {
    EXPECT_EQ(json->find(member), std::string::npos) << *json;
  }
  EXPECT_NE(json->find("ProvisionedThroughput"), std::string::npos) << *json;
}

TEST_P(Tables, AreNotDeletedWhileTheyAreProtected) {
  CreateTableRequest request = hash_table("Kept");
  request.deletion_protection = true;
  create(request);
  EXPECT_THAT(client_.delete_table({.table = "Kept"}),
              FailsWith(Code::kValidation, "currently protected against deletion"));
  const auto described = client_.describe_table({.table = "Kept"});
  ASSERT_THAT(described, IsOk());
  EXPECT_TRUE(described->table.deletion_protection);
}

TEST_P(Tables, HaveANameOnce) {
  create(hash_table("Once"));
  EXPECT_THAT(client_.create_table(hash_table("Once")),
              FailsWith(Code::kResourceInUse, "Table already exists: Once"));
}

TEST_P(Tables, AreFoundByTheirArn) {
  create(hash_table("Named"));
  put("Named", {{"pk", "a"}});
  const auto described = client_.describe_table({.table = "Named"});
  ASSERT_THAT(described, IsOk());
  EXPECT_EQ(get(described->table.arn, {{"pk", "a"}}), (Item{{"pk", "a"}}));
}

}  // namespace
}  // namespace stator::test
