// SPDX-License-Identifier: Apache-2.0
// The faults that requests get, without a server.
#include "testmode/test_mode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "engine/testing/engine_harness.h"
#include "support/from_environment.h"

namespace stator::testmode {
namespace {

using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TestModeTest : public test::EngineTest {
 protected:
  ~TestModeTest() override { mode_.reset(); }

  void start(const Spec& spec) {
    mode_.reset();
    auto mode = TestMode::start(*engine_, timer_, spec);
    ASSERT_THAT(mode, IsOk());
    mode_ = std::move(*mode);
  }
  template <class Request>
  std::unique_ptr<Injection> meet(std::string_view operation, Request request) {
    return mode_->on_request(operation, request);
  }
  std::unique_ptr<Injection> meet_put(std::string table = "Things") {
    return meet("PutItem", PutItemRequest{.table = std::move(table)});
  }
  std::unique_ptr<Injection> meet_statement(std::string statement) {
    return meet("ExecuteStatement", ExecuteStatementRequest{.statement = std::move(statement)});
  }
  // The numbers of the first 12 PutItems that are refused.
  std::vector<int> refused_of_twelve() {
    std::vector<int> refused;
    for (int i = 1; i <= 12; ++i) {
      if (meet_put()->refusal) refused.push_back(i);
    }
    return refused;
  }

  Timer timer_;
  std::unique_ptr<TestMode> mode_;
};

// The faults of many different requests, one line each.
std::vector<std::string> faults_of(TestMode& mode) {
  std::mt19937 requests(5);  // the same ones each time
  std::vector<std::string> faults;
  for (int i = 0; i < 400; ++i) {
    std::unique_ptr<Injection> met;
    const std::string table = requests() % 2 == 0 ? "Things" : "Others";
    switch (requests() % 4) {
      case 0: {
        PutItemRequest put{.table = table};
        met = mode.on_request("PutItem", put);
        break;
      }
      case 1: {
        GetItemRequest get{.table = table};
        met = mode.on_request("GetItem", get);
        break;
      }
      case 2: {
        BatchWriteItemRequest batch;
        for (int j = 0; j < 5; ++j) batch.items[table].push_back({.delete_key = Item{{"pk", j}}});
        met = mode.on_request("BatchWriteItem", batch);
        break;
      }
      default: {
        TransactWriteItemsRequest write;
        write.items.resize(3, {.table = table});
        met = mode.on_request("TransactWriteItems", write);
      }
    }
    std::string line = std::to_string(met->delay.count());
    if (met->refusal) {
      line.append(code_name(met->refusal->code));
      if (met->refusal->detail) {
        for (const auto& reason : met->refusal->detail->reasons) line.append(reason.code);
      }
    }
    if (met->error_after) line.append("after");
    for (const auto& [name, writes] : met->withheld_writes) {
      for (const WriteRequest& write : writes) line.append(to_debug_string(*write.delete_key));
    }
    faults.push_back(std::move(line));
  }
  return faults;
}

TEST_F(TestModeTest, HasTheSameFaultsForTheSameSeed) {
  const auto seed =
      static_cast<int64_t>(test::number_from_environment("STATOR_SEED", std::random_device{}()));
  SCOPED_TRACE("STATOR_SEED=" + std::to_string(seed));
  const Spec spec{
      .seed = seed,
      .rules = {
          {.fault = Fault::kThrottling, .operations = {"GetItem"}, .probability = 0.3},
          {.fault = Fault::kInternalError, .tables = {"Others"}, .probability = 0.2},
          {.fault = Fault::kInternalError, .probability = 0.2, .applied = true},
          {.fault = Fault::kTransactionConflict,
           .operations = {"TransactWriteItems"},
           .probability = 0.5},
          {.fault = Fault::kUnprocessed, .operations = {"BatchWriteItem"}, .probability = 0.5},
          {.fault = Fault::kDelay, .probability = 0.5, .ms = 1, .ms_max = 50}}};
  start(spec);
  const auto faults = faults_of(*mode_);
  const std::string counts = mode_->to_json();
  start(spec);
  EXPECT_EQ(faults_of(*mode_), faults);
  EXPECT_EQ(mode_->to_json(), counts);
  ASSERT_THAT(mode_->replace({.rules = spec.rules}), IsOk());
  EXPECT_EQ(faults_of(*mode_), faults) << "the seed stays if none is given";
  Spec other = spec;
  other.seed = seed ^ 1;
  start(other);
  EXPECT_NE(faults_of(*mode_), faults);
}

TEST_F(TestModeTest, FollowsScriptsExactly) {
  start({.rules = {{.fault = Fault::kInternalError,
                    .operations = {"PutItem"},
                    .tables = {"Things"},
                    .first = 3,
                    .last = 5}}});
  static_cast<void>(meet_put("Others"));
  static_cast<void>(meet("DeleteItem", DeleteItemRequest{.table = "Things"}));
  EXPECT_THAT(refused_of_twelve(), ElementsAre(3, 4, 5));
  EXPECT_THAT(mode_->to_json(), HasSubstr(R"("injected":3)"));
  EXPECT_THAT(mode_->to_json(), HasSubstr(R"("matched":12)"));

  ASSERT_THAT(mode_->replace({.rules = {{.fault = Fault::kInternalError, .last = 2}}}), IsOk());
  EXPECT_THAT(refused_of_twelve(), ElementsAre(1, 2));
  ASSERT_THAT(mode_->replace({.rules = {{.fault = Fault::kInternalError, .first = 11}}}), IsOk());
  EXPECT_THAT(refused_of_twelve(), ElementsAre(11, 12));
  ASSERT_THAT(mode_->replace({.rules = {{.fault = Fault::kInternalError, .probability = 0}}}),
              IsOk());
  EXPECT_THAT(refused_of_twelve(), ElementsAre());
}

TEST_F(TestModeTest, InjectsFaultsWithTheirProbability) {
  start({.seed = 3, .rules = {{.fault = Fault::kInternalError, .probability = 0.25}}});
  int refused = 0;
  for (int i = 0; i < 4000; ++i) refused += meet_put()->refusal ? 1 : 0;
  EXPECT_GT(refused, 850);
  EXPECT_LT(refused, 1150);
}

TEST_F(TestModeTest, TheFirstRuleWithAFaultDecidesAndDelaysAdd) {
  start({.rules = {{.fault = Fault::kDelay, .ms = 5, .ms_max = 5},
                   {.fault = Fault::kThrottling, .first = 2},
                   {.fault = Fault::kInternalError},
                   {.fault = Fault::kDelay, .ms = 7, .ms_max = 7}}});
  const auto first = meet_put();
  EXPECT_EQ(first->refusal->code, Code::kInternalServerError);
  EXPECT_EQ(first->delay.count(), 12);
  EXPECT_EQ(meet_put()->refusal->code, Code::kProvisionedThroughputExceeded);
}

TEST_F(TestModeTest, FindsTheTablesOfRequests) {
  start({.rules = {{.fault = Fault::kInternalError, .tables = {"Things"}}}});
  EXPECT_TRUE(meet_put("arn:aws:dynamodb:us-east-1:000000782867:table/Things")->refusal);
  EXPECT_FALSE(meet_put("arn:aws:dynamodb:us-east-1:000000782867:table/Others")->refusal);
  EXPECT_TRUE(meet_statement("SELECT * FROM \"Things\" WHERE pk = 'a'")->refusal);
  EXPECT_FALSE(meet_statement("SELECT * FROM \"Others\" WHERE pk = 'a'")->refusal);
  EXPECT_FALSE(meet_statement("nonsense Things")->refusal);
  EXPECT_TRUE(meet("DescribeContinuousBackups", Item{{"TableName", "Things"}})->refusal);
  EXPECT_FALSE(meet("DescribeContinuousBackups", Item{{"TableName", 5}})->refusal);
  EXPECT_FALSE(meet("ListTables", ListTablesRequest{})->refusal);
  EXPECT_TRUE(meet("BatchGetItem", BatchGetItemRequest{.items = {{"Others", {}}, {"Things", {}}}})
                  ->refusal);
  EXPECT_TRUE(meet("TransactGetItems",
                   TransactGetItemsRequest{.items = {{.table = "Others"}, {.table = "Things"}}})
                  ->refusal);
}

TEST_F(TestModeTest, NamesTheReasonOfThrottling) {
  start({.rules = {{.fault = Fault::kThrottling, .tables = {"Things"}}}});
  const auto reason = [](const std::unique_ptr<Injection>& met) {
    return met->refusal->detail->throttling_reasons.at(0);
  };
  const std::string arn = "arn:aws:dynamodb:us-east-1:000000782867:table/Things";
  EXPECT_EQ(reason(meet_put()), (ThrottlingReason{"TableWriteProvisionedThroughputExceeded", arn}));
  EXPECT_EQ(reason(meet("Query", QueryRequest{.table = "Things", .index = "by_name"})),
            (ThrottlingReason{"IndexReadProvisionedThroughputExceeded", arn + "/index/by_name"}));
  EXPECT_EQ(reason(meet_statement("SELECT * FROM Things")).reason,
            "TableReadProvisionedThroughputExceeded");
  EXPECT_EQ(reason(meet_statement("DELETE FROM Things WHERE pk = 'a'")).reason,
            "TableWriteProvisionedThroughputExceeded");
  EXPECT_EQ(
      reason(meet("BatchGetItem", BatchGetItemRequest{.items = {{"Others", {}}, {"Things", {}}}}))
          .resource,
      arn);
}

TEST_F(TestModeTest, AnyItemOfATransactionCanHaveTheConflict) {
  start({.seed = 1, .rules = {{.fault = Fault::kTransactionConflict}}});
  TransactWriteItemsRequest request;
  request.items.resize(3, {.table = "Things"});
  std::array<int, 3> conflicts{};
  for (int i = 0; i < 60; ++i) {
    const auto met = meet("TransactWriteItems", request);
    EXPECT_EQ(met->refusal->code, Code::kTransactionCanceled);
    const auto& reasons = met->refusal->detail->reasons;
    ASSERT_EQ(reasons.size(), conflicts.size());
    EXPECT_EQ(std::ranges::count(reasons, "TransactionConflict", &CancellationReason::code), 1);
    EXPECT_EQ(std::ranges::count(reasons, "None", &CancellationReason::code), 2);
    for (std::size_t j = 0; j < reasons.size(); ++j) {
      if (reasons[j].code == "TransactionConflict") ++conflicts[j];
    }
  }
  EXPECT_THAT(conflicts, ::testing::Each(::testing::Gt(5)));
}

TEST_F(TestModeTest, WithholdsAPartOfABatchButNotAll) {
  const uint64_t seed = test::number_from_environment("STATOR_SEED", std::random_device{}());
  SCOPED_TRACE("STATOR_SEED=" + std::to_string(seed));
  start(
      {.seed = static_cast<int64_t>(seed % 1'000'000), .rules = {{.fault = Fault::kUnprocessed}}});
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200; ++round) {
    BatchGetItemRequest gets;
    BatchWriteItemRequest writes;
    std::vector<std::string> all;
    const auto parts = 2 + random() % 20;
    for (uint64_t i = 0; i < parts; ++i) {
      const std::string table(1, static_cast<char>('a' + random() % 3));
      const Item key{{"pk", static_cast<int64_t>(i)}};
      gets.items[table].keys.push_back(key);
      gets.items[table].projection = "pk";
      writes.items[table].push_back({.delete_key = key});
      all.push_back(table + to_debug_string(key));
    }
    std::ranges::sort(all);
    const auto keys_of = [&](const auto& items, std::vector<std::string>& keys) {
      const std::size_t before = keys.size();
      for (const auto& [table, part] : items) {
        if constexpr (requires { part.keys; }) {
          EXPECT_FALSE(part.keys.empty());
          EXPECT_EQ(part.projection, "pk");
          for (const Item& key : part.keys) keys.push_back(table + to_debug_string(key));
        } else {
          EXPECT_FALSE(part.empty());
          for (const auto& write : part) keys.push_back(table + to_debug_string(*write.delete_key));
        }
      }
      EXPECT_GT(keys.size(), before);
    };
    const auto met_get = mode_->on_request("BatchGetItem", gets);
    std::vector<std::string> got;
    keys_of(gets.items, got);
    keys_of(met_get->withheld_keys, got);
    std::ranges::sort(got);
    EXPECT_EQ(got, all);
    const auto met_write = mode_->on_request("BatchWriteItem", writes);
    std::vector<std::string> written;
    keys_of(writes.items, written);
    keys_of(met_write->withheld_writes, written);
    std::ranges::sort(written);
    EXPECT_EQ(written, all);
  }
  BatchWriteItemRequest single{.items = {{"a", {{.delete_key = Item{{"pk", "x"}}}}}}};
  EXPECT_EQ(mode_->on_request("BatchWriteItem", single)->refusal->code,
            Code::kProvisionedThroughputExceeded);
}

TEST_F(TestModeTest, ATableStaysCreatingForItsTime) {
  create(test::hash_table("Older"));
  clock_.advance(std::chrono::milliseconds(100));
  create(test::hash_table());
  start({.rules = {{.fault = Fault::kCreating, .ms = 100}}});
  const auto expect_creating = [&](bool creating) {
    EXPECT_EQ(meet("DescribeTable", DescribeTableRequest{.table = "Things"})->is_creating,
              creating);
    EXPECT_EQ(meet_put()->refusal.has_value(), creating);
    EXPECT_EQ(meet("DeleteTable", DeleteTableRequest{.table = "Things"})->refusal.has_value(),
              creating);
    EXPECT_EQ(meet("TransactGetItems",
                   TransactGetItemsRequest{.items = {{.table = "Older"}, {.table = "Things"}}})
                  ->refusal.has_value(),
              creating);
  };
  expect_creating(true);
  EXPECT_EQ(meet_put()->refusal->code, Code::kResourceNotFound);
  EXPECT_EQ(meet("UpdateTable", UpdateTableRequest{.table = "Things"})->refusal->code,
            Code::kResourceInUse);
  EXPECT_FALSE(meet_put("Older")->refusal);
  EXPECT_FALSE(meet("ListTables", ListTablesRequest{})->refusal);
  clock_.advance(std::chrono::milliseconds(99));
  expect_creating(true);
  clock_.advance(std::chrono::milliseconds(1));
  expect_creating(false);
}

TEST_F(TestModeTest, AnErrorAfterwardsReplacesOnlySuccess) {
  start({.rules = {{.fault = Fault::kInternalError, .applied = true}}});
  const auto met = meet_put();
  EXPECT_FALSE(met->refusal);
  Result<WriteResponse> failed = fail(Code::kConditionalCheckFailed, "no");
  met->amend(failed);
  EXPECT_EQ(failed.error().code, Code::kConditionalCheckFailed);
  EXPECT_THAT(mode_->to_json(), HasSubstr(R"("injected":0)"));
  Result<WriteResponse> written = WriteResponse();
  met->amend(written);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, Code::kInternalServerError);
  EXPECT_THAT(mode_->to_json(), HasSubstr(R"("injected":1)"));
}

}  // namespace
}  // namespace stator::testmode
