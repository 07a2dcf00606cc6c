// SPDX-License-Identifier: Apache-2.0
// Approximate searches, compared with exact ones.
#include "engine/vectors/vector_graph.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <map>
#include <set>
#include <thread>

#include "engine/testing/faulty_store.h"
#include "engine/vectors/vector_cache_harness.h"
#include "support/from_environment.h"

namespace stator {
namespace {

using test::index_name;
using test::IsOk;
using test::kDimensions;
using test::kFunctions;
using test::list_of;
using test::Vector;

class VectorGraphTest : public test::VectorCacheTest {
 protected:
  static constexpr VectorCacheLimits kGraphs{.bytes_max = 64UL << 20,
                                             .rows_min = 10,
                                             .changes_max = 20,
                                             .graph_rows_min = 500,
                                             .graph_searches_min = 2};

  static void put(Engine& engine, const std::string& key, const Vector& vector, int grade = 0) {
    const Item item{{"pk", key}, {"tenant", "a"}, {"grade", grade}, {"vector", list_of(vector)}};
    ASSERT_THAT(call_and_wait(engine, &Engine::put_item, {.table = "Things", .item = item}),
                IsOk());
  }
  static void erase(Engine& engine, const std::string& key) {
    ASSERT_THAT(
        call_and_wait(engine, &Engine::delete_item, {.table = "Things", .key = {{"pk", key}}}),
        IsOk());
  }
  // Graphs are built at a low priority.
  static constexpr std::chrono::minutes kPatience{10};

  // Searches until a graph contains all rows except those that have changed.
  static void build(Engine& engine, std::size_t rows, std::size_t index = 0) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    const auto request = search_of(Vector(kDimensions, 1), "a", {}, 1, index_name(index));
    while (engine.stats().vector_graph_rows < rows) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline);
      search(engine, request);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  // Searches until no graph is being built.
  static void settle(Engine& engine) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    do {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline);
      search(engine, search_of(Vector(kDimensions, 1), "a", {}, 1));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    } while (engine.stats().vector_graph_builds > 0);
  }
  static Found exact(Engine& engine, SearchVectorsRequest request) {
    request.exact = true;
    return search(engine, request);
  }
  static bool finds(Engine& engine, const Vector& vector, const std::string& key) {
    const Found found = search(engine, search_of(vector, "a"));
    return std::ranges::count(found.keys, key) == 1;
  }

  const uint64_t seed_ = test::number_from_environment("STATOR_SEED", std::random_device{}());
  std::mt19937_64 random_{seed_};
};

TEST_F(VectorGraphTest, FindsMostOfTheNearestAndLooksAtFew) {
  constexpr int kItems = 3000;
  constexpr int kQueries = 40;
  SCOPED_TRACE("STATOR_SEED=" + std::to_string(seed_));
  const auto engine = open_with(kGraphs);
  fill(*engine, kItems);
  for (std::size_t i = 0; i < kFunctions.size(); ++i) {
    build(*engine, (i + 1) * kItems, i);
    for (const std::optional<int> grade : {std::optional<int>(), std::optional(1)}) {
      std::size_t found_keys = 0;
      double looked = 0;
      double all = 0;
      for (int query = 0; query < kQueries; ++query) {
        const auto request = search_of(random_vector(random_), "a", grade, 10, index_name(i));
        const Found found = search(*engine, request);
        const Found expected = exact(*engine, request);
        ASSERT_EQ(found.keys.size(), 10U);
        for (const std::string& key : expected.keys) {
          found_keys += std::ranges::count(found.keys, key) == 1 ? 1 : 0;
        }
        looked += found.bytes;
        all += expected.bytes;
      }
      EXPECT_GE(found_keys, kQueries * 10 * 95 / 100) << "index " << i;
      EXPECT_LT(looked, all / 2) << "index " << i;
    }
  }
}

// A search of the graph would look at most vectors to find some that satisfy the condition.
TEST_F(VectorGraphTest, ComparesAllVectorsThatAConditionLeavesIfTheyAreFew) {
  constexpr int kItems = 3000;
  const auto engine = open_with(kGraphs);
  for (int i = 0; i < kItems; ++i) {
    put(*engine, std::to_string(i), random_vector(random_), i % 20);
  }
  build(*engine, kItems);
  for (int query = 0; query < 10; ++query) {
    const auto request = search_of(random_vector(random_), "a", 1, 10);
    const Found found = search(*engine, request);
    const Found expected = exact(*engine, request);
    EXPECT_EQ(found.keys, expected.keys) << "STATOR_SEED=" << seed_;
    EXPECT_EQ(found.bytes, expected.bytes);
  }
}

// An approximate search can miss some of the nearest items. Those it finds must exist, satisfy the
// condition, and have the scores of an exact search.
TEST_F(VectorGraphTest, FindsItemsWithTheirScoresThroughoutARandomHistory) {
  SCOPED_TRACE("STATOR_SEED=" + std::to_string(seed_));
  constexpr uint64_t kKeys = 700;
  VectorCacheLimits limits = kGraphs;
  limits.graph_rows_min = 50;
  const auto engine = open_with(limits);
  fill(*engine, kKeys);
  build(*engine, kKeys);
  std::map<std::string, Vector> vectors;
  std::map<std::string, int> grades;
  for (uint64_t i = 0; i < kKeys; ++i) erase(*engine, "a" + std::to_string(i));
  std::size_t approximate = 0;
  for (int step = 0; step < 3000; ++step) {
    if (step % 500 == 499) build(*engine, vectors.size() / 2);
    const std::string key = std::to_string(random_() % kKeys);
    if (random_() % 4 == 0) {
      erase(*engine, key);
      vectors.erase(key);
    } else {
      const float scale = random_() % 50 == 0 ? 1e25F : 1.0F;
      vectors[key] = random_() % 50 == 0 ? Vector(kDimensions) : random_vector(random_, scale);
      grades[key] = static_cast<int>(random_() % 3);
      put(*engine, key, vectors[key], grades[key]);
    }
    if (random_() % 4 != 0) continue;
    const std::optional<int> grade =
        random_() % 2 == 0 ? std::optional(static_cast<int>(random_() % 3)) : std::nullopt;
    const auto request = search_of(random_vector(random_), "a", grade, 1 + random_() % 30);
    const auto passing = static_cast<std::size_t>(std::ranges::count_if(
        vectors, [&](const auto& one) { return !grade || grades[one.first] == *grade; }));
    const Found found = search(*engine, request);
    const Found expected = exact(*engine, request);
    ASSERT_EQ(found.keys.size(), std::min(passing, static_cast<std::size_t>(request.top_k)));
    ASSERT_EQ(std::set(found.keys.begin(), found.keys.end()).size(), found.keys.size());
    ASSERT_TRUE(std::ranges::is_sorted(found.scores));
    for (std::size_t i = 0; i < found.keys.size(); ++i) {
      ASSERT_TRUE(vectors.contains(found.keys[i])) << "step " << step;
      ASSERT_TRUE(!grade || grades[found.keys[i]] == *grade) << "step " << step;
      ASSERT_GE(found.scores[i], expected.scores[i]) << "step " << step;
    }
    approximate += found.bytes < expected.bytes ? 1 : 0;
  }
  EXPECT_GT(approximate, 0U) << "no search used a graph";
}

TEST_F(VectorGraphTest, FindsAChangeAtOnceAndAlways) {
  constexpr int kItems = 1000;
  const auto engine = open_with(kGraphs);
  fill(*engine, kItems);
  build(*engine, kItems);
  const Vector vector = random_vector(random_);
  put(*engine, "new", vector);
  EXPECT_TRUE(finds(*engine, vector, "new")) << "noted";
  for (int i = 0; i < 30; ++i) put(*engine, "more" + std::to_string(i), random_vector(random_));
  EXPECT_TRUE(finds(*engine, vector, "new")) << "read again";
  build(*engine, kItems + 31);
  EXPECT_TRUE(finds(*engine, vector, "new")) << "in the graph";

  // The opposite one is never among the nearest, as a random one can be.
  Vector other = vector;
  for (float& one : other) one = -one;
  put(*engine, "new", other);
  for (int i = 0; i < 30; ++i) {
    EXPECT_FALSE(finds(*engine, vector, "new"));
    EXPECT_TRUE(finds(*engine, other, "new"));
    put(*engine, "some" + std::to_string(i), random_vector(random_));
  }
  erase(*engine, "new");
  for (int i = 0; i < 30; ++i) {
    EXPECT_FALSE(finds(*engine, other, "new"));
    put(*engine, "others" + std::to_string(i), random_vector(random_));
  }
}

// Distances of these vectors do not follow from their directions.
TEST_F(VectorGraphTest, FindsVectorsWithoutAnOrdinaryLength) {
  constexpr int kItems = 1000;
  const auto engine = open_with(kGraphs);
  const auto positive = [&](float scale) {
    Vector vector = random_vector(random_, scale);
    for (float& one : vector) one = std::abs(one);
    return vector;
  };
  const Vector query(kDimensions, -1);
  const auto check = [&](const std::string& name) {
    put(*engine, "zero" + name, Vector(kDimensions));
    put(*engine, "huge" + name, Vector(kDimensions, -1e25F));
    const Found found = search(*engine, search_of(query, "a", {}, 100));
    EXPECT_EQ(std::ranges::count(found.keys, "zero" + name), 1) << name;
    EXPECT_EQ(std::ranges::count(found.keys, "huge" + name), 1) << name;
  };
  for (int i = 0; i < kItems; ++i) put(*engine, "a" + std::to_string(i), positive(1));
  check("before");
  build(*engine, kItems);
  check("after");
  for (int i = 0; i < 30; ++i) put(*engine, "b" + std::to_string(i), positive(1));
  build(*engine, kItems + 30);
  for (const char* name : {"before", "after"}) check(name);
}

// With dot products as distances, no node would link to short vectors.
TEST_F(VectorGraphTest, FindsShortVectorsByTheirProducts) {
  constexpr int kItems = 2000;
  constexpr int kQueries = 40;
  const auto engine = open_with(kGraphs);
  std::lognormal_distribution<float> length(0, 1);
  const auto positive = [&] {
    Vector vector = random_vector(random_, length(random_));
    for (float& one : vector) one = std::abs(one);
    return vector;
  };
  for (int i = 0; i < kItems; ++i) put(*engine, std::to_string(i), positive());
  build(*engine, kItems, 1);
  ASSERT_EQ(kFunctions[1], VectorDistanceFunction::kDotProduct);
  for (const float sign : {1.0F, -1.0F}) {
    std::size_t found_keys = 0;
    for (int i = 0; i < kQueries; ++i) {
      Vector query = positive();
      for (float& one : query) one *= sign;
      const auto request = search_of(query, "a", {}, 10, index_name(1));
      const Found found = search(*engine, request);
      for (const std::string& key : exact(*engine, request).keys) {
        found_keys += std::ranges::count(found.keys, key) == 1 ? 1 : 0;
      }
    }
    EXPECT_GE(found_keys, kQueries * 10 * 90 / 100) << sign << ", STATOR_SEED=" << seed_;
  }
}

TEST_F(VectorGraphTest, IsMadeAgainAfterManyChanges) {
  constexpr int kItems = 1000;
  test::Faults faults;
  const auto engine = open_with(kGraphs, std::make_unique<test::FaultyStore>(faults));
  fill(*engine, kItems);
  build(*engine, kItems);
  const auto snapshot = engine->parts().catalog->snapshot();
  const Table& table = **snapshot->find("Things");
  faults.watch(space_range(table.vector_index(index_name(0))->shape.key.space));
  const std::size_t bytes = engine->stats().vector_cache_bytes;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < kItems; ++i) {
      put(*engine, "a" + std::to_string(i), random_vector(random_), i % 3);
      if (i % 50 == 49) settle(*engine);
    }
  }
  EXPECT_EQ(faults.watched_rows(), 0U) << "all rows were read again";
  EXPECT_LT(engine->stats().vector_cache_bytes, 2 * bytes) << "slots are used again";
  std::size_t found = 0;
  for (int i = 0; i < 50; ++i) {
    const auto request = search_of(random_vector(random_), "a", {}, 1);
    found += search(*engine, request).keys == exact(*engine, request).keys ? 1 : 0;
  }
  EXPECT_GE(found, 45U) << "STATOR_SEED=" << seed_;
}

TEST_F(VectorGraphTest, IsCompleteAfterManyDeletions) {
  constexpr int kItems = 1000;
  const auto engine = open_with(kGraphs);
  fill(*engine, kItems);
  build(*engine, kItems);
  for (int i = 0; i < kItems * 4 / 10; ++i) erase(*engine, "a" + std::to_string(i));
  settle(*engine);
  settle(*engine);
  EXPECT_EQ(engine->stats().vector_graph_rows, std::size_t{kItems * 6 / 10});
}

// Each pair has one vector. Transactions move it between the two items.
TEST_F(VectorGraphTest, FindsOneStateWhileOthersWriteAndItIsBuilt) {
  constexpr int kPairs = 600;
  VectorCacheLimits limits = kGraphs;
  limits.graph_rows_min = 100;
  const auto engine = open_with(limits);
  const auto name = [](int pair, int which) {
    return std::to_string(pair) + (which == 0 ? "left" : "right");
  };
  // All vectors are near, so each change can affect the result.
  const Vector query(kDimensions, 1);
  const auto near = [&] {
    Vector vector = random_vector(random_, 0.1F);
    for (float& one : vector) one += 1;
    return vector;
  };
  for (int pair = 0; pair < kPairs; ++pair) put(*engine, name(pair, 0), near());
  build(*engine, kPairs);
  std::atomic<bool> stops = false;
  std::vector<std::jthread> searchers;
  for (int thread = 0; thread < 2; ++thread) {
    searchers.emplace_back([&] {
      while (!stops) {
        const Found found = search(*engine, search_of(query, "a", {}, 20));
        std::set<int> pairs;
        for (const std::string& key : found.keys) pairs.insert(std::stoi(key));
        EXPECT_EQ(found.keys.size(), 20U);
        EXPECT_EQ(pairs.size(), 20U);
      }
    });
  }
  std::array<int, kPairs> places{};
  for (int step = 0; step < 1500; ++step) {
    const auto pair = static_cast<int>(random_() % kPairs);
    int& place = places[static_cast<std::size_t>(pair)];
    const Item gone{{"pk", name(pair, place)}};
    place = 1 - place;
    const Item item{{"pk", name(pair, place)}, {"tenant", "a"}, {"vector", list_of(near())}};
    TransactWriteItemsRequest request;
    request.items.push_back({.table = "Things", .item = item});
    request.items.push_back({.action = TransactAction::kDelete, .table = "Things", .item = gone});
    ASSERT_THAT(call_and_wait(*engine, &Engine::transact_write_items, request), IsOk());
  }
  stops = true;
  searchers.clear();
}

TEST_F(VectorGraphTest, NeedsRowsSearchesAndMemory) {
  constexpr int kItems = 600;
  // The memory of a graph is reserved before it is built.
  const auto cached_bytes = [&](const VectorCacheLimits& limits, int searches) {
    const auto engine = open_with(limits);
    fill(*engine, kItems);
    warm(*engine);
    const auto request = search_of(Vector(kDimensions, 1), "a");
    for (int i = 0; i < searches; ++i) search(*engine, request);
    return engine->stats().vector_cache_bytes;
  };
  VectorCacheLimits limits = kGraphs;
  limits.graph_rows_min = 0;
  const std::size_t without = cached_bytes(limits, 3);
  EXPECT_GT(without, 0U);
  limits.graph_rows_min = kItems + 1;
  EXPECT_EQ(cached_bytes(limits, 3), without);
  limits.graph_rows_min = kItems;
  EXPECT_EQ(cached_bytes(limits, 1), without);
  EXPECT_EQ(cached_bytes(limits, 2), without + VectorGraph::bytes_of(kItems));
  limits.bytes_max = without + VectorGraph::bytes_of(kItems) - 1;
  EXPECT_EQ(cached_bytes(limits, 3), without);
}

TEST_F(VectorGraphTest, IsLeftUnfinishedWhenAnEngineCloses) {
  const auto engine = open_with(kGraphs);
  fill(*engine, 2000);
  for (int i = 0; i < 5; ++i) warm(*engine);
}

}  // namespace
}  // namespace stator
