// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <thread>

#include "engine/testing/engine_harness.h"

namespace stator {
namespace {

using test::FailsWith;
using test::hash_table;
using test::index_on;
using test::IsOk;
using test::range_table;

class Writes : public test::EngineTest {
 protected:
  Writes() { create(hash_table()); }
};

std::optional<Item> attributes(const Result<WriteResponse>& response) {
  EXPECT_THAT(response, IsOk());
  if (!response || !response->attributes) return std::nullopt;
  return decode_item(ItemView(*response->attributes));
}

TEST_F(Writes, PutReplacesTheWholeItem) {
  ASSERT_THAT(put("Things", {{"pk", "a"}, {"v", 1}, {"w", 2}}), IsOk());
  ASSERT_THAT(put("Things", {{"pk", "a"}, {"v", 3}}), IsOk());
  EXPECT_EQ(get("Things", {{"pk", "a"}}), (Item{{"pk", "a"}, {"v", 3}}));
}

TEST_F(Writes, PutAndDeleteReturnTheOldItemIfRequested) {
  const PutItemRequest request{
      .table = "Things", .item = {{"pk", "a"}, {"v", 2}}, .return_values = ReturnValues::kAllOld};
  EXPECT_EQ(attributes(put(request)), std::nullopt);
  EXPECT_EQ(attributes(put(request)), request.item);
  const DeleteItemRequest removal{
      .table = "Things", .key = {{"pk", "a"}}, .return_values = ReturnValues::kAllOld};
  EXPECT_EQ(attributes(erase(removal)), request.item);
  EXPECT_EQ(attributes(erase(removal)), std::nullopt);
}

TEST_F(Writes, AFailedConditionChangesNothingAndReturnsTheItemIfRequested) {
  const Item old{{"pk", "a"}, {"v", 1}};
  ASSERT_THAT(put("Things", old), IsOk());
  PutItemRequest request{
      .table = "Things", .item = {{"pk", "a"}, {"v", 2}}, .condition = "attribute_not_exists(pk)"};
  auto failed = put(request);
  ASSERT_THAT(failed, FailsWith(Code::kConditionalCheckFailed, "The conditional request failed"));
  EXPECT_EQ(failed.error().detail, nullptr);
  request.on_condition_failure = ReturnValuesOnConditionCheckFailure::kAllOld;
  failed = put(request);
  ASSERT_FALSE(failed);
  ASSERT_NE(failed.error().detail, nullptr);
  EXPECT_EQ(failed.error().detail->item, old);
  EXPECT_EQ(get("Things", {{"pk", "a"}}), old);
}

TEST_F(Writes, AnUpdateOfAnAbsentItemCreatesItUnlessItsConditionFails) {
  UpdateItemRequest request{.table = "Things",
                            .key = {{"pk", "a"}},
                            .update = "SET v = :v",
                            .condition = "attribute_exists(pk)",
                            .values = {{{":v", 1}}}};
  EXPECT_THAT(update(request), FailsWith(Code::kConditionalCheckFailed, ""));
  EXPECT_EQ(get("Things", {{"pk", "a"}}), std::nullopt);
  request.condition.reset();
  ASSERT_THAT(update(request), IsOk());
  EXPECT_EQ(get("Things", {{"pk", "a"}}), (Item{{"pk", "a"}, {"v", 1}}));
}

TEST_F(Writes, AnUpdateWithoutAnExpressionCreatesOnlyTheKey) {
  ASSERT_THAT(update({.table = "Things", .key = {{"pk", "a"}}}), IsOk());
  EXPECT_EQ(get("Things", {{"pk", "a"}}), (Item{{"pk", "a"}}));
}

TEST_F(Writes, UpdateReturnsTheRequestedValues) {
  const Item old{{"pk", "a"}, {"m", Map{{"x", 1}, {"y", 2}}}, {"k", 7}};
  const Item updated{{"pk", "a"}, {"m", Map{{"x", 5}, {"y", 2}}}, {"k", 7}, {"n", 6}};
  UpdateItemRequest request{.table = "Things",
                            .key = {{"pk", "a"}},
                            .update = "SET m.x = :x, n = :n",
                            .values = {{{":x", 5}, {":n", 6}}}};
  const auto returned = [&](ReturnValues wanted) {
    EXPECT_THAT(put("Things", old), IsOk());
    request.return_values = wanted;
    return attributes(update(request));
  };
  EXPECT_EQ(returned(ReturnValues::kNone), std::nullopt);
  EXPECT_EQ(returned(ReturnValues::kAllOld), old);
  EXPECT_EQ(returned(ReturnValues::kAllNew), updated);
  EXPECT_EQ(returned(ReturnValues::kUpdatedOld), (Item{{"m", Map{{"x", 1}}}}));
  EXPECT_EQ(returned(ReturnValues::kUpdatedNew), (Item{{"m", Map{{"x", 5}}}, {"n", 6}}));
}

TEST_F(Writes, ValuesOfExpressionsAreCheckedLikeAttributes) {
  EXPECT_THAT(update({.table = "Things",
                      .key = {{"pk", "a"}},
                      .update = "SET v = :v",
                      .values = {{{":v", StringSet()}}}}),
              FailsWith(Code::kValidation,
                        "1 validation error detected: One or more parameter values were invalid: "
                        "An string set  may not be empty"));
}

TEST_F(Writes, KeyAttributesAreNotUpdated) {
  EXPECT_THAT(update({.table = "Things",
                      .key = {{"pk", "a"}},
                      .update = "SET pk = :v",
                      .values = {{{":v", "b"}}}}),
              FailsWith(Code::kValidation,
                        "Cannot update attribute pk. This attribute is part of the key"));
}

TEST_F(Writes, KeysAreCheckedAgainstTheSchema) {
  create(range_table("Ranged"));
  const struct {
    Item item;
    const char* message;
  } cases[] = {
      {{{"sk", 1}}, "Missing the key pk in the item"},
      {{{"pk", "a"}}, "Missing the key sk in the item"},
      {{{"pk", 1}, {"sk", 1}}, "Type mismatch for key pk expected: S actual: N"},
      {{{"pk", "a"}, {"sk", "1"}}, "Type mismatch for key sk expected: N actual: S"},
      {{{"pk", ""}, {"sk", 1}}, "cannot contain an empty string value. Key: pk"},
      {{{"pk", std::string(2049, 'x')}, {"sk", 1}}, "Size of hashkey has exceeded"},
  };
  for (const auto& [item, message] : cases) {
    EXPECT_THAT(put("Ranged", item), FailsWith(Code::kValidation, message));
  }
  EXPECT_THAT(put("Ranged", {{"pk", std::string(2048, 'x')}, {"sk", 1}}), IsOk());
  for (const Item& key : {Item{{"pk", "a"}}, Item{{"pk", "a"}, {"sk", "1"}},
                          Item{{"pk", "a"}, {"sk", 1}, {"more", 1}}}) {
    EXPECT_THAT(erase({.table = "Ranged", .key = key}),
                FailsWith(Code::kValidation, "The provided key element does not match the schema"));
  }
}

TEST_F(Writes, SortKeysHaveTheirOwnLimit) {
  CreateTableRequest request = range_table("Ranged");
  request.attributes[1].type = ScalarType::kB;
  create(request);
  EXPECT_THAT(put("Ranged", {{"pk", "a"}, {"sk", Binary{std::string(1025, 'x')}}}),
              FailsWith(Code::kValidation, "Aggregated size of all range keys"));
  EXPECT_THAT(put("Ranged", {{"pk", "a"}, {"sk", Binary{std::string(1024, 'x')}}}), IsOk());
  EXPECT_THAT(put("Ranged", {{"pk", "a"}, {"sk", Binary{}}}),
              FailsWith(Code::kValidation, "cannot contain an empty binary value. Key: sk"));
}

TEST_F(Writes, ItemsHaveAtMost400KilobytesNamesIncluded) {
  const std::size_t rest = 400 * 1024 - 3 - 1;  // "pk", "a", and the name "v"
  EXPECT_THAT(put("Things", {{"pk", "a"}, {"v", std::string(rest, 'x')}}), IsOk());
  EXPECT_THAT(put("Things", {{"pk", "a"}, {"v", std::string(rest + 1, 'x')}}),
              FailsWith(Code::kValidation, "Item size has exceeded the maximum allowed size"));
  EXPECT_THAT(
      update({.table = "Things",
              .key = {{"pk", "a"}},
              .update = "SET w = :w",
              .values = {{{":w", "x"}}}}),
      FailsWith(Code::kValidation, "Item size to update has exceeded the maximum allowed size"));
}

TEST_F(Writes, AnUpdateDoesNotNestDeeperThanAPut) {
  AttributeValue nested = List{};
  for (int level = 1; level < 30; ++level) nested = List{nested};
  ASSERT_THAT(put("Things", {{"pk", "a"}, {"v", nested}}), IsOk());
  const auto wrap = [&](const char* expression) {
    return update({.table = "Things",
                   .key = {{"pk", "a"}},
                   .update = expression,
                   .values = {{{":e", List{}}}}});
  };
  EXPECT_THAT(update({.table = "Things",
                      .key = {{"pk", "a"}},
                      .update = "SET w = :e",
                      .values = {{{":e", Map{}}}}}),
              IsOk());
  EXPECT_THAT(wrap("SET m = list_append(:e, :e)"), IsOk());
  std::string path = "v";
  for (int level = 1; level < 30; ++level) path += "[0]";
  EXPECT_THAT(
      update({.table = "Things", .key = {{"pk", "a"}}, .update = "SET " + path + "[0] = w"}),
      IsOk());
  EXPECT_THAT(update({.table = "Things",
                      .key = {{"pk", "a"}},
                      .update = "SET " + path + "[1] = :e",
                      .values = {{{":e", List{List{}}}}}}),
              FailsWith(Code::kValidation, "nested levels"));
}

TEST_F(Writes, OneOfManyFirstPutsWins) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 50;
  for (int round = 0; round < kRounds; ++round) {
    std::atomic<int> winners{0};
    std::atomic<int> losers{0};
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        const auto result = put({.table = "Things",
                                 .item = {{"pk", "k" + std::to_string(round)}, {"who", thread}},
                                 .condition = "attribute_not_exists(pk)"});
        if (result) {
          ++winners;
        } else if (result.error().code == Code::kConditionalCheckFailed) {
          ++losers;
        }
      });
    }
    threads.clear();
    EXPECT_EQ(winners, 1);
    EXPECT_EQ(losers, kThreads - 1);
  }
}

TEST_F(Writes, ConcurrentCountersLoseNothing) {
  constexpr int kThreads = 8;
  constexpr int kAdds = 100;
  std::vector<std::jthread> threads;
  threads.reserve(kThreads);
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < kAdds; ++i) {
        EXPECT_THAT(update({.table = "Things",
                            .key = {{"pk", "counter"}},
                            .update = "ADD n :one",
                            .values = {{{":one", 1}}}}),
                    IsOk());
      }
    });
  }
  threads.clear();
  EXPECT_EQ(get("Things", {{"pk", "counter"}}), (Item{{"pk", "counter"}, {"n", kThreads * kAdds}}));
}

TEST_F(Writes, DestructionWaitsForThoseUnderWay) {
  open_directory();
  create(hash_table());
  std::atomic<int> answered{0};
  constexpr int kWrites = 50;
  std::vector<PutItemRequest> requests;  // must outlive the calls
  requests.reserve(kWrites);
  for (int i = 0; i < kWrites; ++i) {
    requests.push_back({.table = "Things", .item = {{"pk", std::to_string(i)}}});
  }
  for (const PutItemRequest& request : requests) {
    engine_->put_item(request, [&](const Result<WriteResponse>& result) {
      EXPECT_THAT(result, IsOk());
      ++answered;
    });
  }
  engine_.reset();
  EXPECT_EQ(answered, kWrites);
  open_directory();
  EXPECT_EQ(all_pages(ScanRequest{.table = "Things"}).size(), static_cast<std::size_t>(kWrites));
}

TEST_F(Writes, MetricsAreReturnedWithLocalIndexesOnly) {
  CreateTableRequest request = range_table("Local");
  request.attributes.push_back({"v", ScalarType::kN});
  request.local_indexes = {{index_on("ByV", {{"pk", KeyType::kHash}, {"v", KeyType::kRange}})}};
  create(request);
  const auto with = put({.table = "Local",
                         .item = {{"pk", "a"}, {"sk", 1}},
                         .return_metrics = ReturnItemCollectionMetrics::kSize});
  ASSERT_THAT(with, IsOk());
  ASSERT_TRUE(with->metrics);
  EXPECT_EQ(with->metrics->key, (Item{{"pk", "a"}}));
  const auto without = put({.table = "Things",
                            .item = {{"pk", "a"}},
                            .return_metrics = ReturnItemCollectionMetrics::kSize});
  ASSERT_THAT(without, IsOk());
  EXPECT_FALSE(without->metrics);
}

}  // namespace
}  // namespace stator
