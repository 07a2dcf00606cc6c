// SPDX-License-Identifier: Apache-2.0
// BatchGetItem and BatchWriteItem.
#include <algorithm>

#include "client/client_test.h"

namespace stator::test {
namespace {

class Batches : public ClientTest {
 protected:
  void SetUp() override {
    create(hash_table("Alpha"));
    create(indexed_table("Beta"));
  }

  static WriteRequest put_of(Item item) { return {.put = std::move(item), .delete_key = {}}; }
  static WriteRequest delete_of(Item key) { return {.put = {}, .delete_key = std::move(key)}; }
  static Item alpha(int i) { return {{"pk", "k" + std::to_string(i)}}; }
};
STATOR_IN_EACH_HOME(Batches);

TEST_P(Batches, WritePutsAndDeletesInSeveralTables) {
  put("Beta", {{"pk", "old"}, {"sk", 1}});
  const auto written = client_.batch_write_item(
      {.items = {{"Alpha", {put_of({{"pk", "1"}, {"v", 1}}), put_of({{"pk", "2"}})}},
                 {"Beta",
                  {delete_of({{"pk", "old"}, {"sk", 1}}),
                   put_of({{"pk", "new"}, {"sk", 1}, {"place", "x"}, {"rank", 1}})}}},
       .return_capacity = ReturnConsumedCapacity::kIndexes,
       .return_metrics = ReturnItemCollectionMetrics::kSize});
  ASSERT_THAT(written, IsOk());
  EXPECT_TRUE(written->unprocessed.empty());
  EXPECT_EQ(get("Alpha", {{"pk", "1"}}), (Item{{"pk", "1"}, {"v", 1}}));
  EXPECT_EQ(get("Beta", {{"pk", "old"}, {"sk", 1}}), std::nullopt);
  EXPECT_TRUE(get("Beta", {{"pk", "new"}, {"sk", 1}}));
  ASSERT_EQ(written->capacity.size(), 2U);
  EXPECT_EQ(written->capacity[0],
            (ConsumedCapacity{
                .table = "Alpha", .total = {.units = 2}, .table_part = Capacity{.units = 2}}));
  EXPECT_EQ(written->capacity[1].table, "Beta");
  EXPECT_EQ(written->capacity[1].total.units, 4);
  EXPECT_EQ(written->capacity[1].global_indexes.at("GlobalByPlace").units, 1);
  EXPECT_FALSE(written->metrics.contains("Alpha"));
  ASSERT_EQ(written->metrics.at("Beta").size(), 2U);
  EXPECT_EQ(written->metrics.at("Beta")[0].key.size(), 1U);
}

TEST_P(Batches, GetExistingItemsFromSeveralTables) {
  put("Alpha", {{"pk", "1"}, {"v", 1}, {"size", 2}});
  put("Beta", {{"pk", "1"}, {"sk", 1}});
  const auto got = client_.batch_get_item(
      {.items = {{"Alpha",
                  {.keys = {{{"pk", "1"}}, {{"pk", "absent"}}},
                   .projection = "#s",
                   .names = {{{"#s", "size"}}}}},
                 {"Beta", {.keys = {{{"pk", "1"}, {"sk", 1}}}, .consistent_read = true}}},
       .return_capacity = ReturnConsumedCapacity::kTotal});
  ASSERT_THAT(got, IsOk());
  EXPECT_EQ(got->items.at("Alpha"), (std::vector<Item>{{{"size", 2}}}));
  EXPECT_EQ(got->items.at("Beta"), (std::vector<Item>{{{"pk", "1"}, {"sk", 1}}}));
  EXPECT_TRUE(got->unprocessed.empty());
  ASSERT_EQ(got->capacity.size(), 2U);
  EXPECT_EQ(got->capacity[0], (ConsumedCapacity{.table = "Alpha", .total = {.units = 1}}));
  EXPECT_EQ(got->capacity[1], (ConsumedCapacity{.table = "Beta", .total = {.units = 1}}));
}

TEST_P(Batches, HaveUpToTwentyFiveWritesOrAHundredKeys) {
  constexpr int kWritesMax = 25;
  constexpr int kKeysMax = 100;
  BatchWriteItemRequest writes;
  for (int i = 0; i < kWritesMax; ++i) writes.items["Alpha"].push_back(put_of(alpha(i)));
  EXPECT_THAT(client_.batch_write_item(writes), IsOk());
  BatchGetItemRequest gets;
  for (int i = 0; i < kKeysMax; ++i) gets.items["Alpha"].keys.push_back(alpha(i));
  const auto got = client_.batch_get_item(gets);
  ASSERT_THAT(got, IsOk());
  EXPECT_EQ(got->items.at("Alpha").size(), static_cast<std::size_t>(kWritesMax));

  writes.items["Alpha"].push_back(put_of(alpha(kWritesMax)));
  EXPECT_THAT(client_.batch_write_item(writes),
              FailsWith(Code::kValidation, "length less than or equal to 25"));
  gets.items["Alpha"].keys.push_back(alpha(kKeysMax));
  EXPECT_THAT(client_.batch_get_item(gets),
              FailsWith(Code::kValidation, "length less than or equal to 100"));
  writes.items["Alpha"].pop_back();
  writes.items["Beta"] = {put_of({{"pk", "a"}, {"sk", 1}})};
  EXPECT_THAT(client_.batch_write_item(writes),
              FailsWith(Code::kValidation, "Too many items requested for the BatchWriteItem call"));
  gets.items["Alpha"].keys.pop_back();
  gets.items["Beta"].keys = {{{"pk", "a"}, {"sk", 1}}};
  EXPECT_THAT(client_.batch_get_item(gets),
              FailsWith(Code::kValidation, "Too many items requested for the BatchGetItem call"));
  EXPECT_EQ(get("Alpha", alpha(kWritesMax)), std::nullopt);
}

TEST_P(Batches, ThatAreRefusedWriteNothing) {
  const auto outcome = [&](BatchWriteItemRequest request) {
    const auto result = client_.batch_write_item(request);
    EXPECT_EQ(get("Alpha", alpha(1)), std::nullopt);
    return result;
  };
  EXPECT_THAT(outcome({.items = {{"Alpha", {put_of(alpha(1)), delete_of(alpha(1))}}}}),
              FailsWith(Code::kValidation, "Provided list of item keys contains duplicates"));
  EXPECT_THAT(outcome({.items = {{"Alpha", {put_of(alpha(1)), put_of({{"other", 1}})}}}}),
              FailsWith(Code::kValidation, "The provided key element does not match the schema"));
  EXPECT_THAT(outcome({.items = {{"Alpha", {put_of(alpha(1))}}, {"Nope", {put_of(alpha(1))}}}}),
              FailsWith(Code::kResourceNotFound, "Requested resource not found"));
  Item large = alpha(2);
  large.emplace("v", std::string(400UL * 1024, 'x'));
  EXPECT_THAT(outcome({.items = {{"Alpha", {put_of(alpha(1)), put_of(large)}}}}),
              FailsWith(Code::kValidation, "Item size has exceeded the maximum allowed size"));
  EXPECT_THAT(outcome({}), FailsWith(Code::kValidation, "requestItems"));
  EXPECT_THAT(client_.batch_get_item({}), FailsWith(Code::kValidation, "RequestItems"));
  EXPECT_THAT(client_.batch_get_item({.items = {{"Alpha", {.keys = {alpha(1), alpha(1)}}}}}),
              FailsWith(Code::kValidation, "Provided list of item keys contains duplicates"));
}

TEST_P(Batches, GetsNameTheKeysBeyondSixteenMegabytes) {
  constexpr int kItems = 50;
  BatchGetItemRequest request;
  for (int i = 0; i < kItems; ++i) {
    Item item = alpha(i);
    request.items["Alpha"].keys.push_back(item);
    item.emplace("v", std::string(400'000, 'x'));
    put("Alpha", item);
  }
  request.items["Alpha"].consistent_read = true;
  request.items["Alpha"].projection = "pk, v";
  const auto first = client_.batch_get_item(request);
  ASSERT_THAT(first, IsOk());
  ASSERT_TRUE(first->unprocessed.contains("Alpha"));
  const KeysAndAttributes& rest = first->unprocessed.at("Alpha");
  EXPECT_TRUE(rest.consistent_read);
  EXPECT_EQ(rest.projection, "pk, v");
  EXPECT_EQ(first->items.at("Alpha").size() + rest.keys.size(), static_cast<std::size_t>(kItems));
  const auto second = client_.batch_get_item({.items = first->unprocessed});
  ASSERT_THAT(second, IsOk());
  EXPECT_EQ(second->items.at("Alpha").size(), rest.keys.size());
  EXPECT_TRUE(second->unprocessed.empty());
}

}  // namespace
}  // namespace stator::test
