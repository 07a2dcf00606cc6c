// SPDX-License-Identifier: Apache-2.0
// Tables and indexes whose provisioned capacity is used up, and hot partition keys.
#include "testmode/provisioned_units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing/engine_harness.h"
#include "testmode/test_mode.h"

namespace stator::testmode {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::FailsWith;
using test::IsOk;
using test::must;
using ::testing::HasSubstr;

constexpr std::string_view kArn = "arn:aws:dynamodb:us-east-1:000000782867:table/Things";

class ProvisionedThroughput : public test::EngineTest {
 protected:
  ProvisionedThroughput() {
    CreateTableRequest request = test::hash_table();
    request.billing_mode = BillingMode::kProvisioned;
    request.throughput = {.read = 4, .write = 2};
    request.attributes.push_back({"color", ScalarType::kS});
    IndexDefinition index = test::index_on("colors", {{"color", KeyType::kHash}});
    index.throughput = {.read = 1, .write = 1};
    request.global_indexes = {index};
    create(request);
    create(test::hash_table("Others"));
    start({.fault = Fault::kProvisionedThroughput});
  }
  void start(Rule rule) {
    mode_.reset();
    auto mode = TestMode::start(*engine_, timer_, {.rules = {std::move(rule)}});
    ASSERT_THAT(mode, IsOk());
    mode_ = std::move(*mode);
  }

  template <class Request, class T>
  Result<T> run(std::string_view name, void (Engine::*operation)(const Request&, Done<T>),
                std::type_identity_t<Request> request) {
    const auto met = mode_->on_request(name, request);
    if (met->refusal) return Failure(*met->refusal);
    Result<T> result = call_and_wait(*engine_, operation, request);
    met->amend(result);
    return result;
  }
  Result<WriteResponse> put(const std::string& key, std::size_t bytes = 1) {
    return run("PutItem", &Engine::put_item,
               {.table = "Things", .item = {{"pk", key}, {"text", std::string(bytes, 'x')}}});
  }
  Result<WriteResponse> put_color(const std::string& key) {
    return run("PutItem", &Engine::put_item,
               {.table = "Things", .item = {{"pk", key}, {"color", "red"}}});
  }
  Result<GetItemResponse> get(const std::string& key) {
    return run("GetItem", &Engine::get_item,
               {.table = "Things", .key = {{"pk", key}}, .consistent_read = true});
  }
  template <class T>
  static void expect_throttled(const Result<T>& result, std::string_view reason,
                               std::string_view resource = kArn) {
    ASSERT_THAT(result, FailsWith(Code::kProvisionedThroughputExceeded, ""));
    ASSERT_EQ(result.error().detail->throttling_reasons.size(), 1U);
    EXPECT_EQ(result.error().detail->throttling_reasons[0],
              (ThrottlingReason{std::string(reason), std::string(resource)}));
  }

  Timer timer_;
  std::unique_ptr<TestMode> mode_;
};

TEST_F(ProvisionedThroughput, EachSecondHasItsUnits) {
  EXPECT_THAT(put("a"), IsOk());
  EXPECT_THAT(put("b"), IsOk());
  expect_throttled(put("c"), "TableWriteProvisionedThroughputExceeded");
  EXPECT_FALSE(
      must(call_and_wait(*engine_, &Engine::get_item, {.table = "Things", .key = {{"pk", "c"}}}))
          .item);
  for (int i = 0; i < 4; ++i) EXPECT_THAT(get("a"), IsOk());
  expect_throttled(get("a"), "TableReadProvisionedThroughputExceeded");
  clock_.advance(milliseconds(500));
  EXPECT_THAT(put("c"), IsOk());
  expect_throttled(put("d"), "TableWriteProvisionedThroughputExceeded");
  EXPECT_THAT(mode_->to_json(), HasSubstr(R"("injected":3)"));
}

TEST_F(ProvisionedThroughput, ALargeRequestIsPaidByLaterOnes) {
  EXPECT_THAT(put("a", 10'000), IsOk());  // 10 units
  clock_.advance(seconds(4));
  expect_throttled(put("b"), "TableWriteProvisionedThroughputExceeded");
  clock_.advance(milliseconds(1));
  EXPECT_THAT(put("b"), IsOk());
}

TEST_F(ProvisionedThroughput, UnusedUnitsStayForTheBurst) {
  EXPECT_THAT(put("a"), IsOk());
  clock_.advance(seconds(1000));
  EXPECT_THAT(put("a", 350'000), IsOk());  // 342 of 600 units
  EXPECT_THAT(put("b", 263'000), IsOk());  // 257
  EXPECT_THAT(put("c"), IsOk());
  expect_throttled(put("c"), "TableWriteProvisionedThroughputExceeded");
  start({.fault = Fault::kProvisionedThroughput, .burst_seconds = 1});
  EXPECT_THAT(put("c"), IsOk());
  clock_.advance(seconds(1000));
  EXPECT_THAT(put("c"), IsOk());
  EXPECT_THAT(put("c"), IsOk());
  expect_throttled(put("c"), "TableWriteProvisionedThroughputExceeded");
}

TEST_F(ProvisionedThroughput, AnIndexThrottlesTheWritesThatItFollows) {
  EXPECT_THAT(put_color("a"), IsOk());
  expect_throttled(put_color("b"), "IndexWriteProvisionedThroughputExceeded",
                   std::string(kArn) + "/index/colors");
  const QueryRequest query{.table = "Things",
                           .index = "colors",
                           .key_condition = "color = :c",
                           .values = {{{":c", "red"}}}};
  EXPECT_THAT(run("Query", &Engine::query, query), IsOk());  // half a unit
  EXPECT_THAT(run("Query", &Engine::query, query), IsOk());
  expect_throttled(run("Query", &Engine::query, query), "IndexReadProvisionedThroughputExceeded",
                   std::string(kArn) + "/index/colors");
  EXPECT_THAT(get("a"), IsOk()) << "the table has units of its own";
  expect_throttled(run("ExecuteStatement", &Engine::execute_statement,
                       {.statement = R"(SELECT * FROM "Things"."colors" WHERE color = 'red')"}),
                   "IndexReadProvisionedThroughputExceeded", std::string(kArn) + "/index/colors");
}

TEST_F(ProvisionedThroughput, AFailedConditionUsesAUnit) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(
        run("DeleteItem", &Engine::delete_item,
            {.table = "Things", .key = {{"pk", "gone"}}, .condition = "attribute_exists(pk)"}),
        FailsWith(Code::kConditionalCheckFailed, ""));
  }
  expect_throttled(put("a"), "TableWriteProvisionedThroughputExceeded");
}

TEST_F(ProvisionedThroughput, ABatchIsProcessedAsFarAsThereAreUnits) {
  BatchWriteItemRequest writes;
  for (int i = 0; i < 5; ++i) {
    writes.items["Things"].push_back({.put = Item{{"pk", std::to_string(i)}}});
    writes.items["Others"].push_back({.put = Item{{"pk", std::to_string(i)}}});
  }
  const auto write = [&] { return run("BatchWriteItem", &Engine::batch_write_item, writes); };
  // The index has fewer units and limits the batch, although it contains none of these items.
  EXPECT_EQ(must(write()).unprocessed.at("Things").size(), 4U);
  EXPECT_EQ(must(write()).unprocessed.at("Things").size(), 4U);
  const auto none = must(write());
  EXPECT_EQ(none.unprocessed.at("Things").size(), 5U);
  EXPECT_FALSE(none.unprocessed.contains("Others"));
  writes.items.erase("Others");
  expect_throttled(write(), "TableWriteProvisionedThroughputExceeded");
  EXPECT_THAT(mode_->to_json(), HasSubstr(R"("injected":4)"));
}

TEST_F(ProvisionedThroughput, ABatchReadsTwiceAsMuchIfItNeedNotBeConsistent) {
  BatchGetItemRequest reads;
  for (int i = 0; i < 10; ++i) {
    reads.items["Things"].keys.push_back({{"pk", std::to_string(i)}});
  }
  const auto read = [&] { return run("BatchGetItem", &Engine::batch_get_item, reads); };
  EXPECT_EQ(must(read()).unprocessed.at("Things").keys.size(), 2U);  // 4 units
  expect_throttled(read(), "TableReadProvisionedThroughputExceeded");
  clock_.advance(seconds(1));
  reads.items["Things"].consistent_read = true;
  EXPECT_EQ(must(read()).unprocessed.at("Things").keys.size(), 6U);
  EXPECT_THAT(mode_->to_json(), HasSubstr(R"("injected":3)"));
}

TEST_F(ProvisionedThroughput, AnInvalidBatchStaysInvalid) {
  const BatchWriteItemRequest writes{
      .items = {{"Things", {{.put = Item{{"pk", "a"}}}}}, {"Others", {}}}};
  const auto refused = call_and_wait(*engine_, &Engine::batch_write_item, writes);
  ASSERT_FALSE(refused);
  EXPECT_THAT(run("BatchWriteItem", &Engine::batch_write_item, writes),
              FailsWith(refused.error().code, refused.error().message));
  EXPECT_THAT(put("a"), IsOk());
  EXPECT_THAT(put("a"), IsOk()) << "it used nothing";
}

TEST_F(ProvisionedThroughput, ARepeatedTransactionReads) {
  const TransactWriteItemsRequest transaction{.items = {{.table = "Things", .item = {{"pk", "a"}}}},
                                              .client_request_token = "once"};
  EXPECT_THAT(run("TransactWriteItems", &Engine::transact_write_items, transaction), IsOk());
  clock_.advance(seconds(1));
  for (int i = 0; i < 4; ++i) {  // 8 units
    EXPECT_THAT(run("TransactWriteItems", &Engine::transact_write_items, transaction), IsOk());
  }
  expect_throttled(get("a"), "TableReadProvisionedThroughputExceeded");
  EXPECT_THAT(put("b"), IsOk());
}

TEST_F(ProvisionedThroughput, ARecreatedTableStartsWithAllItsUnits) {
  EXPECT_THAT(put("a", 10'000), IsOk());
  expect_throttled(put("b"), "TableWriteProvisionedThroughputExceeded");
  EXPECT_THAT(engine_->delete_table({.table = "Things"}), IsOk());
  CreateTableRequest request = test::hash_table();
  request.billing_mode = BillingMode::kProvisioned;
  request.throughput = {.read = 1, .write = 1};
  create(request);
  EXPECT_THAT(put("b"), IsOk());
}

TEST_F(ProvisionedThroughput, TheFirstRuleWithAFaultDecides) {
  const auto replace = [&](std::vector<Rule> rules) {
    ASSERT_THAT(mode_->replace({.rules = std::move(rules)}), IsOk());
  };
  replace({{.fault = Fault::kInternalError, .applied = true},
           {.fault = Fault::kProvisionedThroughput}});
  for (int i = 0; i < 3; ++i) EXPECT_THAT(put("a"), FailsWith(Code::kInternalServerError, ""));
  replace({{.fault = Fault::kProvisionedThroughput},
           {.fault = Fault::kUnprocessed, .operations = {"BatchWriteItem"}}});
  BatchWriteItemRequest writes;
  for (int i = 0; i < 10; ++i) {
    writes.items["Things"].push_back({.put = Item{{"pk", std::to_string(i)}}});
  }
  EXPECT_EQ(must(run("BatchWriteItem", &Engine::batch_write_item, writes))
                .unprocessed.at("Things")
                .size(),
            9U);
}

TEST_F(ProvisionedThroughput, TransactionsAndStatementsUseUnitsToo) {
  const TransactWriteItemsRequest transaction{
      .items = {{.table = "Things", .item = {{"pk", "a"}}}}};
  EXPECT_THAT(run("TransactWriteItems", &Engine::transact_write_items, transaction), IsOk());
  expect_throttled(run("TransactWriteItems", &Engine::transact_write_items, transaction),
                   "TableWriteProvisionedThroughputExceeded");
  const ExecuteStatementRequest select{.statement = "SELECT * FROM Things WHERE pk = 'a'",
                                       .consistent_read = true};
  for (int i = 0; i < 4; ++i) {
    EXPECT_THAT(run("ExecuteStatement", &Engine::execute_statement, select), IsOk());
  }
  expect_throttled(run("ExecuteStatement", &Engine::execute_statement, select),
                   "TableReadProvisionedThroughputExceeded");
}

TEST_F(ProvisionedThroughput, TheResponseHasTheRequestedCapacity) {
  const auto capacity = [&](ReturnConsumedCapacity wanted) {
    clock_.advance(seconds(10));
    return must(run("PutItem", &Engine::put_item,
                    {.table = "Things",
                     .item = {{"pk", "a"}, {"color", std::to_string(static_cast<int>(wanted))}},
                     .return_capacity = wanted}))
        .capacity;
  };
  EXPECT_FALSE(capacity(ReturnConsumedCapacity::kNone));
  const auto total = capacity(ReturnConsumedCapacity::kTotal);
  EXPECT_EQ(total, (ConsumedCapacity{.table = "Things", .total = {.units = 3}}));
  const auto indexes = capacity(ReturnConsumedCapacity::kIndexes);
  ASSERT_TRUE(indexes && indexes->table_part);
  EXPECT_EQ(indexes->table_part->units, 1);
  EXPECT_EQ(indexes->global_indexes.at("colors").units, 2);
  clock_.advance(seconds(10));
  BatchWriteItemRequest batch{.items = {{"Things", {{.put = Item{{"pk", "a"}}}}}}};
  EXPECT_TRUE(must(run("BatchWriteItem", &Engine::batch_write_item, batch)).capacity.empty());
}

TEST_F(ProvisionedThroughput, ConcernsProvisionedTablesOfTheRuleOnly) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_THAT(run("PutItem", &Engine::put_item, {.table = "Others", .item = {{"pk", "a"}}}),
                IsOk());
  }
  EXPECT_FALSE(
      must(run("PutItem", &Engine::put_item, {.table = "Others", .item = {{"pk", "a"}}})).capacity);
  EXPECT_THAT(run("PutItem", &Engine::put_item, {.table = "Nowhere", .item = {{"pk", "a"}}}),
              FailsWith(Code::kResourceNotFound, ""));
  start({.fault = Fault::kProvisionedThroughput, .tables = {"Others"}});
  for (int i = 0; i < 9; ++i) EXPECT_THAT(put("a"), IsOk());
}

TEST_F(ProvisionedThroughput, FollowsTheTablesCapacity) {
  EXPECT_THAT(put("a", 2000), IsOk());
  expect_throttled(put("b"), "TableWriteProvisionedThroughputExceeded");
  EXPECT_THAT(engine_->update_table(
                  {.table = "Things", .throughput = Throughput{.read = 4, .write = 1000}}),
              IsOk());
  expect_throttled(put("b"), "TableWriteProvisionedThroughputExceeded");
  clock_.advance(milliseconds(10));
  for (int i = 0; i < 8; ++i) EXPECT_THAT(put("b"), IsOk()) << i;
}

// Tables of both modes whose capacity is not used up, with a global index and a local one.
class HotPartitionKeys : public ProvisionedThroughput {
 protected:
  HotPartitionKeys() {
    CreateTableRequest request = test::range_table("Hot");
    request.attributes.push_back({"color", ScalarType::kS});
    request.global_indexes = {test::index_on("colors", {{"color", KeyType::kHash}})};
    request.local_indexes = {
        test::index_on("by_color", {{"pk", KeyType::kHash}, {"color", KeyType::kRange}})};
    create(request);
    request.table = "Provisioned";
    request.billing_mode = BillingMode::kProvisioned;
    request.throughput = {.read = 20'000, .write = 20'000};
    request.global_indexes->front().throughput = {.read = 20'000, .write = 20'000};
    create(request);
  }
  // Its write uses one unit per kilobyte, and as many in each index that contains it.
  static Item item_of(std::size_t kilobytes, Item item) {
    item["text"] = std::string((kilobytes << 10U) - 100, 'x');
    return item;
  }
  Result<WriteResponse> put_kb(const std::string& table, Item item, std::size_t kilobytes) {
    return run("PutItem", &Engine::put_item,
               {.table = table, .item = item_of(kilobytes, std::move(item))});
  }
  void use_up_writes(const std::string& table, const std::string& key) {
    for (int64_t at = 1; at <= 4; ++at) {
      EXPECT_THAT(put_kb(table, {{"pk", key}, {"sk", at}}, 250), IsOk());
    }
  }
  auto query(const std::string& key, std::optional<std::string> index = {}) {
    return run("Query", &Engine::query,
               {.table = "Hot",
                .index = std::move(index),
                .key_condition = "pk = :k",
                .values = {{{":k", key}}}});
  }
  static void expect_hot(const auto& result, std::string_view reason, std::string_view rest = "") {
    ASSERT_THAT(result, FailsWith(Code::kThrottling, "check if you have a hot key"));
    ASSERT_EQ(result.error().detail->throttling_reasons.size(), 1U);
    EXPECT_EQ(
        result.error().detail->throttling_reasons[0],
        (ThrottlingReason{std::string(reason), "arn:aws:dynamodb:us-east-1:000000782867:table/Hot" +
                                                   std::string(rest)}));
  }
};

TEST_F(HotPartitionKeys, DoNotThrottleOtherKeys) {
  use_up_writes("Hot", "a");
  expect_hot(put_kb("Hot", {{"pk", "a"}, {"sk", 9}}, 1), "TableWriteKeyRangeThroughputExceeded");
  EXPECT_THAT(put_kb("Hot", {{"pk", "b"}, {"sk", 1}}, 1), IsOk());
  EXPECT_THAT(query("a"), IsOk()) << "reads have units of their own";
  clock_.advance(milliseconds(1));
  EXPECT_THAT(put_kb("Hot", {{"pk", "a"}, {"sk", 9}}, 2), IsOk());
  expect_hot(put_kb("Hot", {{"pk", "a"}, {"sk", 9}}, 1), "TableWriteKeyRangeThroughputExceeded");
  EXPECT_THAT(mode_->to_json(), HasSubstr(R"("injected":2)"));
}

TEST_F(HotPartitionKeys, ThrottleEachWriteThatNamesThem) {
  use_up_writes("Hot", "a");
  constexpr std::string_view kReason = "TableWriteKeyRangeThroughputExceeded";
  const Item key{{"pk", "a"}, {"sk", 1}};
  expect_hot(run("DeleteItem", &Engine::delete_item, {.table = "Hot", .key = key}), kReason);
  expect_hot(run("UpdateItem", &Engine::update_item, {.table = "Hot", .key = key}), kReason);
  const std::string statement = "UPDATE Hot SET n = 1 WHERE pk = 'a' AND sk = 1";
  expect_hot(run("ExecuteStatement", &Engine::execute_statement, {.statement = statement}),
             kReason);
  expect_hot(run("BatchExecuteStatement", &Engine::batch_execute_statement,
                 {.statements = {{.statement = statement}}}),
             kReason);
  expect_hot(run("ExecuteTransaction", &Engine::execute_transaction,
                 {.statements = {{.statement = statement}}}),
             kReason);
  expect_hot(run("TransactWriteItems", &Engine::transact_write_items,
                 {.items = {{.action = TransactAction::kDelete, .table = "Hot", .item = key}}}),
             kReason);
}

TEST_F(HotPartitionKeys, UnusedUnitsDoNotStay) {
  use_up_writes("Hot", "a");
  clock_.advance(seconds(100));
  use_up_writes("Hot", "a");
  expect_hot(put_kb("Hot", {{"pk", "a"}, {"sk", 9}}, 1), "TableWriteKeyRangeThroughputExceeded");
  clock_.advance(seconds(1));
  EXPECT_THAT(put_kb("Hot", {{"pk", "b"}, {"sk", 9}}, 1), IsOk());
  clock_.advance(milliseconds(900));
  use_up_writes("Hot", "b");
  expect_hot(put_kb("Hot", {{"pk", "b"}, {"sk", 9}}, 1), "TableWriteKeyRangeThroughputExceeded");
}

TEST_F(HotPartitionKeys, ADebtStays) {
  TransactWriteItemsRequest transaction;
  for (int64_t at = 1; at <= 4; ++at) {
    transaction.items.push_back(
        {.table = "Hot", .item = item_of(250, {{"pk", "a"}, {"sk", at}})});  // 500 units
  }
  EXPECT_THAT(run("TransactWriteItems", &Engine::transact_write_items, transaction), IsOk());
  clock_.advance(seconds(1));
  expect_hot(put_kb("Hot", {{"pk", "a"}, {"sk", 9}}, 1), "TableWriteKeyRangeThroughputExceeded");
  clock_.advance(milliseconds(1));
  EXPECT_THAT(put_kb("Hot", {{"pk", "a"}, {"sk", 9}}, 1), IsOk());
}

TEST_F(HotPartitionKeys, OfProvisionedTablesHaveTheirException) {
  use_up_writes("Provisioned", "a");
  expect_throttled(put_kb("Provisioned", {{"pk", "a"}, {"sk", 9}}, 1),
                   "TableWriteKeyRangeThroughputExceeded",
                   "arn:aws:dynamodb:us-east-1:000000782867:table/Provisioned");
  EXPECT_THAT(put_kb("Hot", {{"pk", "a"}, {"sk", 9}}, 1), IsOk());
}

TEST_F(HotPartitionKeys, LimitReadsOfTheTableAndItsLocalIndexes) {
  for (int64_t at = 1; at <= 4; ++at) {
    EXPECT_THAT(put_kb("Hot", {{"pk", "a"}, {"sk", at}, {"color", "red"}}, 250), IsOk());
    clock_.advance(seconds(1));
  }
  for (int i = 0; i < 12; ++i) {
    EXPECT_THAT(query("a"), IsOk()) << i;  // 125 units
    EXPECT_THAT(query("a", "by_color"), IsOk()) << i;
  }
  expect_hot(query("a"), "TableReadKeyRangeThroughputExceeded");
  expect_hot(query("a", "by_color"), "TableReadKeyRangeThroughputExceeded");
  expect_hot(run("GetItem", &Engine::get_item, {.table = "Hot", .key = {{"pk", "a"}, {"sk", 1}}}),
             "TableReadKeyRangeThroughputExceeded");
  expect_hot(run("ExecuteStatement", &Engine::execute_statement,
                 {.statement = "SELECT * FROM Hot WHERE pk = 'a'"}),
             "TableReadKeyRangeThroughputExceeded");
  expect_hot(run("TransactGetItems", &Engine::transact_get_items,
                 {.items = {{.table = "Hot", .key = {{"pk", "a"}, {"sk", 1}}}}}),
             "TableReadKeyRangeThroughputExceeded");
  const BatchGetItemRequest batch{
      .items = {{"Hot", {.keys = {{{"pk", "a"}, {"sk", 1}}, {{"pk", "b"}, {"sk", 1}}}}}}};
  const auto got = must(run("BatchGetItem", &Engine::batch_get_item, batch));
  EXPECT_THAT(got.unprocessed.at("Hot").keys,
              ::testing::ElementsAre(batch.items.at("Hot").keys[0]));
  EXPECT_THAT(query("b"), IsOk());
  EXPECT_THAT(run("Scan", &Engine::scan, {.table = "Hot"}), IsOk());
  const QueryRequest red{.table = "Hot",
                         .index = "colors",
                         .key_condition = "color = :c",
                         .values = {{{":c", "red"}}}};
  for (int i = 0; i < 24; ++i) EXPECT_THAT(run("Query", &Engine::query, red), IsOk()) << i;
  expect_hot(run("Query", &Engine::query, red), "IndexReadKeyRangeThroughputExceeded",
             "/index/colors");
}

TEST_F(HotPartitionKeys, OfAGlobalIndexThrottlePuts) {
  for (const char* key : {"a", "b", "c", "d"}) {
    EXPECT_THAT(put_kb("Hot", {{"pk", key}, {"sk", 1}, {"color", "red"}}, 250), IsOk());
  }
  const auto put_red = [&] { return put_kb("Hot", {{"pk", "e"}, {"sk", 1}, {"color", "red"}}, 1); };
  expect_hot(put_red(), "IndexWriteKeyRangeThroughputExceeded", "/index/colors");
  EXPECT_THAT(put_kb("Hot", {{"pk", "e"}, {"sk", 1}, {"color", "blue"}}, 1), IsOk());
  EXPECT_THAT(put_kb("Hot", {{"pk", "e"}, {"sk", 1}}, 1), IsOk()) << "it is not in the index";
  expect_hot(run("ExecuteStatement", &Engine::execute_statement,
                 {.statement = "INSERT INTO Hot VALUE {'pk': 'f', 'sk': 1, 'color': 'red'}"}),
             "IndexWriteKeyRangeThroughputExceeded", "/index/colors");
}

TEST_F(HotPartitionKeys, AreWithheldFromABatch) {
  use_up_writes("Hot", "a");
  BatchWriteItemRequest writes;
  writes.items["Hot"] = {{.put = Item{{"pk", "a"}, {"sk", 7}}},
                         {.put = item_of(250, {{"pk", "b"}, {"sk", 7}})},
                         {.delete_key = Item{{"pk", "a"}, {"sk", 8}}}};
  writes.items["Others"].push_back({.put = Item{{"pk", "a"}}});
  const auto write = [&] { return run("BatchWriteItem", &Engine::batch_write_item, writes); };
  const auto result = must(write());
  ASSERT_EQ(result.unprocessed.size(), 1U);
  const auto& rest = result.unprocessed.at("Hot");
  ASSERT_EQ(rest.size(), 2U);
  EXPECT_EQ(rest[0].put, writes.items["Hot"][0].put);
  EXPECT_EQ(rest[1].delete_key, writes.items["Hot"][2].delete_key);
  clock_.advance(milliseconds(1));
  EXPECT_THAT(put_kb("Hot", {{"pk", "a"}, {"sk", 7}}, 1), IsOk()) << "they used no units";
  writes.items.erase("Others");
  writes.items["Hot"].erase(writes.items["Hot"].begin() + 1);
  expect_hot(write(), "TableWriteKeyRangeThroughputExceeded");
  EXPECT_THAT(mode_->to_json(), HasSubstr(R"("injected":2)"));
}

TEST_F(HotPartitionKeys, ShareTheUnitsOfABatchOrTransaction) {
  TransactWriteItemsRequest transaction;
  for (const char* key : {"a", "b"}) {
    transaction.items.push_back(
        {.table = "Hot", .item = item_of(250, {{"pk", key}, {"sk", 1}})});  // 500 units
  }
  const auto transact = [&] {
    return run("TransactWriteItems", &Engine::transact_write_items, transaction);
  };
  EXPECT_THAT(transact(), IsOk());
  EXPECT_THAT(transact(), IsOk());
  expect_hot(transact(), "TableWriteKeyRangeThroughputExceeded");
  clock_.advance(seconds(1));
  BatchWriteItemRequest batch;
  for (const char* key : {"a", "b", "c", "d"}) {
    batch.items["Hot"].push_back({.put = item_of(250, {{"pk", key}, {"sk", 1}})});
  }
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(must(run("BatchWriteItem", &Engine::batch_write_item, batch)).unprocessed.empty());
  }
  expect_hot(run("BatchWriteItem", &Engine::batch_write_item, batch),
             "TableWriteKeyRangeThroughputExceeded");
}

TEST_F(HotPartitionKeys, AreOfTheRulesTablesOnly) {
  start({.fault = Fault::kProvisionedThroughput, .tables = {"Provisioned"}});
  const BatchWriteItemRequest batch{
      .items = {{"Hot", {{.put = item_of(250, {{"pk", "a"}, {"sk", 1}})}}},
                {"Provisioned", {{.put = Item{{"pk", "a"}, {"sk", 1}}}}}}};
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(must(run("BatchWriteItem", &Engine::batch_write_item, batch)).unprocessed.empty());
  }
}

}  // namespace
}  // namespace stator::testmode
