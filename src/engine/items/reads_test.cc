// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "engine/items/capacity.h"
#include "engine/testing/engine_harness.h"

namespace stator {
namespace {

using test::FailsWith;
using test::hash_table;
using test::IsOk;
using test::range_table;

TEST(Capacity, RoundsUpToItsUnits) {
  EXPECT_EQ(read_units(0), 1);
  EXPECT_EQ(read_units(4096), 1);
  EXPECT_EQ(read_units(4097), 2);
  EXPECT_EQ(write_units(0), 1);
  EXPECT_EQ(write_units(1024), 1);
  EXPECT_EQ(write_units(1025), 2);
}

class Reads : public test::EngineTest {
 protected:
  Reads() { create(hash_table()); }

  double get_units(const std::string& key, bool consistent) {
    const auto response = call_and_wait(*engine_, &Engine::get_item,
                                        {.table = "Things",
                                         .key = {{"pk", key}},
                                         .consistent_read = consistent,
                                         .return_capacity = ReturnConsumedCapacity::kIndexes});
    EXPECT_THAT(response, IsOk());
    return response && response->capacity ? response->capacity->table_part->units : -1;
  }
};

TEST_F(Reads, GetProjects) {
  ASSERT_THAT(put("Things", {{"pk", "a"}, {"v", List{1, 2, 3}}, {"name", "n"}}), IsOk());
  const auto response = call_and_wait(*engine_, &Engine::get_item,
                                      {.table = "Things",
                                       .key = {{"pk", "a"}},
                                       .projection = "v[2], v[0], #n",
                                       .names = {{{"#n", "name"}}}});
  ASSERT_THAT(response, IsOk());
  ASSERT_TRUE(response->item);
  EXPECT_EQ(decode_item(ItemView(*response->item)), (Item{{"v", List{1, 3}}, {"name", "n"}}));
}

TEST_F(Reads, AnItemWithoutTheProjectedAttributesIsEmptyNotAbsent) {
  ASSERT_THAT(put("Things", {{"pk", "a"}}), IsOk());
  const auto response =
      call_and_wait(*engine_, &Engine::get_item,
                    {.table = "Things", .key = {{"pk", "a"}}, .projection = "nothing"});
  ASSERT_THAT(response, IsOk());
  ASSERT_TRUE(response->item);
  EXPECT_EQ(ItemView(*response->item).attribute_count(), 0U);
}

TEST_F(Reads, KeysMustBeTheSchemas) {
  for (const Item& key : {Item{{"pk", 1}}, Item{{"other", "a"}}, Item{{"pk", "a"}, {"sk", 1}}}) {
    EXPECT_THAT(call_and_wait(*engine_, &Engine::get_item, {.table = "Things", .key = key}),
                FailsWith(Code::kValidation, "The provided key element does not match the schema"));
  }
}

// DynamoDB reports a wrong type first, then an empty value, then a value that is too long.
TEST_F(Reads, FaultsOfAKeyHaveAnOrder) {
  CreateTableRequest request = hash_table("Texts");
  request.attributes.push_back({"sk", ScalarType::kS});
  request.key_schema.push_back({"sk", KeyType::kRange});
  create(request);
  const std::string long_hash(2049, 'h');
  const std::string long_range(1025, 'r');
  const auto get_with = [&](const AttributeValue& hash, const AttributeValue& range) {
    return call_and_wait(*engine_, &Engine::get_item,
                         {.table = "Texts", .key = {{"pk", hash}, {"sk", range}}});
  };
  EXPECT_THAT(get_with(long_hash, 1), FailsWith(Code::kValidation, "does not match the schema"));
  EXPECT_THAT(get_with("", 1), FailsWith(Code::kValidation, "does not match the schema"));
  EXPECT_THAT(get_with(long_hash, ""), FailsWith(Code::kValidation, "Key: sk"));
  EXPECT_THAT(get_with("", ""), FailsWith(Code::kValidation, "Key: pk"));
  EXPECT_THAT(get_with(long_hash, long_range), FailsWith(Code::kValidation, "2048 bytes"));
  EXPECT_THAT(get_with("h", long_range), FailsWith(Code::kValidation, "1024 bytes"));
  EXPECT_THAT(get_with(long_hash.substr(1), long_range.substr(1)), IsOk());
}

TEST_F(Reads, CostHalfIfEventuallyConsistentAndAlsoCostWithoutAnItem) {
  ASSERT_THAT(put("Things", {{"pk", "a"}, {"v", std::string(4100, 'x')}}), IsOk());
  EXPECT_EQ(get_units("a", true), 2);
  EXPECT_EQ(get_units("a", false), 1);
  EXPECT_EQ(get_units("nope", true), 1);
  EXPECT_EQ(get_units("nope", false), 0.5);
}

TEST_F(Reads, APageIsRoundedOnce) {
  create(range_table("Ranged"));
  for (int i = 0; i < 10; ++i) {
    ASSERT_THAT(put("Ranged", {{"pk", "a"}, {"sk", i}, {"v", std::string(1000, 'x')}}), IsOk());
  }
  const auto page = call_and_wait(*engine_, &Engine::query,
                                  {.table = "Ranged",
                                   .key_condition = "pk = :a",
                                   .values = {{{":a", "a"}}},
                                   .consistent_read = true,
                                   .return_capacity = ReturnConsumedCapacity::kTotal});
  ASSERT_THAT(page, IsOk());
  EXPECT_EQ(page->capacity->total.units, 3);  // 10 KB
  EXPECT_FALSE(page->capacity->table_part);
}

TEST_F(Reads, WritesCostTheLargerImage) {
  const auto units = [&](std::size_t bytes) {
    const auto result = put({.table = "Things",
                             .item = {{"pk", "a"}, {"v", std::string(bytes, 'x')}},
                             .return_capacity = ReturnConsumedCapacity::kTotal});
    EXPECT_THAT(result, IsOk());
    return result->capacity->total.units;
  };
  EXPECT_EQ(units(1020), 1);  // 1,024 bytes with the names and the key
  EXPECT_EQ(units(1021), 2);
  EXPECT_EQ(units(10), 2);
  EXPECT_EQ(units(10), 1);
}

}  // namespace
}  // namespace stator
