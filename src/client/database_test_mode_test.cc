// SPDX-License-Identifier: Apache-2.0
// Tests of the test mode of a Database. Each fault is tested in src/testmode.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "stator/database.h"
#include "support/matchers.h"
#include "support/must.h"
#include "support/temp_dir.h"

namespace stator {
namespace {

using test::FailsWith;
using test::IsOk;
using test::must;
using ::testing::HasSubstr;

const Item things_key{{"pk", "a"}};

Database open_with(const std::string& rules) {
  Database database = must(Database::open({.test_mode = "{}"}));
  must(database.create_table({.table = "Things",
                              .attributes = {{"pk", ScalarType::kS}},
                              .key_schema = {{"pk", KeyType::kHash}},
                              .billing_mode = BillingMode::kPayPerRequest}));
  EXPECT_THAT(database.set_test_mode(rules), IsOk());
  return database;
}

// Every operation of Client, on a table that exists.
std::vector<std::pair<std::string, std::function<Code(Client&)>>> all_operations() {
  const auto code = [](const auto& result) {
    return result ? Code::kValidation : result.error().code;
  };
  const std::string select = R"(SELECT * FROM "Things" WHERE pk = 'a')";
  return {
      {"CreateTable", [=](Client& c) { return code(c.create_table({.table = "More"})); }},
      {"DescribeTable", [=](Client& c) { return code(c.describe_table({.table = "Things"})); }},
      {"ListTables", [=](Client& c) { return code(c.list_tables({})); }},
      {"UpdateTable", [=](Client& c) { return code(c.update_table({.table = "Things"})); }},
      {"UpdateTimeToLive",
       [=](Client& c) {
         return code(c.update_time_to_live({.table = "Things", .specification = {}}));
       }},
      {"DescribeTimeToLive",
       [=](Client& c) { return code(c.describe_time_to_live({.table = "Things"})); }},
      {"PutItem",
       [=](Client& c) { return code(c.put_item({.table = "Things", .item = things_key})); }},
      {"GetItem",
       [=](Client& c) { return code(c.get_item({.table = "Things", .key = things_key})); }},
      {"UpdateItem",
       [=](Client& c) { return code(c.update_item({.table = "Things", .key = things_key})); }},
      {"DeleteItem",
       [=](Client& c) { return code(c.delete_item({.table = "Things", .key = things_key})); }},
      {"Query", [=](Client& c) { return code(c.query({.table = "Things"})); }},
      {"Scan", [=](Client& c) { return code(c.scan({.table = "Things"})); }},
      {"SearchVectors",
       [=](Client& c) { return code(c.search_vectors({.table = "Things", .index = "v"})); }},
      {"BatchGetItem",
       [=](Client& c) {
         return code(c.batch_get_item({.items = {{"Things", {.keys = {things_key}}}}}));
       }},
      {"BatchWriteItem",
       [=](Client& c) {
         return code(
             c.batch_write_item({.items = {{"Things", {WriteRequest{.put = things_key}}}}}));
       }},
      {"TransactWriteItems", [=](Client& c) { return code(c.transact_write_items({})); }},
      {"TransactGetItems", [=](Client& c) { return code(c.transact_get_items({})); }},
      {"ExecuteStatement",
       [=](Client& c) { return code(c.execute_statement({.statement = select})); }},
      {"BatchExecuteStatement",
       [=](Client& c) {
         return code(c.batch_execute_statement({.statements = {{.statement = select}}}));
       }},
      {"ExecuteTransaction",
       [=](Client& c) {
         return code(c.execute_transaction({.statements = {{.statement = select}}}));
       }},
      {"ListStreams", [=](Client& c) { return code(c.list_streams({})); }},
      {"DescribeStream", [=](Client& c) { return code(c.describe_stream({})); }},
      {"GetShardIterator", [=](Client& c) { return code(c.get_shard_iterator({})); }},
      {"GetRecords", [=](Client& c) { return code(c.get_records({})); }},
      {"DescribeLimits", [=](Client& c) { return code(c.call("DescribeLimits", "{}")); }},
      {"DeleteTable", [=](Client& c) { return code(c.delete_table({.table = "Things"})); }},
  };
}

TEST(DatabaseTestMode, ConcernsEveryOperationByItsNameInTheApi) {
  Database database = open_with("{}");
  for (const auto& [name, run] : all_operations()) {
    EXPECT_THAT(database.set_test_mode(R"({"rules":[{"fault":"internal_error","operations":[")" +
                                       name + "\"]}]}"),
                IsOk());
    EXPECT_EQ(run(database), Code::kInternalServerError) << name;
    EXPECT_THAT(must(database.test_mode()), HasSubstr("\"injected\":1")) << name;
  }
  EXPECT_THAT(database.set_test_mode("{}"), IsOk());
  EXPECT_THAT(database.describe_table({.table = "Things"}), IsOk()) << "nothing was applied";
}

TEST(DatabaseTestMode, InjectsBeforeAndAfterAnOperation) {
  Database database = open_with(R"({"rules":[
    {"fault":"throttling","operations":["GetItem"],"tables":["Things"]},
    {"fault":"internal_error","applied":true,"operations":["PutItem"]},
    {"fault":"unprocessed","operations":["BatchWriteItem"]}]})");
  const auto throttled = database.get_item({.table = "Things", .key = things_key});
  EXPECT_THAT(throttled, FailsWith(Code::kProvisionedThroughputExceeded, "throughput"));
  ASSERT_TRUE(throttled.error().detail);
  EXPECT_EQ(throttled.error().detail->throttling_reasons.size(), 1U);
  EXPECT_THAT(database.put_item({.table = "Things", .item = things_key}),
              FailsWith(Code::kInternalServerError, ""));
  EXPECT_EQ(must(database.scan({.table = "Things"})).items.size(), 1U) << "it was applied";
  const auto batch =
      must(database.batch_write_item({.items = {{"Things",
                                                 {WriteRequest{.put = Item{{"pk", "b"}}},
                                                  WriteRequest{.put = Item{{"pk", "c"}}}}}}}));
  EXPECT_EQ(batch.unprocessed.at("Things").size(), 1U);
  EXPECT_EQ(must(database.scan({.table = "Things"})).items.size(), 2U);
}

TEST(DatabaseTestMode, ShowsAnEarlierStateAndTablesInCreation) {
  Database database = open_with(R"({"rules":[{"fault":"read_lag","ms":60000}]})");
  EXPECT_THAT(database.put_item({.table = "Things", .item = things_key}), IsOk());
  EXPECT_FALSE(must(database.get_item({.table = "Things", .key = things_key})).item);
  EXPECT_TRUE(
      must(database.get_item({.table = "Things", .key = things_key, .consistent_read = true}))
          .item);
  EXPECT_THAT(database.set_test_mode(R"({"rules":[{"fault":"creating","ms":600000}]})"), IsOk());
  EXPECT_EQ(must(database.describe_table({.table = "Things"})).table.status,
            TableStatus::kCreating);
}

TEST(DatabaseTestMode, ConcernsAsynchronousWrites) {
  Database database = open_with(R"({"rules":[
    {"fault":"throttling","operations":["PutItem"],"last":1},
    {"fault":"internal_error","applied":true,"operations":["PutItem"],"first":2,"last":2},
    {"fault":"delay","ms":1,"operations":["UpdateItem"]}]})");
  const auto put = [&] {
    std::promise<Result<WriteResult>> done;
    database.put_item({.table = "Things", .item = things_key},
                      [&](Result<WriteResult> result) { done.set_value(std::move(result)); });
    return done.get_future().get();
  };
  EXPECT_THAT(put(), FailsWith(Code::kProvisionedThroughputExceeded, ""));
  EXPECT_EQ(must(database.scan({.table = "Things"})).items.size(), 0U);
  EXPECT_THAT(put(), FailsWith(Code::kInternalServerError, ""));
  EXPECT_EQ(must(database.scan({.table = "Things"})).items.size(), 1U);
  EXPECT_THAT(put(), IsOk());
  std::promise<std::thread::id> ran_on;
  database.update_item({.table = "Things", .key = things_key}, [&](const Result<WriteResult>&) {
    ran_on.set_value(std::this_thread::get_id());
  });
  EXPECT_NE(ran_on.get_future().get(), std::this_thread::get_id()) << "it is delayed";
}

TEST(DatabaseTestMode, ConcernsEveryAsynchronousWrite) {
  Database database = open_with(R"({"rules":[{"fault":"throttling"}]})");
  int throttled = 0;
  const auto count = [&](const auto& result) {
    EXPECT_THAT(result, FailsWith(Code::kProvisionedThroughputExceeded, ""));
    ++throttled;
  };
  database.put_item({.table = "Things", .item = things_key}, count);
  database.update_item({.table = "Things", .key = things_key}, count);
  database.delete_item({.table = "Things", .key = things_key}, count);
  database.batch_write_item({.items = {{"Things", {WriteRequest{.put = things_key}}}}}, count);
  EXPECT_EQ(throttled, 4) << "each within its call";
  database.transact_write_items({.items = {{.table = "Things", .item = things_key}}},
                                [&](const auto& result) {
                                  EXPECT_FALSE(result);
                                  ++throttled;
                                });
  EXPECT_EQ(throttled, 5);
  EXPECT_THAT(database.set_test_mode("{}"), IsOk());
  EXPECT_EQ(must(database.scan({.table = "Things"})).items.size(), 0U);
}

TEST(DatabaseTestMode, DelaysResults) {
  Database database = open_with(R"({"rules":[{"fault":"delay","ms":50}]})");
  const auto takes_long = [](const auto& call) {
    const auto begin = std::chrono::steady_clock::now();
    call();
    return std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(50);
  };
  EXPECT_TRUE(takes_long([&] { must(database.scan({.table = "Things"})); }));
  EXPECT_TRUE(takes_long([&] { must(database.call("DescribeLimits", "{}")); }));
}

TEST(DatabaseTestMode, RunsDelayedCallbacksWhenTheDatabaseIsDestroyed) {
  int done = 0;
  {
    Database database = open_with(R"({"rules":[{"fault":"delay","ms":60000}]})");
    database.put_item({.table = "Things", .item = things_key},
                      [&](const Result<WriteResult>& result) {
                        EXPECT_THAT(result, IsOk());
                        ++done;
                      });
    EXPECT_EQ(done, 0);
  }
  EXPECT_EQ(done, 1);
}

TEST(DatabaseTestMode, IsOffByDefaultAndChecksItsRules) {
  Database plain = must(Database::open());
  EXPECT_THAT(plain.set_test_mode("{}"), FailsWith(Code::kInvalidArgument, "without test mode"));
  EXPECT_THAT(plain.test_mode(), FailsWith(Code::kInvalidArgument, "without test mode"));
  const std::string invalid = R"({"rules":[{"fault":"delay","operations":["Put"]}]})";
  const test::TempDir directory;
  EXPECT_THAT(Database::open({.path = directory.path() / "data", .test_mode = invalid}),
              FailsWith(Code::kInvalidArgument, "Put"));
  EXPECT_FALSE(std::filesystem::exists(directory.path() / "data"));
  Database database = open_with("{}");
  EXPECT_THAT(database.set_test_mode(invalid), FailsWith(Code::kInvalidArgument, "Put"));
}

}  // namespace
}  // namespace stator
