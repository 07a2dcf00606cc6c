// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "engine/testing/engine_harness.h"

namespace stator {
namespace {

using test::FailsWith;
using test::index_on;
using test::IsOk;
using test::range_table;

class IndexMaintenance : public test::EngineTest {
 protected:
  IndexMaintenance() {
    CreateTableRequest request = range_table();
    request.attributes.push_back({"g", ScalarType::kS});
    request.attributes.push_back({"r", ScalarType::kN});
    request.local_indexes = {
        {index_on("Local", {{"pk", KeyType::kHash}, {"r", KeyType::kRange}},
                  {.type = ProjectionType::kKeysOnly, .non_key_attributes = {}})}};
    request.global_indexes = {
        {index_on("All", {{"g", KeyType::kHash}, {"r", KeyType::kRange}}),
         index_on("Some", {{"g", KeyType::kHash}},
                  {.type = ProjectionType::kInclude, .non_key_attributes = {"v"}})}};
    create(request);
  }

  // The expected entries of an index, computed from the table only.
  std::vector<Item> rebuilt(const std::vector<std::string>& keys,
                            const std::optional<std::vector<std::string>>& projected) {
    std::vector<Item> expected;
    for (const Item& item : all_pages(ScanRequest{.table = "Things"})) {
      if (!std::ranges::all_of(keys, [&](const auto& key) { return item.contains(key); })) continue;
      if (!projected) {
        expected.push_back(item);
        continue;
      }
      Item entry;
      for (const std::string& name : *projected) {
        if (item.contains(name)) entry.emplace(name, item.at(name));
      }
      expected.push_back(std::move(entry));
    }
    return sorted(std::move(expected));
  }
  std::vector<Item> stored(const std::string& index) {
    return sorted(all_pages(ScanRequest{.table = "Things", .index = index, .limit = 7}));
  }
  static std::vector<Item> sorted(std::vector<Item> items) {
    std::ranges::sort(items, {}, [](const Item& item) { return to_debug_string(item); });
    return items;
  }
  void expect_rebuilt() {
    EXPECT_EQ(stored("All"), rebuilt({"g", "r"}, std::nullopt));
    EXPECT_EQ(stored("Some"), rebuilt({"g"}, {{"g", "pk", "sk", "v"}}));
    EXPECT_EQ(stored("Local"), rebuilt({"r"}, {{"pk", "r", "sk"}}));
  }
};

TEST_F(IndexMaintenance, RandomWritesProduceTheEntriesOfARebuild) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto below = [&](int bound) {
    return static_cast<int>(random() % static_cast<unsigned>(bound));
  };
  for (int step = 0; step < 600; ++step) {
    Item item{{"pk", std::to_string(below(4))}, {"sk", below(8)}};
    const Item key = item;
    switch (below(4)) {
      case 0:
        ASSERT_THAT(erase({.table = "Things", .key = key}), IsOk());
        break;
      case 1:
        ASSERT_THAT(update({.table = "Things",
                            .key = key,
                            .update = below(2) == 0 ? "REMOVE g, v" : "REMOVE r"}),
                    IsOk());
        break;
      case 2:
        ASSERT_THAT(update({.table = "Things",
                            .key = key,
                            .update = "SET g = :g, v = :v REMOVE r",
                            .values = {{{":g", std::to_string(below(3))}, {":v", below(3)}}}}),
                    IsOk());
        break;
      default:
        if (below(3) > 0) item["g"] = std::to_string(below(3));
        if (below(3) > 0) item["r"] = below(4);
        if (below(2) > 0) item["v"] = below(2);
        ASSERT_THAT(put("Things", item), IsOk());
    }
    if (step % 100 == 99) expect_rebuilt();
  }
  share_counts();
  const auto described = engine_->describe_table({.table = "Things"});
  ASSERT_THAT(described, IsOk());
  for (const IndexDescription& index : described->table.global_indexes) {
    EXPECT_EQ(index.item_count, static_cast<int64_t>(stored(index.definition.name).size()));
  }
}

TEST_F(IndexMaintenance, WrongTypesAndEmptyValuesOfIndexKeysAreRefused) {
  EXPECT_THAT(put("Things", {{"pk", "a"}, {"sk", 1}, {"g", 5}}),
              FailsWith(Code::kValidation,
                        "Type mismatch for Index Key g Expected: S Actual: N IndexName: All"));
  EXPECT_THAT(put("Things", {{"pk", "a"}, {"sk", 1}, {"g", ""}}),
              FailsWith(Code::kValidation, "IndexName: All, IndexKey: g"));
  const auto set_g = [&](AttributeValue value) {
    return update({.table = "Things",
                   .key = {{"pk", "a"}, {"sk", 1}},
                   .update = "SET g = :g",
                   .values = {{{":g", std::move(value)}}}});
  };
  EXPECT_THAT(set_g(5),
              FailsWith(Code::kValidation,
                        "One or more parameter values were invalid: Type mismatch for Index Key g "
                        "Expected: S Actual: N IndexName: All"));
  EXPECT_THAT(set_g(nullptr), FailsWith(Code::kValidation, "Expected: S Actual: NULL"));
  EXPECT_THAT(set_g(""), FailsWith(Code::kValidation, "cannot contain an empty string value"));
  EXPECT_THAT(set_g("x"), IsOk());
  EXPECT_THAT(update({.table = "Things", .key = {{"pk", "a"}, {"sk", 1}}, .update = "SET g = sk"}),
              FailsWith(Code::kValidation, "secondary index key to unsupported type"));
}

TEST_F(IndexMaintenance, CapacityFollowsTheProjectedView) {
  const auto units = [&](Item item) {
    const auto result = put({.table = "Things",
                             .item = std::move(item),
                             .return_capacity = ReturnConsumedCapacity::kIndexes});
    EXPECT_THAT(result, IsOk());
    return result->capacity.value_or(ConsumedCapacity());
  };
  ConsumedCapacity used = units({{"pk", "a"}, {"sk", 1}, {"g", "x"}, {"v", 1}});
  EXPECT_EQ(used.total.units, 2);  // Things and Some: All and Local require r
  EXPECT_EQ(used.table_part->units, 1);
  EXPECT_EQ(used.global_indexes.size(), 1U);
  EXPECT_EQ(used.global_indexes["Some"].units, 1);

  used = units({{"pk", "a"}, {"sk", 1}, {"g", "x"}, {"v", 1}, {"other", 1}});
  EXPECT_EQ(used.total.units, 1);  // nothing that Some projects has changed

  used = units({{"pk", "a"}, {"sk", 1}, {"g", "y"}, {"v", 1}});
  EXPECT_EQ(used.global_indexes["Some"].units, 2);  // moved: erased and put

  used = units({{"pk", "a"}, {"sk", 1}, {"g", "y"}, {"r", 1}, {"v", std::string(3000, 'x')}});
  EXPECT_EQ(used.table_part->units, 3);
  EXPECT_EQ(used.global_indexes["All"].units, 3);
  EXPECT_EQ(used.global_indexes["Some"].units, 3);
  EXPECT_EQ(used.local_indexes["Local"].units, 1);
  EXPECT_EQ(used.total.units, 10);

  used = units({{"pk", "a"}, {"sk", 1}});
  EXPECT_EQ(used.table_part->units, 3);  // the larger of both images
  EXPECT_EQ(used.total.units, 10);
}

}  // namespace
}  // namespace stator
