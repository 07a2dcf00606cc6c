// SPDX-License-Identifier: Apache-2.0
// Query on a table, a local and a global index.
#include <algorithm>
#include <set>

#include "client/client_test.h"

namespace stator::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// Ten items in partition "a": sk 0 to 9, rank in descending pairs, all in place "p".
class Queries : public ClientTest {
 protected:
  void SetUp() override {
    create(indexed_table("Things"));
    for (int sk = 0; sk < kItems; ++sk) {
      put("Things", {{"pk", "a"},
                     {"sk", sk},
                     {"rank", (kItems - sk) / 2},
                     {"place", "p"},
                     {"note", "n" + std::to_string(sk)},
                     {"rest", sk % 2 == 0}});
    }
    put("Things", {{"pk", "b"}, {"sk", 0}});
  }

  static QueryRequest query_of(const std::string& more = {}, Values values = {}) {
    values.emplace(":a", "a");
    return {.table = "Things", .key_condition = "pk = :a" + more, .values = std::move(values)};
  }
  static QueryRequest by_place() {
    return {.table = "Things",
            .index = "GlobalByPlace",
            .key_condition = "place = :p",
            .values = {{{":p", "p"}}}};
  }
  static std::vector<int64_t> sort_keys(const std::vector<Item>& items) {
    std::vector<int64_t> keys;
    keys.reserve(items.size());
    for (const Item& item : items) keys.push_back(*item.at("sk").get_if<Number>()->to_int64());
    return keys;
  }
  std::vector<int64_t> found(const QueryRequest& request) { return sort_keys(all_items(request)); }

  static constexpr int kItems = 10;
};
STATOR_IN_EACH_HOME(Queries);

TEST_P(Queries, FollowEachConditionOnTheSortKey) {
  EXPECT_THAT(found(query_of()), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_THAT(found(query_of(" AND sk = :v", {{":v", 3}})), ElementsAre(3));
  EXPECT_THAT(found(query_of(" AND sk < :v", {{":v", 2}})), ElementsAre(0, 1));
  EXPECT_THAT(found(query_of(" AND sk <= :v", {{":v", 2}})), ElementsAre(0, 1, 2));
  EXPECT_THAT(found(query_of(" AND sk > :v", {{":v", 7}})), ElementsAre(8, 9));
  EXPECT_THAT(found(query_of(" AND sk >= :v", {{":v", 8}})), ElementsAre(8, 9));
  EXPECT_THAT(found(query_of(" AND sk BETWEEN :v AND :w", {{":v", 3}, {":w", 5}})),
              ElementsAre(3, 4, 5));
  EXPECT_THAT(found(query_of(" AND sk > :v", {{":v", 9}})), IsEmpty());
}

TEST_P(Queries, FindPrefixesOfStringsAndBinaries) {
  for (const ScalarType type : {ScalarType::kS, ScalarType::kB}) {
    CreateTableRequest request = hash_table(type == ScalarType::kS ? "Texts" : "Bytes");
    request.attributes.push_back({"sk", type});
    request.key_schema.push_back({"sk", KeyType::kRange});
    create(request);
    const auto key = [&](const std::string& text) {
      return type == ScalarType::kS ? AttributeValue(text) : AttributeValue(Binary{text});
    };
    for (const char* text : {"a", "ab", "abc", "b", "A"}) {
      put(request.table, {{"pk", "x"}, {"sk", key(text)}});
    }
    EXPECT_EQ(
        all_items(QueryRequest{.table = request.table,
                               .key_condition = "pk = :x AND begins_with(sk, :p)",
                               .values = {{{":x", "x"}, {":p", key("ab")}}}}),
        (std::vector<Item>{{{"pk", "x"}, {"sk", key("ab")}}, {{"pk", "x"}, {"sk", key("abc")}}}));
  }
}

TEST_P(Queries, RunBackwardsToo) {
  QueryRequest request = query_of(" AND sk > :v", {{":v", 6}});
  request.forward = false;
  EXPECT_THAT(found(request), ElementsAre(9, 8, 7));
  request.limit = 2;
  EXPECT_THAT(found(request), ElementsAre(9, 8, 7));
}

TEST_P(Queries, PageByTheirLimitAndReturnTheirLastKey) {
  QueryRequest request = query_of();
  request.limit = 4;
  const std::vector<PageResult> all = pages(request);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_THAT(sort_keys(all[0].items), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(all[0].count, 4);
  EXPECT_EQ(all[0].scanned_count, 4);
  EXPECT_EQ(all[0].last_evaluated_key, (Item{{"pk", "a"}, {"sk", 3}}));
  EXPECT_THAT(sort_keys(all[2].items), ElementsAre(8, 9));
  request.limit = 5;  // ends exactly at the last item, without knowing that it is the last
  EXPECT_EQ(pages(request).size(), 3U);
}

TEST_P(Queries, FilterAfterTheLimitHasCounted) {
  QueryRequest request = query_of("", {{":true", true}});
  request.filter = "#r = :true";
  request.names = {{{"#r", "rest"}}};
  request.limit = 3;
  const std::vector<PageResult> all = pages(request);
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].count, 2);
  EXPECT_EQ(all[0].scanned_count, 3);
  EXPECT_THAT(found(request), ElementsAre(0, 2, 4, 6, 8));
}

TEST_P(Queries, ProjectAndCount) {
  QueryRequest request = query_of(" AND sk < :v", {{":v", 2}});
  request.projection = "note, sk";
  EXPECT_EQ(all_items(request),
            (std::vector<Item>{{{"note", "n0"}, {"sk", 0}}, {{"note", "n1"}, {"sk", 1}}}));
  request.select = Select::kSpecificAttributes;
  EXPECT_EQ(all_items(request).size(), 2U);
  request.projection.reset();
  request.select = Select::kCount;
  const auto counted = client_.query(request);
  ASSERT_THAT(counted, IsOk());
  EXPECT_THAT(counted->items, IsEmpty());
  EXPECT_EQ(counted->count, 2);
  EXPECT_EQ(counted->scanned_count, 2);
}

TEST_P(Queries, OfALocalIndexFetchUnprojectedAttributes) {
  QueryRequest request = query_of(" AND #k <= :v", {{":v", 1}});
  request.names = {{{"#k", "rank"}}};
  request.index = "LocalByRank";
  request.consistent_read = true;
  const std::vector<Item> keys = all_items(request);
  ASSERT_EQ(keys.size(), 3U);
  EXPECT_EQ(keys[0], (Item{{"pk", "a"}, {"sk", 9}, {"rank", 0}}));
  EXPECT_THAT(sort_keys(keys), UnorderedElementsAre(9, 7, 8));
  request.select = Select::kAllProjectedAttributes;
  EXPECT_EQ(all_items(request), keys);
  request.select = Select::kAllAttributes;
  EXPECT_EQ(
      all_items(request)[0],
      (Item{{"pk", "a"}, {"sk", 9}, {"rank", 0}, {"place", "p"}, {"note", "n9"}, {"rest", false}}));
}

TEST_P(Queries, OfALocalIndexFetchEachItemOnceInPagesOfAnySize) {
  std::vector<int64_t> expected;
  for (int i = 0; i < 70; ++i) {
    put("Things", {{"pk", "many"}, {"sk", 100 - i}, {"rank", i}, {"rest", std::string(i, 'x')}});
    expected.push_back(100 - i);
  }
  QueryRequest request = {.table = "Things",
                          .index = "LocalByRank",
                          .key_condition = "pk = :a",
                          .values = {{{":a", "many"}}},
                          .select = Select::kAllAttributes};
  for (const bool forward : {true, false}) {
    request.forward = forward;
    for (const int limit : {1, 31, 32, 33, 69, 70, 100}) {
      request.limit = limit;
      const std::vector<PageResult> all = pages(request);
      EXPECT_EQ(std::ssize(all), 70 / limit + 1);
      EXPECT_EQ(all[0].count, std::min(limit, 70));
      EXPECT_EQ(found(request), expected) << limit;
    }
    std::ranges::reverse(expected);
  }
  for (const Item& item : all_items(request)) EXPECT_TRUE(item.contains("rest"));
}

TEST_P(Queries, OfAGlobalIndexPageOverTiesInBothDirections) {
  for (const bool forward : {true, false}) {
    QueryRequest request = by_place();
    request.limit = 3;
    request.forward = forward;
    std::vector<int64_t> expected = {9, 7, 8, 5, 6, 3, 4, 1, 2, 0};
    std::vector<int64_t> keys = found(request);
    EXPECT_EQ(keys.size(), expected.size());
    std::ranges::sort(keys);
    std::ranges::sort(expected);
    EXPECT_EQ(keys, expected);
  }
  QueryRequest request = by_place();
  request.limit = 1;
  const auto page = client_.query(request);
  ASSERT_THAT(page, IsOk());
  EXPECT_EQ(page->items.at(0),
            (Item{{"pk", "a"}, {"sk", 9}, {"rank", 0}, {"place", "p"}, {"note", "n9"}}));
  EXPECT_EQ(page->last_evaluated_key, (Item{{"pk", "a"}, {"sk", 9}, {"rank", 0}, {"place", "p"}}));
}

TEST_P(Queries, OfAnIndexOnSeveralAttributesTakeAPrefixOfItsSortKey) {
  CreateTableRequest request = hash_table("Many");
  for (const char* name : {"h1", "h2", "r1", "r2"}) {
    request.attributes.push_back({name, ScalarType::kS});
  }
  request.global_indexes = {{index_on("Wide", {{"h1", KeyType::kHash},
                                               {"h2", KeyType::kHash},
                                               {"r1", KeyType::kRange},
                                               {"r2", KeyType::kRange}})}};
  create(request);
  for (const char* id : {"xa1", "xa2", "xb1", "ya1"}) {
    put("Many", {{"pk", id},
                 {"h1", "h"},
                 {"h2", std::string(1, id[0])},
                 {"r1", std::string(1, id[1])},
                 {"r2", std::string(1, id[2])}});
  }
  const auto count = [&](const std::string& more, Values values) {
    values.insert({{":h", "h"}, {":x", "x"}});
    const auto page = client_.query({.table = "Many",
                                     .index = "Wide",
                                     .key_condition = "h1 = :h AND h2 = :x" + more,
                                     .values = std::move(values)});
    EXPECT_THAT(page, IsOk());
    return page ? page->count : -1;
  };
  EXPECT_EQ(count("", {}), 3);
  EXPECT_EQ(count(" AND r1 = :a", {{":a", "a"}}), 2);
  EXPECT_EQ(count(" AND r1 = :a AND r2 > :one", {{":a", "a"}, {":one", "1"}}), 1);
  EXPECT_THAT(client_.query({.table = "Many",
                             .index = "Wide",
                             .key_condition = "h1 = :h",
                             .values = {{{":h", "h"}}}}),
              FailsWith(Code::kValidation, ""));
}

TEST_P(Queries, OfAnIndexOnSeveralAttributesPageOverTiesInBothDirections) {
  CreateTableRequest request = hash_table("Tied");
  for (const char* name : {"h1", "h2", "r1", "r2"}) {
    request.attributes.push_back({name, ScalarType::kN});
  }
  request.global_indexes = {{index_on("Wide", {{"h1", KeyType::kHash},
                                               {"h2", KeyType::kHash},
                                               {"r1", KeyType::kRange},
                                               {"r2", KeyType::kRange}})}};
  create(request);
  for (int i = 0; i < 18; ++i) {
    put("Tied",
        {{"pk", std::to_string(i)}, {"h1", 1}, {"h2", i % 2}, {"r1", i % 3}, {"r2", i / 9}});
  }
  QueryRequest query{.table = "Tied",
                     .index = "Wide",
                     .key_condition = "h1 = :one AND h2 = :zero",
                     .values = {{{":one", 1}, {":zero", 0}}},
                     .limit = 2};
  const auto first = client_.query(query);
  ASSERT_THAT(first, IsOk());
  const Item& last = first->items.back();
  EXPECT_EQ(first->last_evaluated_key, last) << "all of this item is in the keys";
  EXPECT_EQ(last.size(), 5U);
  std::vector<Item> forward = all_items(query);
  EXPECT_EQ(forward.size(), 9U);
  const auto range = [](const Item& item) { return std::pair(item.at("r1"), item.at("r2")); };
  std::set<std::string> keys;
  for (std::size_t i = 0; i < forward.size(); ++i) {
    keys.insert(*forward[i].at("pk").get_if<std::string>());
    if (i == 0) continue;
    const auto [a1, a2] = range(forward[i - 1]);
    const auto [b1, b2] = range(forward[i]);
    EXPECT_TRUE(a1 == b1 ? a2 == b2 || a2 == 0 : a1 == 0 || b1 == 2);
  }
  EXPECT_EQ(keys.size(), 9U);
  query.forward = false;
  std::vector<Item> backward = all_items(query);
  std::ranges::reverse(backward);
  EXPECT_EQ(backward, forward);
  query.key_condition = "h1 = :one AND h2 = :zero AND r2 = :zero";
  EXPECT_THAT(client_.query(query),
              FailsWith(Code::kValidation,
                        "RANGE key attributes r1 must have equality conditions specified in the "
                        "query because a condition is present on key attribute r2"));
}

TEST_P(Queries, CostTheReadsOfTheirPage) {
  QueryRequest request = query_of();
  request.return_capacity = ReturnConsumedCapacity::kIndexes;
  auto page = client_.query(request);
  ASSERT_THAT(page, IsOk());
  EXPECT_EQ(*page->capacity,
            (ConsumedCapacity{
                .table = "Things", .total = {.units = 0.5}, .table_part = Capacity{.units = 0.5}}));
  QueryRequest indexed = by_place();
  indexed.return_capacity = ReturnConsumedCapacity::kIndexes;
  page = client_.query(indexed);
  ASSERT_THAT(page, IsOk());
  EXPECT_EQ(*page->capacity,
            (ConsumedCapacity{.table = "Things",
                              .total = {.units = 0.5},
                              .table_part = Capacity{.units = 0},
                              .global_indexes = {{"GlobalByPlace", {.units = 0.5}}}}));
  indexed.return_capacity = ReturnConsumedCapacity::kTotal;
  EXPECT_EQ(*client_.query(indexed)->capacity,
            (ConsumedCapacity{.table = "Things", .total = {.units = 0.5}}));
}

TEST_P(Queries, EndAPageAtOneMegabyte) {
  constexpr int kLarge = 25;
  for (int sk = 0; sk < kLarge; ++sk) {
    put("Things", {{"pk", "large"}, {"sk", sk}, {"v", std::string(100'000, 'x')}});
  }
  QueryRequest request = query_of();
  request.values->at(":a") = "large";
  const std::vector<PageResult> all = pages(request);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].count, 11);
  EXPECT_EQ(all[0].last_evaluated_key, (Item{{"pk", "large"}, {"sk", 10}}));
  EXPECT_EQ(all[1].count, 11);
  EXPECT_EQ(all[2].count, 3);
  request.filter = "attribute_exists(nothing)";
  const auto filtered = client_.query(request);
  ASSERT_THAT(filtered, IsOk());
  EXPECT_EQ(filtered->count, 0);
  EXPECT_EQ(filtered->scanned_count, 11);
  EXPECT_TRUE(filtered->last_evaluated_key);
}

}  // namespace
}  // namespace stator::test
