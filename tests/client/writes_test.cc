// SPDX-License-Identifier: Apache-2.0
// PutItem, UpdateItem, DeleteItem: what they change, return and cost.
#include "client/client_test.h"

namespace stator::test {
namespace {

constexpr auto kAllOld = ReturnValuesOnConditionCheckFailure::kAllOld;

class Writes : public ClientTest {
 protected:
  void SetUp() override {
    create(hash_table("Things"));
    create(indexed_table("Indexed"));
  }

  UpdateItemRequest update_of(std::string update, Values values = {}) {
    UpdateItemRequest request{.table = "Things", .key = {{"pk", "a"}}, .update = std::move(update)};
    if (!values.empty()) request.values = std::move(values);
    return request;
  }
  std::optional<Item> updated(UpdateItemRequest request, ReturnValues wanted) {
    request.return_values = wanted;
    auto result = client_.update_item(request);
    EXPECT_THAT(result, IsOk());
    return result ? result->attributes : std::nullopt;
  }
};
STATOR_IN_EACH_HOME(Writes);

TEST_P(Writes, APutReplacesTheWholeItemAndReturnsTheOldOneIfRequested) {
  PutItemRequest request{.table = "Things", .item = {{"pk", "a"}, {"v", 1}, {"w", 2}}};
  auto result = client_.put_item(request);
  ASSERT_THAT(result, IsOk());
  EXPECT_FALSE(result->attributes);
  EXPECT_FALSE(result->capacity);
  EXPECT_FALSE(result->metrics);
  request.item = {{"pk", "a"}, {"v", 3}};
  request.return_values = ReturnValues::kAllOld;
  result = client_.put_item(request);
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->attributes, (Item{{"pk", "a"}, {"v", 1}, {"w", 2}}));
  EXPECT_EQ(get("Things", {{"pk", "a"}}), request.item);
  request.item = {{"pk", "new"}};
  EXPECT_FALSE(client_.put_item(request)->attributes);
}

TEST_P(Writes, ADeleteReturnsTheOldItemIfRequestedAndAcceptsAnAbsentOne) {
  put("Things", {{"pk", "a"}, {"v", 1}});
  DeleteItemRequest request{
      .table = "Things", .key = {{"pk", "a"}}, .return_values = ReturnValues::kAllOld};
  auto result = client_.delete_item(request);
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->attributes, (Item{{"pk", "a"}, {"v", 1}}));
  EXPECT_EQ(get("Things", {{"pk", "a"}}), std::nullopt);
  result = client_.delete_item(request);
  ASSERT_THAT(result, IsOk());
  EXPECT_FALSE(result->attributes);
}

TEST_P(Writes, AnUpdateReturnsTheRequestedImage) {
  const Item old{{"pk", "a"}, {"v", 1}, {"w", Map{{"x", 1}, {"y", 2}}}};
  const UpdateItemRequest request = update_of("SET v = v + :one, w.x = :one", {{":one", 5}});
  const Item changed{{"pk", "a"}, {"v", 6}, {"w", Map{{"x", 5}, {"y", 2}}}};
  const struct {
    ReturnValues wanted;
    std::optional<Item> expected;
  } cases[] = {
      {ReturnValues::kNone, std::nullopt},
      {ReturnValues::kAllOld, old},
      {ReturnValues::kAllNew, changed},
      {ReturnValues::kUpdatedOld, Item{{"v", 1}, {"w", Map{{"x", 1}}}}},
      {ReturnValues::kUpdatedNew, Item{{"v", 6}, {"w", Map{{"x", 5}}}}},
  };
  for (const auto& [wanted, expected] : cases) {
    put("Things", old);
    EXPECT_EQ(updated(request, wanted), expected) << static_cast<int>(wanted);
    EXPECT_EQ(get("Things", {{"pk", "a"}}), changed);
  }
}

TEST_P(Writes, AnUpdateCreatesAnItemThatIsAbsent) {
  EXPECT_EQ(updated(update_of("ADD n :one", {{":one", 1}}), ReturnValues::kAllOld), std::nullopt);
  EXPECT_EQ(get("Things", {{"pk", "a"}}), (Item{{"pk", "a"}, {"n", 1}}));
  UpdateItemRequest bare{.table = "Things", .key = {{"pk", "b"}}};
  EXPECT_THAT(client_.update_item(bare), IsOk());
  EXPECT_EQ(get("Things", {{"pk", "b"}}), (Item{{"pk", "b"}}));
}

TEST_P(Writes, AnUpdateSetsRemovesAddsAndDeletesInOneExpression) {
  put("Things", {{"pk", "a"},
                 {"n", 1},
                 {"gone", true},
                 {"tags", StringSet{"x", "y"}},
                 {"list", List{1, 2, 3}}});
  UpdateItemRequest request = update_of(
      "SET #l = list_append(#l, :more), fresh = if_not_exists(fresh, :five) "
      "REMOVE gone ADD n :five DELETE tags :x",
      {{":more", List{4}}, {":five", 5}, {":x", StringSet{"x"}}});
  request.names = {{{"#l", "list"}}};
  EXPECT_EQ(updated(request, ReturnValues::kAllNew), (Item{{"pk", "a"},
                                                           {"n", 6},
                                                           {"fresh", 5},
                                                           {"tags", StringSet{"y"}},
                                                           {"list", List{1, 2, 3, 4}}}));
}

TEST_P(Writes, AFailedConditionChangesNothingAndReturnsTheItemOnlyIfRequested) {
  const Item old{{"pk", "a"}, {"v", 1}, {"bytes", Binary{"\xff"}}};
  put("Things", old);
  PutItemRequest put_request{.table = "Things",
                             .item = {{"pk", "a"}},
                             .condition = "#v > :v",
                             .names = {{{"#v", "v"}}},
                             .values = {{{":v", 1}}}};
  UpdateItemRequest update_request = update_of("SET v = :v", {{":v", 2}});
  update_request.condition = "v = :v";
  DeleteItemRequest delete_request{
      .table = "Things", .key = {{"pk", "a"}}, .condition = "attribute_not_exists(pk)"};
  const auto expect_failure = [&](const Result<WriteResult>& result, bool shown) {
    ASSERT_THAT(result, FailsWith(Code::kConditionalCheckFailed, "The conditional request failed"));
    EXPECT_EQ(result.error().detail != nullptr, shown);
    if (shown) {
      EXPECT_EQ(result.error().detail->item, old);
    }
    EXPECT_EQ(get("Things", {{"pk", "a"}}), old);
  };
  expect_failure(client_.put_item(put_request), false);
  expect_failure(client_.update_item(update_request), false);
  expect_failure(client_.delete_item(delete_request), false);
  put_request.on_condition_failure = kAllOld;
  update_request.on_condition_failure = kAllOld;
  delete_request.on_condition_failure = kAllOld;
  expect_failure(client_.put_item(put_request), true);
  expect_failure(client_.update_item(update_request), true);
  expect_failure(client_.delete_item(delete_request), true);
}

TEST_P(Writes, AFailedConditionOnAnAbsentItemShowsNone) {
  const auto result = client_.put_item({.table = "Things",
                                        .item = {{"pk", "a"}},
                                        .condition = "attribute_exists(pk)",
                                        .on_condition_failure = kAllOld});
  ASSERT_THAT(result, FailsWith(Code::kConditionalCheckFailed, ""));
  EXPECT_EQ(result.error().detail, nullptr);
}

TEST_P(Writes, TrueConditionsAllowTheWrite) {
  put("Things", {{"pk", "a"}, {"v", "text"}, {"l", List{1, 2}}});
  for (const char* condition :
       {"attribute_exists(v) AND NOT attribute_exists(w)", "attribute_type(v, :s)",
        "begins_with(v, :te)", "contains(v, :ex) OR size(v) > :four", "size(l) = :two",
        "v BETWEEN :te AND :text", "v IN (:ex, :text)", "l[1] = :two", "v <> :te"}) {
    Values values;
    const Values all{{":s", "S"},       {":te", "te"}, {":ex", "ex"},
                     {":text", "text"}, {":two", 2},   {":four", 4}};
    for (const auto& [name, value] : all) {
      // Unused placeholders are rejected, so they are omitted.
      const std::string text(condition);
      const std::size_t at = text.find(name);
      if (at != text.npos && (at + name.size() == text.size() ||
                              std::string(" ,)").find(text[at + name.size()]) != text.npos)) {
        values.emplace(name, value);
      }
    }
    UpdateItemRequest request = update_of("REMOVE nothing", values);
    request.condition = condition;
    EXPECT_THAT(client_.update_item(request), IsOk()) << condition;
  }
}

TEST_P(Writes, CostAUnitForEachKilobyteOfTheLargerImage) {
  PutItemRequest request{.table = "Things",
                         .item = {{"pk", "a"}, {"v", std::string(2048, 'x')}},
                         .return_capacity = ReturnConsumedCapacity::kTotal};
  auto result = client_.put_item(request);
  ASSERT_THAT(result, IsOk());
  ASSERT_TRUE(result->capacity);
  EXPECT_EQ(*result->capacity, (ConsumedCapacity{.table = "Things", .total = {.units = 3}}));
  request.item = {{"pk", "a"}};
  EXPECT_EQ(client_.put_item(request)->capacity->total.units, 3);
  UpdateItemRequest update = update_of("SET v = :v", {{":v", 1}});
  update.return_capacity = ReturnConsumedCapacity::kTotal;
  EXPECT_EQ(client_.update_item(update)->capacity->total.units, 1);
  EXPECT_EQ(client_
                .delete_item({.table = "Things",
                              .key = {{"pk", "nothing"}},
                              .return_capacity = ReturnConsumedCapacity::kTotal})
                ->capacity->total.units,
            1);
}

TEST_P(Writes, CostAUnitForEachIndexEntryThatChanges) {
  PutItemRequest request{.table = "Indexed",
                         .item = {{"pk", "a"}, {"sk", 1}, {"rank", 1}, {"place", "x"}},
                         .return_capacity = ReturnConsumedCapacity::kIndexes};
  const auto inserted = client_.put_item(request);
  ASSERT_THAT(inserted, IsOk());
  EXPECT_EQ(*inserted->capacity,
            (ConsumedCapacity{.table = "Indexed",
                              .total = {.units = 3},
                              .table_part = Capacity{.units = 1},
                              .local_indexes = {{"LocalByRank", {.units = 1}}},
                              .global_indexes = {{"GlobalByPlace", {.units = 1}}}}));
  request.item.insert_or_assign("place", "y");  // one entry is deleted, and another one is created
  const auto moved = client_.put_item(request);
  ASSERT_THAT(moved, IsOk());
  EXPECT_EQ(moved->capacity->total.units, 3);
  EXPECT_EQ(moved->capacity->global_indexes.at("GlobalByPlace").units, 2);
  EXPECT_TRUE(moved->capacity->local_indexes.empty());
}

TEST_P(Writes, SizeTheCollectionOfTablesWithLocalIndexesOnly) {
  PutItemRequest request{.table = "Indexed",
                         .item = {{"pk", "a"}, {"sk", 1}},
                         .return_metrics = ReturnItemCollectionMetrics::kSize};
  const auto indexed = client_.put_item(request);
  ASSERT_THAT(indexed, IsOk());
  ASSERT_TRUE(indexed->metrics);
  EXPECT_EQ(indexed->metrics->key, (Item{{"pk", "a"}}));
  EXPECT_LE(indexed->metrics->size_lower_gb, indexed->metrics->size_upper_gb);
  request.table = "Things";
  request.item = {{"pk", "a"}};
  const auto plain = client_.put_item(request);
  ASSERT_THAT(plain, IsOk());
  EXPECT_FALSE(plain->metrics);
}

}  // namespace
}  // namespace stator::test
