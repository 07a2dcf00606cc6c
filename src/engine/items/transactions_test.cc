// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <thread>

#include "engine/jobs/job_engine.h"
#include "engine/rows/time_queue.h"
#include "engine/testing/engine_harness.h"
#include "engine/testing/faulty_store.h"

namespace stator {
namespace {

using test::comes_true;
using test::FailsWith;
using test::hash_table;
using test::IsOk;
using ::testing::ElementsAre;

class Transactions : public test::EngineTest {
 protected:
  Transactions() { create(hash_table()); }
  ~Transactions() override { engine_.reset(); }

  static TransactWriteItem action(TransactAction kind, Item item,
                                  std::optional<std::string> condition = {}) {
    return {.action = kind,
            .table = "Things",
            .item = std::move(item),
            .condition = std::move(condition)};
  }
  static std::vector<std::string> reason_codes(const Error& error) {
    std::vector<std::string> codes;
    if (error.detail == nullptr) return codes;
    for (const CancellationReason& reason : error.detail->reasons) codes.push_back(reason.code);
    return codes;
  }
  std::size_t rows_in(SpaceId space) {
    std::size_t rows = 0;
    EXPECT_THAT(read_range(engine_->store(), {.range = space_range(space)},
                           [&](std::string_view, std::string_view) { return ++rows, true; }),
                IsOk());
    return rows;
  }

  test::Faults faults_;
};

constexpr auto kPut = TransactAction::kPut;
constexpr auto kDelete = TransactAction::kDelete;
constexpr auto kUpdate = TransactAction::kUpdate;
constexpr auto kCheck = TransactAction::kConditionCheck;

TEST_F(Transactions, OneOfManyFirstPutsWins) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 20;
  for (int round = 0; round < kRounds; ++round) {
    const std::string key = "k" + std::to_string(round);
    std::atomic<int> winners{0};
    std::atomic<int> losers{0};
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        const auto result = transact(
            {.items = {action(kPut, {{"pk", key}, {"who", thread}}, "attribute_not_exists(pk)")}});
        if (result) {
          ++winners;
        } else if (result.error().code == Code::kTransactionCanceled) {
          ++losers;
        }
      });
    }
    threads.clear();
    EXPECT_EQ(winners, 1);
    EXPECT_EQ(losers, kThreads - 1);
  }
}

TEST_F(Transactions, ApplyTogether) {
  ASSERT_THAT(put("Things", {{"pk", "gone"}}), IsOk());
  TransactWriteItem increment = action(kUpdate, {{"pk", "n"}});
  increment.update = "ADD n :one";
  increment.values = {{{":one", 1}}};
  const auto result = transact(
      {.items = {action(kPut, {{"pk", "new"}, {"v", 1}}), action(kDelete, {{"pk", "gone"}}),
                 increment, action(kCheck, {{"pk", "x"}}, "attribute_not_exists(pk)")},
       .return_capacity = ReturnConsumedCapacity::kIndexes});
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(get("Things", {{"pk", "new"}}), (Item{{"pk", "new"}, {"v", 1}}));
  EXPECT_EQ(get("Things", {{"pk", "gone"}}), std::nullopt);
  EXPECT_EQ(get("Things", {{"pk", "n"}}), (Item{{"pk", "n"}, {"n", 1}}));
  EXPECT_EQ(get("Things", {{"pk", "x"}}), std::nullopt);
  ASSERT_EQ(result->capacity.size(), 1U);
  EXPECT_EQ(result->capacity[0].total.units, 8);
  EXPECT_EQ(result->capacity[0].total.write, 8);
  EXPECT_FALSE(result->capacity[0].total.read);
}

TEST_F(Transactions, ReasonsAreInRequestOrderWithTheItemIfRequested) {
  const Item old{{"pk", "b"}, {"v", 1}};
  ASSERT_THAT(put("Things", old), IsOk());
  TransactWriteItem shown = action(kPut, {{"pk", "b"}}, "attribute_not_exists(pk)");
  shown.on_condition_failure = ReturnValuesOnConditionCheckFailure::kAllOld;
  const auto result = transact({.items = {action(kPut, {{"pk", "a"}}), shown,
                                          action(kDelete, {{"pk", "c"}}, "attribute_exists(pk)")}});
  ASSERT_THAT(result, FailsWith(Code::kTransactionCanceled,
                                "[None, ConditionalCheckFailed, ConditionalCheckFailed]"));
  EXPECT_THAT(reason_codes(result.error()),
              ElementsAre("None", "ConditionalCheckFailed", "ConditionalCheckFailed"));
  EXPECT_EQ(result.error().detail->reasons[1].item, old);
  EXPECT_EQ(result.error().detail->reasons[1].message, "The conditional request failed");
  EXPECT_EQ(result.error().detail->reasons[2].item, std::nullopt);
  EXPECT_EQ(get("Things", {{"pk", "a"}}), std::nullopt);
}

TEST_F(Transactions, WrongTypesAreReasonsAndEmptyKeysAreNot) {
  ASSERT_THAT(put("Things", {{"pk", "text"}, {"v", "text"}}), IsOk());
  auto result = transact({.items = {action(kPut, {{"pk", "a"}}), action(kPut, {{"pk", 5}})}});
  ASSERT_THAT(result, FailsWith(Code::kTransactionCanceled, "[None, ValidationError]"));
  EXPECT_THAT(result.error().detail->reasons[1].message,
              ::testing::HasSubstr("Type mismatch for key pk expected: S actual: N"));
  TransactWriteItem misfit = action(kUpdate, {{"pk", "text"}});
  misfit.update = "ADD v :one";
  misfit.values = {{{":one", 1}}};
  result = transact({.items = {action(kPut, {{"pk", "a"}}), misfit}});
  EXPECT_THAT(result, FailsWith(Code::kTransactionCanceled, "[None, ValidationError]"));
  EXPECT_THAT(transact({.items = {action(kPut, {{"pk", ""}})}}),
              FailsWith(Code::kValidation, "empty string value. Key: pk"));
  EXPECT_EQ(get("Things", {{"pk", "a"}}), std::nullopt);
}

TEST_F(Transactions, HaveOneActionAnItemAndFourMegabytes) {
  EXPECT_THAT(transact({.items = {action(kPut, {{"pk", "a"}}), action(kDelete, {{"pk", "a"}})}}),
              FailsWith(Code::kValidation,
                        "Transaction request cannot include multiple operations on one item"));
  TransactWriteItemsRequest large;
  for (int i = 0; i < 11; ++i) {
    large.items.push_back(
        action(kPut, {{"pk", std::to_string(i)}, {"v", std::string(400'000, 'x')}}));
  }
  EXPECT_THAT(transact(large), FailsWith(Code::kValidation, "4 MB"));
  large.items.pop_back();
  EXPECT_THAT(transact(large), IsOk());
}

TransactWriteItemsRequest increment_with_token(std::string token, int by = 1) {
  return {.items = {{.action = kUpdate,
                     .table = "Things",
                     .item = {{"pk", "n"}},
                     .update = "ADD n :by",
                     .values = {{{":by", by}}}}},
          .client_request_token = std::move(token),
          .return_capacity = ReturnConsumedCapacity::kTotal};
}

TEST_F(Transactions, ATokenMakesARepetitionHarmlessForTenMinutesAndOverARestart) {
  open_directory();
  create(hash_table());
  const auto n = [&] { return get("Things", {{"pk", "n"}}).value_or(Item()).at("n"); };
  ASSERT_THAT(transact(increment_with_token("t")), IsOk());
  const auto repeated = transact(increment_with_token("t"));
  ASSERT_THAT(repeated, IsOk());
  EXPECT_EQ(repeated->capacity.at(0).total.read, 2);
  EXPECT_EQ(n(), AttributeValue(1));
  open_directory();
  ASSERT_THAT(transact(increment_with_token("t")), IsOk());
  EXPECT_EQ(n(), AttributeValue(1));
  EXPECT_THAT(transact(increment_with_token("t", 2)),
              FailsWith(Code::kIdempotentParameterMismatch, ""));
  clock_.advance(std::chrono::minutes(10));
  ASSERT_THAT(transact(increment_with_token("t", 2)), IsOk());
  EXPECT_EQ(n(), AttributeValue(3));
}

TEST_F(Transactions, ACancelledOneLeavesItsTokenUnused) {
  TransactWriteItemsRequest request = increment_with_token("t");
  request.items[0].condition = "attribute_exists(pk)";
  EXPECT_THAT(transact(request), FailsWith(Code::kTransactionCanceled, "ConditionalCheckFailed"));
  ASSERT_THAT(put("Things", {{"pk", "n"}}), IsOk());
  EXPECT_THAT(transact(request), IsOk());
  EXPECT_EQ(get("Things", {{"pk", "n"}}), (Item{{"pk", "n"}, {"n", 1}}));
}

TEST_F(Transactions, ExpiredTokensAreSweptAndRenewedOnesAreNot) {
  for (int i = 0; i < 10; ++i) {
    ASSERT_THAT(transact(increment_with_token(std::to_string(i))), IsOk());
  }
  EXPECT_EQ(rows_in(kTokenSpace), 10U);
  clock_.advance(std::chrono::minutes(11));
  for (int i = 0; i < 10; ++i) {
    ASSERT_THAT(transact(increment_with_token(i == 0 ? "3" : "new" + std::to_string(i))), IsOk());
  }
  engine_->run_maintenance();
  EXPECT_TRUE(comes_true([&] { return rows_in(kTokenExpirySpace) == 10; }));
  EXPECT_EQ(rows_in(kTokenSpace), 10U);
  EXPECT_THAT(transact(increment_with_token("3", 5)),
              FailsWith(Code::kIdempotentParameterMismatch, ""));
}

TEST_F(Transactions, ASweepOfTokensResumesWhereTheLastOneEnded) {
  open(std::make_unique<test::FaultyStore>(faults_));
  create(hash_table());
  const auto sweep = [&] {
    faults_.take_scans({});
    engine_->run_maintenance();
    EXPECT_TRUE(comes_true([&] { return !engine_->parts().token_sweep.is_running; }));
    EXPECT_EQ(rows_in(kTokenSpace), 0U);
    return faults_.take_scans(space_range(kTokenExpirySpace));
  };
  uint64_t reached = 0;
  for (int round = 0; round < 3; ++round) {
    ASSERT_THAT(transact(increment_with_token("t" + std::to_string(round))), IsOk());
    clock_.advance(std::chrono::minutes(11));
    const auto scans = sweep();
    ASSERT_EQ(scans.size(), kQueuePrefixes) << "one seek in each prefix";
    for (const KeyRange& scan : scans) {
      EXPECT_EQ(queue_time(scan.begin), reached);
      EXPECT_GT(queue_time(scan.end), reached);
    }
    reached = queue_time(scans[0].end);
  }
  clock_.advance(-std::chrono::hours(1));
  ASSERT_THAT(transact(increment_with_token("earlier")), IsOk());
  clock_.advance(std::chrono::minutes(11));
  sweep();
}

TEST_F(Transactions, ApplyOncePerToken) {
  std::vector<std::jthread> threads;
  threads.reserve(8);
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        EXPECT_THAT(transact(increment_with_token("token" + std::to_string(i))), IsOk());
      }
    });
  }
  threads.clear();
  EXPECT_EQ(get("Things", {{"pk", "n"}}), (Item{{"pk", "n"}, {"n", 20}}));
}

TEST_F(Transactions, ReadsSeeTransfersWholeOrNotAtAll) {
  ASSERT_THAT(put("Things", {{"pk", "a"}, {"n", 1000}}), IsOk());
  ASSERT_THAT(put("Things", {{"pk", "b"}, {"n", 0}}), IsOk());
  std::atomic<bool> stop{false};
  std::vector<std::jthread> writers;
  writers.reserve(3);
  for (int thread = 0; thread < 3; ++thread) {
    writers.emplace_back([&, thread] {
      for (int i = 0; i < 200; ++i) {
        TransactWriteItemsRequest transfer;
        const char* order[] = {"a", "b"};
        if (thread == 1) std::swap(order[0], order[1]);
        for (const char* key : order) {
          transfer.items.push_back({.action = kUpdate,
                                    .table = "Things",
                                    .item = {{"pk", key}},
                                    .update = "ADD n :by",
                                    .values = {{{":by", key[0] == 'a' ? -1 : 1}}}});
        }
        EXPECT_THAT(transact(transfer), IsOk());
      }
      stop = true;
    });
  }
  while (!stop) {
    const auto seen = call_and_wait(*engine_, &Engine::transact_get_items,
                                    {.items = {{.table = "Things", .key = {{"pk", "a"}}},
                                               {.table = "Things", .key = {{"pk", "b"}}}}});
    ASSERT_THAT(seen, IsOk());
    int64_t sum = 0;
    for (const auto& item : seen->items) {
      sum += ItemView(*item).find("n")->number().to_int64().value();
    }
    ASSERT_EQ(sum, 1000);
  }
  writers.clear();
  EXPECT_EQ(get("Things", {{"pk", "b"}}), (Item{{"pk", "b"}, {"n", 600}}));
}

TEST_F(Transactions, ReadFourMegabytesAtMost) {
  TransactGetItemsRequest gets;
  ExecuteTransactionRequest selects;
  for (int i = 0; i < 11; ++i) {
    const std::string pk = std::to_string(i);
    ASSERT_THAT(put("Things", {{"pk", pk}, {"v", std::string(400'000, 'x')}}), IsOk());
    gets.items.push_back({.table = "Things", .key = {{"pk", pk}}, .projection = "pk"});
    selects.statements.push_back({.statement = "SELECT pk FROM Things WHERE pk = '" + pk + "'"});
  }
  const auto select = [&] {
    return call_and_wait(*engine_, &Engine::execute_transaction, selects);
  };
  EXPECT_THAT(call_and_wait(*engine_, &Engine::transact_get_items, gets),
              FailsWith(Code::kValidation, "4 MB"));
  EXPECT_THAT(select(), FailsWith(Code::kValidation, "4 MB"));
  gets.items.pop_back();
  selects.statements.pop_back();
  EXPECT_THAT(call_and_wait(*engine_, &Engine::transact_get_items, gets), IsOk());
  EXPECT_THAT(select(), IsOk());
}

TEST_F(Transactions, GetsReturnItemsInOrderWithHolesAndCostDouble) {
  ASSERT_THAT(put("Things", {{"pk", "a"}, {"v", 1}, {"w", 2}}), IsOk());
  TransactGetItemsRequest request{
      .items = {{.table = "Things", .key = {{"pk", "nope"}}},
                {.table = "Things", .key = {{"pk", "a"}}, .projection = "v"}},
      .return_capacity = ReturnConsumedCapacity::kTotal};
  const auto response = call_and_wait(*engine_, &Engine::transact_get_items, request);
  ASSERT_THAT(response, IsOk());
  ASSERT_EQ(response->items.size(), 2U);
  EXPECT_FALSE(response->items[0]);
  EXPECT_EQ(decode_item(ItemView(*response->items[1])), (Item{{"v", 1}}));
  EXPECT_EQ(response->capacity.at(0).total.units, 4);
  EXPECT_EQ(response->capacity.at(0).total.read, 4);
  request.items[0].key = {{"pk", 1}};
  EXPECT_THAT(call_and_wait(*engine_, &Engine::transact_get_items, request),
              FailsWith(Code::kTransactionCanceled, "[ValidationError, None]"));
}

}  // namespace
}  // namespace stator
