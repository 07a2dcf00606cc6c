// SPDX-License-Identifier: Apache-2.0
// Searches with cached vectors, compared with an engine that caches none.
#include "engine/vectors/vector_cache.h"

#include <array>
#include <atomic>
#include <cmath>
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
using test::VectorCacheTest;

TEST_F(VectorCacheTest, AgreesWithTheRowsThroughoutARandomHistory) {
  const uint64_t seed = test::number_from_environment("STATOR_SEED", std::random_device{}());
  SCOPED_TRACE("STATOR_SEED=" + std::to_string(seed));
  for (const bool on_disk : {false, true}) {
    std::mt19937_64 random(seed);
    const auto cached =
        open_with({.bytes_max = 16UL << 20, .rows_min = 10, .changes_max = random() % 20}, on_disk);
    const auto plain = open_with({.bytes_max = 1}, on_disk);
    const auto write = [&](auto operation, const auto& request) {
      EXPECT_THAT(call_and_wait(*cached, operation, request), IsOk());
      EXPECT_THAT(call_and_wait(*plain, operation, request), IsOk());
    };
    for (int step = 0; step < 500; ++step) {
      const Item key{{"pk", std::to_string(random() % 150)}};
      const Item tenant{{"tenant", random() % 4 == 0 ? "b" : "a"}};
      Item item = key;
      item.insert(tenant.begin(), tenant.end());
      if (random() % 3 != 0) item["grade"] = static_cast<int64_t>(random() % 3);
      const float scale = random() % 10 == 0 ? 1e25F : 1.0F;
      if (random() % 8 != 0) item["vector"] = list_of(random_vector(random, scale));
      switch (random() % 8) {
        case 0:
          write(&Engine::delete_item, DeleteItemRequest{.table = "Things", .key = key});
          break;
        case 1:
          write(&Engine::update_item,
                UpdateItemRequest{.table = "Things",
                                  .key = key,
                                  .update = "SET tenant = :t",
                                  .values = Values{{":t", tenant.at("tenant")}}});
          break;
        case 2:
          write(&Engine::transact_write_items,
                TransactWriteItemsRequest{.items = {{.table = "Things", .item = item}}});
          break;
        default:
          write(&Engine::put_item, PutItemRequest{.table = "Things", .item = item});
      }
      if (random() % 3 != 0) continue;
      const std::optional<int> grade =
          random() % 2 == 0 ? std::optional(static_cast<int>(random() % 3)) : std::nullopt;
      const float query_scale = random() % 10 == 0 ? 1e20F : 1.0F;
      auto request = search_of(random_vector(random, query_scale), random() % 3 == 0 ? "b" : "a",
                               grade, 100, index_name(random() % 3));
      std::vector<float> scores = search(*plain, request).scores;
      request.top_k = static_cast<int64_t>(1 + random() % 20);
      const Found found = search(*cached, request);
      const Found expected = search(*plain, request);
      ASSERT_EQ(found.scores, expected.scores) << "step " << step;
      // The order of two equal scores depends on the table's secret.
      std::ranges::sort(scores);
      if (std::ranges::adjacent_find(scores) != scores.end()) continue;
      ASSERT_EQ(found, expected) << "step " << step;
    }
    EXPECT_GT(cached->stats().vector_cache_bytes, 0U);
    EXPECT_EQ(plain->stats().vector_cache_bytes, 0U);
  }
}

// Each pair has one vector. Transactions move it between the two items.
TEST_F(VectorCacheTest, FindsOneStateWhileOthersWrite) {
  constexpr int kPairs = 40;
  for (const bool on_disk : {false, true}) {
    const auto engine = open_with({.rows_min = 10, .changes_max = 30}, on_disk);
    const auto name = [](int pair, int which) {
      return std::to_string(pair) + (which == 0 ? "left" : "right");
    };
    std::mt19937_64 random(1);
    const auto item_of = [&](int pair, int which) {
      return Item{
          {"pk", name(pair, which)}, {"tenant", "a"}, {"vector", list_of(random_vector(random))}};
    };
    for (int pair = 0; pair < kPairs; ++pair) {
      ASSERT_THAT(
          call_and_wait(*engine, &Engine::put_item, {.table = "Things", .item = item_of(pair, 0)}),
          IsOk());
    }
    warm(*engine);
    std::atomic<bool> stops = false;
    std::vector<std::jthread> searchers;
    searchers.reserve(2);
    for (int thread = 0; thread < 2; ++thread) {
      searchers.emplace_back([&, thread] {
        std::mt19937_64 own(static_cast<uint64_t>(thread));
        while (!stops) {
          const Found found = search(*engine, search_of(random_vector(own), "a", {}, 100));
          std::set<int> pairs;
          for (const std::string& key : found.keys) pairs.insert(std::stoi(key));
          EXPECT_EQ(found.keys.size(), std::size_t{kPairs});
          EXPECT_EQ(pairs.size(), std::size_t{kPairs});
        }
      });
    }
    std::array<int, kPairs> places{};
    for (int step = 0; step < 600; ++step) {
      const auto pair = static_cast<int>(random() % kPairs);
      int& place = places[static_cast<std::size_t>(pair)];
      const Item gone{{"pk", name(pair, place)}};
      place = 1 - place;
      TransactWriteItemsRequest request;
      request.items.push_back({.table = "Things", .item = item_of(pair, place)});
      request.items.push_back({.action = TransactAction::kDelete, .table = "Things", .item = gone});
      ASSERT_THAT(call_and_wait(*engine, &Engine::transact_write_items, request), IsOk());
    }
    stops = true;
    searchers.clear();
    EXPECT_GT(engine->stats().vector_cache_bytes, 0U);
  }
}

TEST_F(VectorCacheTest, HasNoMoreThanItsMemory) {
  constexpr std::size_t kMax = 60'000;  // for the vectors of one tenant
  const auto engine = open_with({.bytes_max = kMax, .rows_min = 10, .changes_max = 50});
  const auto plain = open_with({.bytes_max = 1});
  for (Engine* one : {engine.get(), plain.get()}) {
    fill(*one, 300, "a");
    fill(*one, 300, "b");
  }
  const auto bytes = [&] { return engine->stats().vector_cache_bytes; };
  EXPECT_EQ(engine->stats().vector_cache_bytes_max, kMax);
  std::mt19937_64 random(3);
  const auto check = [&](const std::string& tenant) {
    const auto request = search_of(random_vector(random), tenant);
    EXPECT_EQ(search(*engine, request), search(*plain, request));
    EXPECT_LE(bytes(), kMax);
  };
  check("a");
  EXPECT_EQ(bytes(), 0U);
  check("a");
  const std::size_t of_one = bytes();
  EXPECT_GT(of_one, 0U);
  ASSERT_GT(2 * of_one, kMax);
  check("b");
  check("b");
  // b does not replace a yet: otherwise two alternating tenants would be read again and again.
  auto& cache = *engine->parts().vector_cache;
  const auto snapshot = engine->parts().catalog->snapshot();
  const Table& table = **snapshot->find("Things");
  const VectorShape& shape = table.vector_index(index_name(0))->shape;
  const auto is_cached = [&](const std::string& tenant) {
    return cache.use(vector_range(table.secret(), shape, {{"tenant", tenant}}), shape,
                     kFunctions[0]) != nullptr;
  };
  EXPECT_TRUE(is_cached("a"));
  EXPECT_FALSE(is_cached("b"));
  for (int i = 0; i < 10; ++i) check("b");
  EXPECT_TRUE(is_cached("b"));
  EXPECT_FALSE(is_cached("a"));

  fill(*engine, 1000, "b");
  fill(*plain, 1000, "b");
  for (int i = 0; i < 20; ++i) check("b");
  EXPECT_EQ(bytes(), 0U) << "they have grown beyond it";
}

TEST_F(VectorCacheTest, LeavesSmallPartitionsInTheirRows) {
  const auto engine = open_with({.rows_min = 50});
  fill(*engine, 49);
  for (int i = 0; i < 3; ++i) warm(*engine);
  EXPECT_EQ(engine->stats().vector_cache_bytes, 0U);
  fill(*engine, 50);
  warm(*engine);
  EXPECT_GT(engine->stats().vector_cache_bytes, 0U);
}

TEST_F(VectorCacheTest, ReturnsMemoryThatIsNotUsed) {
  const auto engine = open_with({.rows_min = 10});
  fill(*engine, 50);
  warm(*engine);
  for (int i = 0; i < VectorCache::kIdleRounds - 1; ++i) engine->run_maintenance();
  EXPECT_GT(engine->stats().vector_cache_bytes, 0U);
  warm(*engine);
  engine->run_maintenance();
  EXPECT_GT(engine->stats().vector_cache_bytes, 0U);
  for (int i = 0; i < VectorCache::kIdleRounds; ++i) engine->run_maintenance();
  EXPECT_EQ(engine->stats().vector_cache_bytes, 0U);
}

TEST_F(VectorCacheTest, ReadsRowsAgainAfterManyChanges) {
  const auto engine = open_with({.rows_min = 10, .noted_max = 100});
  const auto plain = open_with({.bytes_max = 1});
  fill(*engine, 30);
  warm(*engine);
  fill(*engine, 300);
  fill(*plain, 300);
  const auto request = search_of(Vector(kDimensions, 1), "a");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(search(*engine, request), search(*plain, request));
  EXPECT_GT(engine->stats().vector_cache_bytes, 0U);
}

// A holder of dropped vectors does not see later commits.
TEST_F(VectorCacheTest, NotifiesHoldersOfDroppedVectors) {
  const auto engine = open_with({.rows_min = 10});
  fill(*engine, 50);
  warm(*engine);
  VectorCache& cache = *engine->parts().vector_cache;
  const auto snapshot = engine->parts().catalog->snapshot();
  const Table& table = **snapshot->find("Things");
  const VectorShape& shape = table.vector_index(index_name(0))->shape;
  const KeyRange range = vector_range(table.secret(), shape, {{"tenant", "a"}});
  const Vector query(kDimensions, 1);
  const VectorScores scores(VectorDistanceFunction::kCosine, query);
  const auto use = cache.use(range, shape, kFunctions[0]);
  ASSERT_TRUE(use);
  EXPECT_TRUE(use->candidates(scores, {}, 5, true));
  for (int i = 0; i < VectorCache::kIdleRounds; ++i) cache.drop_idle();
  EXPECT_FALSE(use->candidates(scores, {}, 5, true));
}

// If the vectors cannot be read, the rows are searched.
TEST_F(VectorCacheTest, IsNotNeededForASearch) {
  test::Faults faults;
  const auto engine =
      open_with({.rows_min = 10, .changes_max = 5}, std::make_unique<test::FaultyStore>(faults));
  fill(*engine, 50);
  const auto request = search_of(Vector(kDimensions, 1), "a");
  const Found found = search(*engine, request);
  // Faults do not affect the test's own thread.
  const auto search_with_fault = [&](int operation) {
    std::jthread([&] {
      faults.fail_at(operation, {.code = Code::kIo, .message = "a fault"});
      EXPECT_EQ(search(*engine, request), found);
      EXPECT_TRUE(faults.has_failed());
      faults.mend();
    }).join();
    EXPECT_EQ(engine->stats().vector_cache_bytes, 0U);
  };
  search_with_fault(0);  // the view
  search_with_fault(1);  // its scan
  const auto rewrite = [&] {
    warm(*engine);
    EXPECT_GT(engine->stats().vector_cache_bytes, 0U);
    for (int i = 0; i < 10; ++i) {
      const Item key{{"pk", "a" + std::to_string(i)}};
      EXPECT_THAT(call_and_wait(*engine, &Engine::delete_item, {.table = "Things", .key = key}),
                  IsOk());
    }
    fill(*engine, 50);
  };
  rewrite();
  search_with_fault(0);
  rewrite();
  search_with_fault(1);  // a changed row
}

// With every distance function, most rows are neither read nor scored.
TEST_F(VectorCacheTest, DistinguishesTheNearestFromTheRest) {
  constexpr int kItems = 1500;
  test::Faults faults;
  const auto engine = open_with({}, std::make_unique<test::FaultyStore>(faults));
  fill(*engine, kItems);
  const auto snapshot = engine->parts().catalog->snapshot();
  const Table& table = **snapshot->find("Things");
  std::mt19937_64 random(5);
  const Vector query = random_vector(random);
  for (std::size_t i = 0; i < kFunctions.size(); ++i) {
    const auto request = search_of(query, "a", {}, 5, index_name(i));
    for (int search_number = 0; search_number < 2; ++search_number) search(*engine, request);
    const VectorShape& shape = table.vector_index(index_name(i))->shape;
    auto use = engine->parts().vector_cache->use(
        vector_range(table.secret(), shape, {{"tenant", "a"}}), shape, kFunctions[i]);
    ASSERT_TRUE(use);
    const auto candidates = use->candidates(VectorScores(kFunctions[i], query), {}, 5, true);
    ASSERT_TRUE(candidates);
    EXPECT_EQ(candidates->unchanged, std::size_t{kItems});
    EXPECT_GE(candidates->rows.size(), 5U);
    EXPECT_LT(candidates->rows.size(), 50U);
    use.reset();
    faults.watch(space_range(shape.key.space));
    search(*engine, request);
    EXPECT_EQ(faults.watched_rows(), 0U) << "it scanned rows";
  }
}

}  // namespace
}  // namespace stator
