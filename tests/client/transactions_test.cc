// SPDX-License-Identifier: Apache-2.0
// TransactWriteItems and TransactGetItems.
#include "client/client_test.h"

namespace stator::test {
namespace {

using ::testing::ElementsAre;

constexpr auto kPut = TransactAction::kPut;
constexpr auto kDelete = TransactAction::kDelete;
constexpr auto kUpdate = TransactAction::kUpdate;
constexpr auto kCheck = TransactAction::kConditionCheck;

class Transactions : public ClientTest {
 protected:
  void SetUp() override {
    create(hash_table("Things"));
    create(indexed_table("Indexed"));
  }

  static TransactWriteItem action(TransactAction kind, Item item,
                                  std::optional<std::string> condition = {}) {
    return {.action = kind,
            .table = "Things",
            .item = std::move(item),
            .condition = std::move(condition)};
  }
  static TransactWriteItem add(Item key, int by) {
    TransactWriteItem added = action(kUpdate, std::move(key));
    added.update = "ADD n :by";
    added.values = {{{":by", by}}};
    return added;
  }
  static std::vector<std::string> reason_codes(const Error& error) {
    std::vector<std::string> codes;
    if (error.detail == nullptr) return codes;
    for (const CancellationReason& reason : error.detail->reasons) codes.push_back(reason.code);
    return codes;
  }
};
STATOR_IN_EACH_HOME(Transactions);

TEST_P(Transactions, PutUpdateDeleteAndCheckTogether) {
  put("Things", {{"pk", "gone"}});
  put("Things", {{"pk", "checked"}, {"v", 1}});
  TransactWriteItem check = action(kCheck, {{"pk", "checked"}}, "#v = :one");
  check.names = {{{"#v", "v"}}};
  check.values = {{{":one", 1}}};
  TransactWriteItem indexed = action(kPut, {{"pk", "a"}, {"sk", 1}, {"place", "x"}, {"rank", 1}});
  indexed.table = "Indexed";
  const auto written = client_.transact_write_items(
      {.items = {action(kPut, {{"pk", "new"}, {"v", 1}}, "attribute_not_exists(pk)"),
                 add({{"pk", "count"}}, 5), action(kDelete, {{"pk", "gone"}}), check, indexed},
       .return_capacity = ReturnConsumedCapacity::kIndexes,
       .return_metrics = ReturnItemCollectionMetrics::kSize});
  ASSERT_THAT(written, IsOk());
  EXPECT_EQ(get("Things", {{"pk", "new"}}), (Item{{"pk", "new"}, {"v", 1}}));
  EXPECT_EQ(get("Things", {{"pk", "count"}}), (Item{{"pk", "count"}, {"n", 5}}));
  EXPECT_EQ(get("Things", {{"pk", "gone"}}), std::nullopt);
  EXPECT_TRUE(get("Indexed", {{"pk", "a"}, {"sk", 1}}));
  ASSERT_EQ(written->capacity.size(), 2U);
  EXPECT_EQ(written->capacity[0].table, "Indexed");
  EXPECT_EQ(written->capacity[0].total, (Capacity{.units = 4, .write = 4}));
  EXPECT_EQ(written->capacity[0].local_indexes.at("LocalByRank"),
            (Capacity{.units = 1, .write = 1}));
  EXPECT_EQ(written->capacity[1].total, (Capacity{.units = 8, .write = 8}));
  EXPECT_EQ(written->metrics.size(), 1U);
  EXPECT_EQ(written->metrics.at("Indexed").at(0).key, (Item{{"pk", "a"}}));
}

TEST_P(Transactions, WithoutConditionsReplaceAndDelete) {
  put("Things", {{"pk", "a"}, {"v", 1}});
  put("Things", {{"pk", "b"}});
  ASSERT_THAT(client_.transact_write_items({.items = {action(kPut, {{"pk", "a"}, {"v", 2}}),
                                                      action(kDelete, {{"pk", "b"}})}}),
              IsOk());
  EXPECT_EQ(get("Things", {{"pk", "a"}}), (Item{{"pk", "a"}, {"v", 2}}));
  EXPECT_EQ(get("Things", {{"pk", "b"}}), std::nullopt);
}

TEST_P(Transactions, AreCancelledWholeWithAReasonForEachActionInOrder) {
  const Item old{{"pk", "b"}, {"v", 1}, {"bytes", Binary{"\xff"}}};
  put("Things", old);
  TransactWriteItem shown = action(kDelete, {{"pk", "b"}}, "attribute_not_exists(pk)");
  shown.on_condition_failure = ReturnValuesOnConditionCheckFailure::kAllOld;
  TransactWriteItem misfit = action(kUpdate, {{"pk", "b2"}});
  misfit.update = "SET v = nowhere";
  const auto result = client_.transact_write_items(
      {.items = {action(kPut, {{"pk", "a"}}), shown,
                 action(kCheck, {{"pk", "c"}}, "attribute_exists(pk)"), misfit}});
  ASSERT_THAT(result,
              FailsWith(Code::kTransactionCanceled,
                        "Transaction cancelled, please refer cancellation reasons for specific "
                        "reasons [None, ConditionalCheckFailed, ConditionalCheckFailed, "
                        "ValidationError]"));
  ASSERT_THAT(
      reason_codes(result.error()),
      ElementsAre("None", "ConditionalCheckFailed", "ConditionalCheckFailed", "ValidationError"));
  const auto& reasons = result.error().detail->reasons;
  EXPECT_EQ(reasons[0].message, "");
  EXPECT_FALSE(reasons[0].item);
  EXPECT_EQ(reasons[1].message, "The conditional request failed");
  EXPECT_EQ(reasons[1].item, old);
  EXPECT_FALSE(reasons[2].item);
  EXPECT_THAT(reasons[3].message, ::testing::HasSubstr("does not exist in the item"));
  EXPECT_EQ(get("Things", {{"pk", "a"}}), std::nullopt);
  EXPECT_EQ(get("Things", {{"pk", "b"}}), old);
}

TEST_P(Transactions, WithATokenApplyOnce) {
  TransactWriteItemsRequest request{.items = {add({{"pk", "n"}}, 1)},
                                    .client_request_token = "token",
                                    .return_capacity = ReturnConsumedCapacity::kTotal};
  const auto first = client_.transact_write_items(request);
  ASSERT_THAT(first, IsOk());
  EXPECT_EQ(first->capacity.at(0).total, (Capacity{.units = 2, .write = 2}));
  const auto repeated = client_.transact_write_items(request);
  ASSERT_THAT(repeated, IsOk());
  EXPECT_EQ(repeated->capacity.at(0).total, (Capacity{.units = 2, .read = 2}));
  EXPECT_EQ(get("Things", {{"pk", "n"}}), (Item{{"pk", "n"}, {"n", 1}}));
  request.items[0] = add({{"pk", "n"}}, 2);
  EXPECT_THAT(client_.transact_write_items(request),
              FailsWith(Code::kIdempotentParameterMismatch, "same client token"));
  request.client_request_token = "another";
  EXPECT_THAT(client_.transact_write_items(request), IsOk());
  request.client_request_token.reset();
  EXPECT_THAT(client_.transact_write_items(request), IsOk());
  EXPECT_THAT(client_.transact_write_items(request), IsOk());
  EXPECT_EQ(get("Things", {{"pk", "n"}}), (Item{{"pk", "n"}, {"n", 7}}));
}

TEST_P(Transactions, ThatWereCancelledLeaveTheirTokenUnused) {
  TransactWriteItemsRequest request{.items = {add({{"pk", "n"}}, 1)},
                                    .client_request_token = "token"};
  request.items[0].condition = "attribute_exists(pk)";
  EXPECT_THAT(client_.transact_write_items(request), FailsWith(Code::kTransactionCanceled, ""));
  put("Things", {{"pk", "n"}});
  EXPECT_THAT(client_.transact_write_items(request), IsOk());
  EXPECT_EQ(get("Things", {{"pk", "n"}}), (Item{{"pk", "n"}, {"n", 1}}));
}

TEST_P(Transactions, HaveUpToAHundredActionsOnePerItemAndFourMegabytes) {
  constexpr int kActionsMax = 100;
  TransactWriteItemsRequest request;
  for (int i = 0; i < kActionsMax; ++i) {
    request.items.push_back(action(kPut, {{"pk", std::to_string(i)}}));
  }
  EXPECT_THAT(client_.transact_write_items(request), IsOk());
  request.items.push_back(action(kPut, {{"pk", "more"}}));
  EXPECT_THAT(client_.transact_write_items(request),
              FailsWith(Code::kValidation, "length less than or equal to 100"));
  EXPECT_EQ(get("Things", {{"pk", "more"}}), std::nullopt);
  EXPECT_THAT(client_.transact_write_items(
                  {.items = {action(kPut, {{"pk", "a"}}), action(kDelete, {{"pk", "a"}})}}),
              FailsWith(Code::kValidation, "cannot include multiple operations on one item"));
  TransactWriteItemsRequest large;
  for (int i = 0; i < 11; ++i) {
    large.items.push_back(
        action(kPut, {{"pk", std::to_string(i)}, {"v", std::string(400'000, 'x')}}));
  }
  EXPECT_THAT(client_.transact_write_items(large), FailsWith(Code::kValidation, "4 MB"));
  EXPECT_THAT(client_.transact_write_items({}), FailsWith(Code::kValidation, "transactItems"));
}

TEST_P(Transactions, NeedTheirTables) {
  TransactWriteItem other = action(kPut, {{"pk", "a"}});
  other.table = "Nope";
  EXPECT_THAT(client_.transact_write_items({.items = {action(kPut, {{"pk", "a"}}), other}}),
              FailsWith(Code::kResourceNotFound, "Requested resource not found"));
  EXPECT_EQ(get("Things", {{"pk", "a"}}), std::nullopt);
}

TEST_P(Transactions, GetInOrderWithGapsForAbsentItems) {
  put("Things", {{"pk", "a"}, {"v", 1}, {"size", 2}});
  put("Indexed", {{"pk", "b"}, {"sk", 1}});
  const auto got =
      client_.transact_get_items({.items = {{.table = "Things", .key = {{"pk", "absent"}}},
                                            {.table = "Indexed", .key = {{"pk", "b"}, {"sk", 1}}},
                                            {.table = "Things",
                                             .key = {{"pk", "a"}},
                                             .projection = "#s",
                                             .names = {{{"#s", "size"}}}}},
                                  .return_capacity = ReturnConsumedCapacity::kTotal});
  ASSERT_THAT(got, IsOk());
  EXPECT_THAT(got->items,
              ElementsAre(std::nullopt, Item{{"pk", "b"}, {"sk", 1}}, Item{{"size", 2}}));
  ASSERT_EQ(got->capacity.size(), 2U);
  EXPECT_EQ(got->capacity[0].table, "Indexed");
  EXPECT_EQ(got->capacity[0].total, (Capacity{.units = 2, .read = 2}));
  EXPECT_EQ(got->capacity[1].total, (Capacity{.units = 4, .read = 4}));
}

TEST_P(Transactions, GetNothingIfOneKeyDoesNotFit) {
  const auto got = client_.transact_get_items({.items = {{.table = "Things", .key = {{"pk", "a"}}},
                                                         {.table = "Things", .key = {{"pk", 1}}}}});
  ASSERT_THAT(got, FailsWith(Code::kTransactionCanceled, "[None, ValidationError]"));
  EXPECT_THAT(reason_codes(got.error()), ElementsAre("None", "ValidationError"));
  TransactGetItemsRequest many;
  for (int i = 0; i <= 100; ++i) {
    many.items.push_back({.table = "Things", .key = {{"pk", std::to_string(i)}}});
  }
  EXPECT_THAT(client_.transact_get_items(many),
              FailsWith(Code::kValidation, "length less than or equal to 100"));
  many.items.pop_back();
  EXPECT_THAT(client_.transact_get_items(many), IsOk());
}

}  // namespace
}  // namespace stator::test
