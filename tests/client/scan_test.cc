// SPDX-License-Identifier: Apache-2.0
// Scan, sequential and in parallel segments.
#include <set>

#include "client/client_test.h"

namespace stator::test {
namespace {

using ::testing::IsEmpty;

class Scans : public ClientTest {
 protected:
  void SetUp() override {
    create(indexed_table("Things"));
    for (int i = 0; i < kItems; ++i) {
      Item item{{"pk", "p" + std::to_string(i)}, {"sk", i}, {"note", "n"}, {"rest", "r"}};
      if (i % 4 == 0) item.insert({{"place", "x"}, {"rank", i}});
      put("Things", item);
    }
  }
  static std::string id_of(const Item& item) { return *item.at("pk").get_if<std::string>(); }
  std::multiset<std::string> ids(const ScanRequest& request) {
    std::multiset<std::string> ids;
    for (const Item& item : all_items(request)) ids.insert(id_of(item));
    return ids;
  }

  static constexpr int kItems = 60;
};
STATOR_IN_EACH_HOME(Scans);

TEST_P(Scans, PageOverEveryItemOnce) {
  const std::vector<PageResult> all = pages(ScanRequest{.table = "Things", .limit = 7});
  EXPECT_EQ(all.size(), 9U);
  EXPECT_EQ(all[0].count, 7);
  EXPECT_EQ(all[0].scanned_count, 7);
  ASSERT_TRUE(all[0].last_evaluated_key);
  EXPECT_EQ(all[0].last_evaluated_key->size(), 2U);
  const std::multiset<std::string> found = ids({.table = "Things", .limit = 7});
  EXPECT_EQ(found.size(), static_cast<std::size_t>(kItems));
  EXPECT_EQ(std::set(found.begin(), found.end()).size(), found.size());
}

TEST_P(Scans, InSegmentsCoverEveryItemOnce) {
  for (const int64_t total : {1, 2, 5, 16}) {
    std::multiset<std::string> found;
    for (int64_t segment = 0; segment < total; ++segment) {
      found.merge(
          ids({.table = "Things", .limit = 3, .segment = segment, .total_segments = total}));
    }
    EXPECT_EQ(found.size(), static_cast<std::size_t>(kItems)) << total;
    EXPECT_EQ(std::set(found.begin(), found.end()).size(), found.size()) << total;
  }
}

TEST_P(Scans, FilterProjectAndCount) {
  ScanRequest request{.table = "Things",
                      .filter = "#k >= :low",
                      .names = {{{"#k", "rank"}}},
                      .values = {{{":low", 40}}},
                      .consistent_read = true};
  EXPECT_EQ(ids(request), (std::multiset<std::string>{"p40", "p44", "p48", "p52", "p56"}));
  request.projection = "#k";
  for (const Item& item : all_items(request)) {
    EXPECT_EQ(item.size(), 1U);
    EXPECT_TRUE(item.contains("rank"));
  }
  request.projection.reset();
  request.select = Select::kCount;
  const auto counted = client_.scan(request);
  ASSERT_THAT(counted, IsOk());
  EXPECT_THAT(counted->items, IsEmpty());
  EXPECT_EQ(counted->count, 5);
  EXPECT_EQ(counted->scanned_count, kItems);
}

TEST_P(Scans, OfAnIndexSeeOnlyItsItemsAndProjectedAttributes) {
  ScanRequest request{.table = "Things", .index = "GlobalByPlace", .limit = 4};
  const std::vector<Item> global = all_items(request);
  ASSERT_EQ(global.size(), 15U);
  for (const Item& item : global) {
    EXPECT_EQ(item.size(), 5U);
    EXPECT_TRUE(item.contains("note"));
  }
  request.index = "LocalByRank";
  const std::vector<Item> local = all_items(request);
  ASSERT_EQ(local.size(), 15U);
  for (const Item& item : local) EXPECT_EQ(item.size(), 3U);
  request.select = Select::kAllAttributes;
  for (const Item& item : all_items(request)) EXPECT_EQ(item.size(), 6U);
}

TEST_P(Scans, CostTheExaminedItems) {
  ScanRequest request{.table = "Things",
                      .filter = "attribute_exists(nothing)",
                      .consistent_read = true,
                      .return_capacity = ReturnConsumedCapacity::kIndexes};
  const auto page = client_.scan(request);
  ASSERT_THAT(page, IsOk());
  EXPECT_EQ(page->count, 0);
  EXPECT_EQ(*page->capacity,
            (ConsumedCapacity{
                .table = "Things", .total = {.units = 1}, .table_part = Capacity{.units = 1}}));
}

TEST_P(Scans, EndAPageAtOneMegabyte) {
  create(hash_table("Large"));
  for (int i = 0; i < 15; ++i) {
    put("Large", {{"pk", std::to_string(i)}, {"v", std::string(100'000, 'x')}});
  }
  const std::vector<PageResult> all = pages(ScanRequest{.table = "Large"});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].count, 11);
  EXPECT_EQ(all[1].count, 4);
}

}  // namespace
}  // namespace stator::test
