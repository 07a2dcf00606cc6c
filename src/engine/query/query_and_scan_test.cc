// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "engine/testing/engine_harness.h"

namespace stator {
namespace {

using test::FailsWith;
using test::hash_table;
using test::index_on;
using test::IsOk;
using test::range_table;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Ranges : public test::EngineTest {
 protected:
  Ranges() {
    CreateTableRequest request = range_table();
    request.attributes.push_back({"place", ScalarType::kS});
    request.attributes.push_back({"rank", ScalarType::kN});
    request.local_indexes = {
        {index_on("ByRank", {{"pk", KeyType::kHash}, {"rank", KeyType::kRange}},
                  {.type = ProjectionType::kKeysOnly, .non_key_attributes = {}})}};
    request.global_indexes = {
        {index_on("ByPlace", {{"place", KeyType::kHash}, {"rank", KeyType::kRange}},
                  {.type = ProjectionType::kInclude, .non_key_attributes = {"note"}})}};
    create(request);
  }

  void fill(int count) {
    for (int i = 0; i < count; ++i) {
      ASSERT_THAT(put("Things", {{"pk", "a"},
                                 {"sk", i},
                                 {"place", "p"},
                                 {"rank", i / 5},
                                 {"note", "n" + std::to_string(i)},
                                 {"rest", "r" + std::to_string(i)}}),
                  IsOk());
    }
  }

  std::vector<int64_t> keys(const QueryRequest& request) {
    const auto page = call_and_wait(*engine_, &Engine::query, request);
    EXPECT_THAT(page, IsOk());
    return page ? keys(items_of(*page)) : std::vector<int64_t>();
  }
  static std::vector<int64_t> keys(const std::vector<Item>& items) {
    std::vector<int64_t> keys;
    keys.reserve(items.size());
    for (const Item& item : items) {
      keys.push_back(item.at("sk").get_if<Number>()->to_int64().value());
    }
    return keys;
  }
  static QueryRequest query_a(const std::string& more = {}, Values values = {}) {
    values.emplace(":a", "a");
    return {.table = "Things", .key_condition = "pk = :a" + more, .values = values};
  }
};

TEST_F(Ranges, QueriesFollowEachKeyCondition) {
  for (const int i : {-10, -1, 0, 1, 2, 10, 100}) {
    ASSERT_THAT(put("Things", {{"pk", "a"}, {"sk", i}}), IsOk());
    ASSERT_THAT(put("Things", {{"pk", "b"}, {"sk", i}}), IsOk());
  }
  EXPECT_THAT(keys(query_a()), ElementsAre(-10, -1, 0, 1, 2, 10, 100));
  EXPECT_THAT(keys(query_a(" AND sk = :v", {{":v", 2}})), ElementsAre(2));
  EXPECT_THAT(keys(query_a(" AND sk < :v", {{":v", 1}})), ElementsAre(-10, -1, 0));
  EXPECT_THAT(keys(query_a(" AND sk <= :v", {{":v", 1}})), ElementsAre(-10, -1, 0, 1));
  EXPECT_THAT(keys(query_a(" AND sk > :v", {{":v", 2}})), ElementsAre(10, 100));
  EXPECT_THAT(keys(query_a(" AND sk >= :v", {{":v", 2}})), ElementsAre(2, 10, 100));
  EXPECT_THAT(keys(query_a(" AND sk BETWEEN :v AND :w", {{":v", -1}, {":w", 2}})),
              ElementsAre(-1, 0, 1, 2));
  EXPECT_THAT(keys(query_a(" AND sk > :v", {{":v", 100}})), IsEmpty());
  QueryRequest backward = query_a(" AND sk < :v", {{":v", 2}});
  backward.forward = false;
  EXPECT_THAT(keys(backward), ElementsAre(1, 0, -1, -10));
}

TEST_F(Ranges, BeginsWithFindsEveryPrefix) {
  CreateTableRequest request = range_table("Sorted");
  request.attributes[1].type = ScalarType::kS;
  create(request);
  const std::string zero("a\0b", 3);
  for (const std::string& text : {std::string("a"), zero, std::string("ab"), std::string("a\xff"),
                                  std::string("b"), std::string("A")}) {
    if (text == "a\xff") continue;  // not valid UTF-8
    ASSERT_THAT(put("Sorted", {{"pk", "a"}, {"sk", text}}), IsOk());
  }
  const auto page = call_and_wait(*engine_, &Engine::query,
                                  {.table = "Sorted",
                                   .key_condition = "pk = :a AND begins_with(sk, :p)",
                                   .values = {{{":a", "a"}, {":p", "a"}}}});
  ASSERT_THAT(page, IsOk());
  EXPECT_EQ(page->count, 3);
  EXPECT_EQ(items_of(*page)[0].at("sk"), AttributeValue("a"));
  EXPECT_EQ(items_of(*page)[1].at("sk"), AttributeValue(zero));
}

TEST_F(Ranges, LimitCountsExaminedItems) {
  fill(10);
  QueryRequest request = query_a("", {{":v", 8}});
  request.filter = "#r = :v";
  request.names = {{{"#r", "note"}}};
  request.values->at(":v") = AttributeValue("n8");
  request.limit = 4;
  const auto first = call_and_wait(*engine_, &Engine::query, request);
  ASSERT_THAT(first, IsOk());
  EXPECT_EQ(first->count, 0);
  EXPECT_EQ(first->scanned_count, 4);
  EXPECT_EQ(first->last_evaluated_key, (Item{{"pk", "a"}, {"sk", 3}}));
  EXPECT_THAT(keys(all_pages(request)), ElementsAre(8));
}

TEST_F(Ranges, APageThatEndsAtItsLimitNamesItsLastKeyEvenIfNothingFollows) {
  fill(3);
  QueryRequest request = query_a();
  request.limit = 3;
  const auto page = call_and_wait(*engine_, &Engine::query, request);
  ASSERT_THAT(page, IsOk());
  EXPECT_EQ(page->last_evaluated_key, (Item{{"pk", "a"}, {"sk", 2}}));
  request.limit = 4;
  EXPECT_FALSE(call_and_wait(*engine_, &Engine::query, request)->last_evaluated_key);
}

TEST_F(Ranges, PagesOnTiesNeitherRepeatNorLoseItems) {
  fill(23);
  for (const bool forward : {true, false}) {
    for (const int64_t limit : {1, 2, 3, 7}) {
      for (const char* index : {"ByPlace", "ByRank"}) {
        QueryRequest request{
            .table = "Things",
            .index = index,
            .key_condition = index == std::string("ByPlace") ? "place = :p" : "pk = :p",
            .values = {{{":p", index == std::string("ByPlace") ? "p" : "a"}}},
            .limit = limit,
            .forward = forward};
        const std::vector<int64_t> found = keys(all_pages(request));
        EXPECT_EQ(found.size(), 23U) << index << limit << forward;
        EXPECT_EQ(std::set(found.begin(), found.end()).size(), 23U) << index << limit << forward;
      }
    }
  }
}

TEST_F(Ranges, PagesExamineUpToOneMegabyte) {
  for (int i = 0; i < 30; ++i) {
    ASSERT_THAT(put("Things", {{"pk", "a"}, {"sk", i}, {"v", std::string(100'000, 'x')}}), IsOk());
  }
  const auto page = call_and_wait(*engine_, &Engine::query, query_a());
  ASSERT_THAT(page, IsOk());
  EXPECT_EQ(page->count, 11);
  EXPECT_TRUE(page->last_evaluated_key);
  QueryRequest filtered = query_a();
  filtered.filter = "attribute_exists(nothing)";
  const auto empty = call_and_wait(*engine_, &Engine::query, filtered);
  ASSERT_THAT(empty, IsOk());
  EXPECT_EQ(empty->count, 0);
  EXPECT_EQ(empty->scanned_count, 11);
  EXPECT_TRUE(empty->last_evaluated_key);
  int pages = 0;
  EXPECT_EQ(all_pages(query_a(), &pages).size(), 30U);
  EXPECT_EQ(pages, 3);
}

TEST_F(Ranges, StartKeysAreChecked) {
  fill(3);
  const auto fails = [&](QueryRequest request, Item key) {
    request.exclusive_start_key = std::move(key);
    const auto page = call_and_wait(*engine_, &Engine::query, request);
    return page ? std::string("succeeded") : page.error().message;
  };
  EXPECT_EQ(fails(query_a(), {{"pk", "a"}}),
            "Exclusive Start Key must have same size as table's key schema");
  EXPECT_EQ(fails(query_a(), {{"pk", "a"}, {"sk", "1"}}), "The provided starting key is invalid");
  EXPECT_EQ(fails(query_a(), {{"pk", "b"}, {"sk", 1}}),
            "The provided starting key is outside query boundaries based on provided conditions");
  EXPECT_EQ(fails(query_a(" AND sk > :v", {{":v", 1}}), {{"pk", "a"}, {"sk", 1}}),
            "The provided starting key does not match the range key predicate");
  EXPECT_EQ(fails(query_a(" AND sk > :v", {{":v", 1}}), {{"pk", "b"}, {"sk", 2}}),
            "The provided starting key does not match the range key predicate");
  QueryRequest by_place{.table = "Things",
                        .index = "ByPlace",
                        .key_condition = "place = :p",
                        .values = {{{":p", "p"}}}};
  EXPECT_EQ(fails(by_place, {{"pk", "a"}, {"sk", 1}}), "The provided starting key is invalid");
  EXPECT_EQ(fails(by_place, {{"pk", "a"}, {"sk", 1}, {"place", "q"}, {"rank", 0}}),
            "The provided starting key is outside query boundaries based on provided conditions");
}

TEST_F(Ranges, GlobalIndexesHaveTheirRules) {
  fill(2);
  QueryRequest request{.table = "Things",
                       .index = "ByPlace",
                       .key_condition = "place = :p",
                       .values = {{{":p", "p"}}}};
  const auto page = call_and_wait(*engine_, &Engine::query, request);
  ASSERT_THAT(page, IsOk());
  EXPECT_THAT(items_of(*page),
              Contains(Item{{"pk", "a"}, {"sk", 1}, {"place", "p"}, {"rank", 0}, {"note", "n1"}}));

  QueryRequest consistent = request;
  consistent.consistent_read = true;
  EXPECT_THAT(call_and_wait(*engine_, &Engine::query, consistent),
              FailsWith(Code::kValidation, "Consistent reads are not supported on global"));
  QueryRequest all = request;
  all.select = Select::kAllAttributes;
  EXPECT_THAT(call_and_wait(*engine_, &Engine::query, all),
              FailsWith(Code::kValidation, "ALL_ATTRIBUTES is not supported"));
  QueryRequest missing = request;
  missing.projection = "note, rest";
  EXPECT_THAT(call_and_wait(*engine_, &Engine::query, missing),
              FailsWith(Code::kValidation, "index ByPlace does not project [rest]"));
  QueryRequest unknown = request;
  unknown.index = "Nope";
  EXPECT_THAT(call_and_wait(*engine_, &Engine::query, unknown),
              FailsWith(Code::kValidation, "The table does not have the specified index: Nope"));
}

TEST_F(Ranges, LocalIndexesFetchAttributesThatTheyLack) {
  fill(40);
  QueryRequest request{.table = "Things",
                       .index = "ByRank",
                       .key_condition = "pk = :a",
                       .values = {{{":a", "a"}}},
                       .consistent_read = true};
  EXPECT_THAT(items_of(*call_and_wait(*engine_, &Engine::query, request)),
              Contains(Item{{"pk", "a"}, {"sk", 1}, {"rank", 0}}));
  request.projection = "sk, rest";
  const auto fetched = call_and_wait(*engine_, &Engine::query, request);
  ASSERT_THAT(fetched, IsOk());
  EXPECT_EQ(fetched->count, 40);
  EXPECT_THAT(items_of(*fetched), Contains(Item{{"sk", 39}, {"rest", "r39"}}));
  request.projection.reset();
  request.select = Select::kAllAttributes;
  request.forward = false;
  const auto all = call_and_wait(*engine_, &Engine::query, request);
  ASSERT_THAT(all, IsOk());
  EXPECT_EQ(all->count, 40);
  EXPECT_EQ(items_of(*all)[0].size(), 6U);
  EXPECT_EQ(items_of(*all)[0].at("rank"), AttributeValue(7)) << "the order of equal ranks is free";
}

TEST_F(Ranges, CountsAreReturnedWithoutItems) {
  fill(4);
  QueryRequest request = query_a();
  request.select = Select::kCount;
  const auto page = call_and_wait(*engine_, &Engine::query, request);
  ASSERT_THAT(page, IsOk());
  EXPECT_FALSE(page->items_wanted);
  EXPECT_TRUE(page->items.empty());
  EXPECT_EQ(page->count, 4);
}

TEST_F(Ranges, FiltersOfAQueryDoNotNameItsKeys) {
  QueryRequest request = query_a(" AND sk > :v", {{":v", 1}});
  request.filter = "sk < :v";
  EXPECT_THAT(call_and_wait(*engine_, &Engine::query, request),
              FailsWith(Code::kValidation,
                        "Filter Expression can only contain non-primary key attributes: Primary "
                        "key attribute: sk"));
  request.legacy = true;
  EXPECT_THAT(call_and_wait(*engine_, &Engine::query, request),
              FailsWith(Code::kValidation, "QueryFilter can only contain"));
}

TEST_F(Ranges, FiltersOfAQuerySeeOnlyProjectedAttributes) {
  fill(4);
  QueryRequest request{.table = "Things",
                       .index = "ByRank",
                       .key_condition = "pk = :a",
                       .filter = "rest = :a AND note <> :a",
                       .values = {{{":a", "a"}}}};
  EXPECT_THAT(call_and_wait(*engine_, &Engine::query, request),
              FailsWith(Code::kValidation,
                        "One or more parameter values were invalid: Secondary index ByRank does "
                        "not project one or more filter attributes: [note, rest]"));
  request.index = "ByPlace";
  request.key_condition = "place = :a";
  EXPECT_THAT(call_and_wait(*engine_, &Engine::query, request),
              FailsWith(Code::kValidation,
                        "ByPlace does not project one or more filter "
                        "attributes: [rest]"));
}

TEST_F(Ranges, FiltersOfAScanFindNothingThatTheIndexLacks) {
  fill(4);
  ScanRequest request{.table = "Things", .index = "ByRank", .filter = "attribute_exists(rest)"};
  EXPECT_EQ(all_pages(request).size(), 0U);
  request.filter = "attribute_not_exists(rest)";
  const auto found = call_and_wait(*engine_, &Engine::scan, request);
  ASSERT_THAT(found, IsOk());
  ASSERT_GT(found->count, 0);
  EXPECT_FALSE(items_of(*found)[0].contains("rest"));
}

TEST_F(Ranges, KeysAreScalarsThatNoExpressionLooksInto) {
  constexpr const char* kText =
      "Key attributes must be scalars; list random access '[]' and map lookup '.' are not "
      "allowed: ";
  const std::string of_key = std::string(kText) + "Key: sk";
  const std::string of_index = std::string(kText) + "IndexKey: place";
  const Item key = {{"pk", "a"}, {"sk", 1}};
  QueryRequest query = query_a();
  query.filter = "attribute_exists(sk.x)";
  EXPECT_THAT(call_and_wait(*engine_, &Engine::query, query), FailsWith(Code::kValidation, of_key));
  EXPECT_THAT(call_and_wait(*engine_, &Engine::scan, {.table = "Things", .projection = "place[0]"}),
              FailsWith(Code::kValidation, of_index));
  EXPECT_THAT(call_and_wait(*engine_, &Engine::get_item,
                            {.table = "Things", .key = key, .projection = "sk.x"}),
              FailsWith(Code::kValidation, of_key));
  EXPECT_THAT(update({.table = "Things", .key = key, .update = "SET a = place.x"}),
              FailsWith(Code::kValidation, of_index));
  EXPECT_THAT(update({.table = "Things", .key = key, .update = "REMOVE place[1]"}),
              FailsWith(Code::kValidation, of_index));
  EXPECT_THAT(update({.table = "Things",
                      .key = key,
                      .update = "REMOVE a",
                      .condition = "attribute_exists(sk[0])"}),
              FailsWith(Code::kValidation, of_key));
}

TEST_F(Ranges, SegmentsAreDisjointAndComplete) {
  create(hash_table("Hashed"));
  constexpr int kItems = 200;
  for (int i = 0; i < kItems; ++i) {
    ASSERT_THAT(put("Hashed", {{"pk", "k" + std::to_string(i)}}), IsOk());
  }
  for (const int64_t total : {1, 2, 3, 7, 1'000'000}) {
    std::multiset<std::string> found;
    for (int64_t segment = 0; segment < std::min<int64_t>(total, 1000); ++segment) {
      for (const Item& item : all_pages(ScanRequest{
               .table = "Hashed", .limit = 9, .segment = segment, .total_segments = total})) {
        found.insert(*item.at("pk").get_if<std::string>());
      }
    }
    if (total < 1000) {
      EXPECT_EQ(found.size(), static_cast<std::size_t>(kItems)) << total;
      EXPECT_EQ(std::set(found.begin(), found.end()).size(), found.size()) << total;
    }
  }
}

TEST_F(Ranges, AStartKeyOfAnotherSegmentIsRefused) {
  create(hash_table("Hashed"));
  ASSERT_THAT(put("Hashed", {{"pk", "k"}}), IsOk());
  int refused = 0;
  for (int64_t segment = 0; segment < 4; ++segment) {
    const auto page = call_and_wait(*engine_, &Engine::scan,
                                    {.table = "Hashed",
                                     .segment = segment,
                                     .total_segments = 4,
                                     .exclusive_start_key = {{{"pk", "k"}}}});
    if (!page) {
      EXPECT_THAT(page, FailsWith(Code::kValidation, "with correct Segment"));
      ++refused;
    }
  }
  EXPECT_EQ(refused, 3);
}

TEST_F(Ranges, ScansOfAnIndexSeeOnlyItsItems) {
  fill(6);
  ASSERT_THAT(put("Things", {{"pk", "a"}, {"sk", 100}, {"rank", 1}}), IsOk());     // no `place`
  ASSERT_THAT(put("Things", {{"pk", "a"}, {"sk", 101}, {"place", "p"}}), IsOk());  // no `rank`
  EXPECT_EQ(all_pages(ScanRequest{.table = "Things", .index = "ByPlace", .limit = 4}).size(), 6U);
  EXPECT_EQ(all_pages(ScanRequest{.table = "Things", .index = "ByRank", .limit = 4}).size(), 7U);
  EXPECT_EQ(all_pages(ScanRequest{.table = "Things", .limit = 4}).size(), 8U);
}

TEST_F(Ranges, MultiAttributeKeysUseAPrefixOfTheirRange) {
  CreateTableRequest request = hash_table("Many");
  for (const char* name : {"h1", "h2", "r1", "r2"}) {
    request.attributes.push_back({name, ScalarType::kS});
  }
  request.global_indexes = {{index_on("Many", {{"h1", KeyType::kHash},
                                               {"h2", KeyType::kHash},
                                               {"r1", KeyType::kRange},
                                               {"r2", KeyType::kRange}})}};
  create(request);
  int id = 0;
  for (const char* h2 : {"x", "y"}) {
    for (const char* r1 : {"a", "ab"}) {
      for (const char* r2 : {"1", "2", "3"}) {
        ASSERT_THAT(
            put("Many",
                {{"pk", std::to_string(id++)}, {"h1", "h"}, {"h2", h2}, {"r1", r1}, {"r2", r2}}),
            IsOk());
      }
    }
  }
  const auto count = [&](std::string condition, Values values) {
    const auto page = call_and_wait(*engine_, &Engine::query,
                                    {.table = "Many",
                                     .index = "Many",
                                     .key_condition = std::move(condition),
                                     .values = std::move(values)});
    EXPECT_THAT(page, IsOk());
    return page ? page->count : -1;
  };
  EXPECT_EQ(count("h1 = :h AND h2 = :x", {{":h", "h"}, {":x", "x"}}), 6);
  EXPECT_EQ(count("h1 = :h AND h2 = :x AND r1 = :a", {{":h", "h"}, {":x", "x"}, {":a", "a"}}), 3);
  EXPECT_EQ(
      count("h1 = :h AND h2 = :x AND begins_with(r1, :a)", {{":h", "h"}, {":x", "x"}, {":a", "a"}}),
      6);
  EXPECT_EQ(count("h1 = :h AND h2 = :x AND r1 = :a AND r2 >= :r",
                  {{":h", "h"}, {":x", "x"}, {":a", "a"}, {":r", "2"}}),
            2);
}

}  // namespace
}  // namespace stator
