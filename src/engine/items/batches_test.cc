// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "engine/testing/engine_harness.h"

namespace stator {
namespace {

using test::FailsWith;
using test::hash_table;
using test::IsOk;

class Batches : public test::EngineTest {
 protected:
  Batches() {
    create(hash_table("Alpha"));
    create(hash_table("Beta"));
  }
};

WriteRequest put_of(Item item) {
  return {.put = std::move(item), .delete_key = {}};
}
WriteRequest delete_of(Item key) {
  return {.put = {}, .delete_key = std::move(key)};
}

TEST_F(Batches, WritesPutAndDeleteInSeveralTables) {
  ASSERT_THAT(put("Beta", {{"pk", "old"}}), IsOk());
  const auto result =
      batch_write({.items = {{"Alpha", {put_of({{"pk", "1"}}), put_of({{"pk", "2"}, {"v", 1}})}},
                             {"Beta", {delete_of({{"pk", "old"}}), put_of({{"pk", "1"}})}}},
                   .return_capacity = ReturnConsumedCapacity::kTotal});
  ASSERT_THAT(result, IsOk());
  EXPECT_TRUE(result->unprocessed.empty());
  ASSERT_EQ(result->capacity.size(), 2U);
  EXPECT_EQ(result->capacity[0].table, "Alpha");
  EXPECT_EQ(result->capacity[0].total.units, 2);
  EXPECT_EQ(get("Alpha", {{"pk", "2"}}), (Item{{"pk", "2"}, {"v", 1}}));
  EXPECT_EQ(get("Beta", {{"pk", "old"}}), std::nullopt);
  EXPECT_EQ(get("Beta", {{"pk", "1"}}), (Item{{"pk", "1"}}));
}

TEST_F(Batches, OneItemTwiceIsRefusedAndNothingIsWritten) {
  EXPECT_THAT(
      batch_write({.items = {{"Alpha", {put_of({{"pk", "1"}}), delete_of({{"pk", "1"}})}}}}),
      FailsWith(Code::kValidation, "Provided list of item keys contains duplicates"));
  EXPECT_THAT(batch_write({.items = {{"Alpha", {put_of({{"pk", "1"}})}},
                                     {"Beta", {put_of({{"nope", "1"}})}}}}),
              FailsWith(Code::kValidation, "The provided key element does not match the schema"));
  EXPECT_EQ(get("Alpha", {{"pk", "1"}}), std::nullopt);
  const BatchGetItemRequest twice{.items = {{"Alpha", {.keys = {{{"pk", "1"}}, {{"pk", "1"}}}}}}};
  EXPECT_THAT(call_and_wait(*engine_, &Engine::batch_get_item, twice),
              FailsWith(Code::kValidation, "contains duplicates"));
}

TEST_F(Batches, MissingTablesFailTheWhole) {
  EXPECT_THAT(batch_write({.items = {{"Alpha", {put_of({{"pk", "1"}})}},
                                     {"Nope", {put_of({{"pk", "1"}})}}}}),
              FailsWith(Code::kResourceNotFound, "Requested resource not found"));
  EXPECT_EQ(get("Alpha", {{"pk", "1"}}), std::nullopt);
  EXPECT_THAT(call_and_wait(*engine_, &Engine::batch_get_item,
                            {.items = {{"Nope", {.keys = {{{"pk", "1"}}}}}}}),
              FailsWith(Code::kResourceNotFound, "Requested resource not found"));
}

TEST_F(Batches, GetsProjectAndOmitAbsentItems) {
  ASSERT_THAT(put("Alpha", {{"pk", "1"}, {"v", 1}, {"w", 2}}), IsOk());
  const auto response = call_and_wait(
      *engine_, &Engine::batch_get_item,
      {.items = {{"Alpha", {.keys = {{{"pk", "1"}}, {{"pk", "2"}}}, .projection = "w"}},
                 {"Beta", {.keys = {{{"pk", "1"}}}, .consistent_read = true}}},
       .return_capacity = ReturnConsumedCapacity::kTotal});
  ASSERT_THAT(response, IsOk());
  ASSERT_EQ(response->items.at("Alpha").size(), 1U);
  EXPECT_EQ(decode_item(response->items.at("Alpha")[0]), (Item{{"w", 2}}));
  EXPECT_TRUE(response->items.at("Beta").empty());
  EXPECT_TRUE(response->unprocessed.empty());
  ASSERT_EQ(response->capacity.size(), 2U);
  EXPECT_EQ(response->capacity[0].total.units, 1);
  EXPECT_EQ(response->capacity[1].total.units, 1);
}

TEST_F(Batches, GetsEndAtSixteenMegabytesAndNameTheRest) {
  BatchGetItemRequest request;
  KeysAndAttributes& keys = request.items["Alpha"];
  keys.consistent_read = true;
  for (int i = 0; i < 50; ++i) {
    const std::string key = std::to_string(i);
    ASSERT_THAT(put("Alpha", {{"pk", key}, {"v", std::string(400'000, 'x')}}), IsOk());
    keys.keys.push_back({{"pk", key}});
  }
  const auto first = call_and_wait(*engine_, &Engine::batch_get_item, request);
  ASSERT_THAT(first, IsOk());
  ASSERT_TRUE(first->unprocessed.contains("Alpha"));
  EXPECT_TRUE(first->unprocessed.at("Alpha").consistent_read);
  EXPECT_EQ(first->items.at("Alpha").size() + first->unprocessed.at("Alpha").keys.size(), 50U);
  const auto rest = call_and_wait(*engine_, &Engine::batch_get_item, {.items = first->unprocessed});
  ASSERT_THAT(rest, IsOk());
  EXPECT_TRUE(rest->unprocessed.empty());

  // The first tables are read completely, and the last ones not at all.
  request.items["Aaa"].keys = {{{"pk", "none"}}, {{"pk", "1"}}};
  request.items["Beta"].keys = {{{"pk", "1"}}};
  create(hash_table("Aaa"));
  ASSERT_THAT(put("Aaa", {{"pk", "1"}, {"v", std::string(1000, 'x')}}), IsOk());
  request.return_capacity = ReturnConsumedCapacity::kTotal;
  const auto three = call_and_wait(*engine_, &Engine::batch_get_item, request);
  ASSERT_THAT(three, IsOk());
  EXPECT_EQ(three->items.at("Aaa").size(), 1U);
  EXPECT_FALSE(three->unprocessed.contains("Aaa"));
  EXPECT_EQ(three->items.at("Alpha").size() + three->unprocessed.at("Alpha").keys.size(), 50U);
  EXPECT_EQ(three->unprocessed.at("Alpha").keys.back(), (Item{{"pk", "49"}}));
  EXPECT_EQ(three->unprocessed.at("Beta").keys.size(), 1U);
  ASSERT_EQ(three->capacity.size(), 2U);
  EXPECT_EQ(three->capacity[0].total.units, 1);
  EXPECT_EQ(three->capacity[1].total.units,
            98 * static_cast<double>(three->items.at("Alpha").size()));
}

}  // namespace
}  // namespace stator
