// SPDX-License-Identifier: Apache-2.0
// GetItem: what it returns and costs.
#include "client/client_test.h"

namespace stator::test {
namespace {

class Reads : public ClientTest {
 protected:
  void SetUp() override { create(indexed_table("Things")); }

  static GetItemRequest get_of(std::optional<std::string> projection = {}) {
    return {
        .table = "Things", .key = {{"pk", "a"}, {"sk", 1}}, .projection = std::move(projection)};
  }
};
STATOR_IN_EACH_HOME(Reads);

TEST_P(Reads, AnAbsentItemIsNotAnError) {
  const auto got = client_.get_item(get_of());
  ASSERT_THAT(got, IsOk());
  EXPECT_FALSE(got->item);
  EXPECT_FALSE(got->capacity);
}

TEST_P(Reads, SeeTheLastWriteEvenIfEventuallyConsistent) {
  put("Things", {{"pk", "a"}, {"sk", 1}, {"v", 1}});
  put("Things", {{"pk", "a"}, {"sk", 1}, {"v", 2}});
  EXPECT_EQ(client_.get_item(get_of())->item, (Item{{"pk", "a"}, {"sk", 1}, {"v", 2}}));
}

TEST_P(Reads, ProjectPathsIntoTheirShape) {
  put("Things", {{"pk", "a"},
                 {"sk", 1},
                 {"size", 3},
                 {"list", List{1, Map{{"x", 1}, {"y", 2}}, 3}},
                 {"map", Map{{"deep", Map{{"er", "here"}, {"not", 1}}}}}});
  GetItemRequest request = get_of("#s, #l[2], #l[1].y, #m.deep.er, nowhere.x.y");
  request.names = {{{"#s", "size"}, {"#l", "list"}, {"#m", "map"}}};
  const auto got = client_.get_item(request);
  ASSERT_THAT(got, IsOk());
  EXPECT_EQ(got->item, (Item{{"size", 3},
                             {"list", List{Map{{"y", 2}}, 3}},
                             {"map", Map{{"deep", Map{{"er", "here"}}}}}}));
}

TEST_P(Reads, AnItemWithoutProjectedAttributesIsEmptyNotAbsent) {
  put("Things", {{"pk", "a"}, {"sk", 1}});
  const auto got = client_.get_item(get_of("nothing"));
  ASSERT_THAT(got, IsOk());
  EXPECT_EQ(got->item, Item());
}

TEST_P(Reads, CostAUnitForFourKilobytesAndHalfIfNotConsistent) {
  put("Things", {{"pk", "a"}, {"sk", 1}, {"v", std::string(4096, 'x')}});
  GetItemRequest request = get_of("sk");
  request.return_capacity = ReturnConsumedCapacity::kTotal;
  auto got = client_.get_item(request);
  ASSERT_THAT(got, IsOk());
  ASSERT_TRUE(got->capacity);
  EXPECT_EQ(*got->capacity, (ConsumedCapacity{.table = "Things", .total = {.units = 1}}));
  request.consistent_read = true;
  request.return_capacity = ReturnConsumedCapacity::kIndexes;
  got = client_.get_item(request);
  ASSERT_THAT(got, IsOk());
  EXPECT_EQ(*got->capacity,
            (ConsumedCapacity{
                .table = "Things", .total = {.units = 2}, .table_part = Capacity{.units = 2}}));
  request.key = {{"pk", "nothing"}, {"sk", 1}};
  EXPECT_EQ(client_.get_item(request)->capacity->total.units, 1);
}

}  // namespace
}  // namespace stator::test
