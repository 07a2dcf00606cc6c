// SPDX-License-Identifier: Apache-2.0
// VectorCacheTest: engines with a table of vectors, and searches of it.
#pragma once

#include <gmock/gmock.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "engine/jobs/job_engine.h"
#include "engine/testing/engine_harness.h"
#include "engine/vectors/vector_cache.h"
#include "support/vectors.h"

namespace stator::test {

using Vector = std::vector<float>;

inline constexpr std::size_t kDimensions = 20;
inline constexpr std::array kFunctions{VectorDistanceFunction::kCosine,
                                       VectorDistanceFunction::kDotProduct,
                                       VectorDistanceFunction::kEuclidean};

inline std::string index_name(std::size_t function) {
  return "index" + std::to_string(function);
}

// Has an index for each function, with HASH "tenant" S and the filter "grade" N.
inline CreateTableRequest table_of_tenants() {
  CreateTableRequest request = hash_table();
  request.attributes.push_back({"tenant", ScalarType::kS});
  request.attributes.push_back({"grade", ScalarType::kN});
  request.vector_indexes.emplace();
  for (std::size_t i = 0; i < kFunctions.size(); ++i) {
    request.vector_indexes->push_back(
        {.name = index_name(i),
         .vector_attribute = "vector",
         .search_schema = {{"tenant", SearchSchemaElementType::kHash},
                           {"grade", SearchSchemaElementType::kInlineFilter}},
         .projection = {.type = ProjectionType::kKeysOnly},
         .dimensions = kDimensions,
         .distance_function = kFunctions[i]});
  }
  return request;
}

class VectorCacheTest : public EngineTest {
 protected:
  std::unique_ptr<TransactStore> new_store(bool on_disk) {
    if (!on_disk) return make_memory_store();
    auto store = open_rocks_store({.path = directory_.path() / std::to_string(++directories_),
                                   .durability = Durability::kOs});
    EXPECT_THAT(store, IsOk());
    return std::move(store).value();
  }
  std::unique_ptr<Engine> open_with(const VectorCacheLimits& limits, bool on_disk = false) {
    return open_with(limits, new_store(on_disk));
  }
  std::unique_ptr<Engine> open_with(const VectorCacheLimits& limits,
                                    std::unique_ptr<TransactStore> store) {
    EngineOptions with = options();
    with.vector_cache = limits;
    with.maintenance_interval = {};
    auto engine = Engine::open(std::move(store), with);
    EXPECT_THAT(engine, IsOk());
    EXPECT_THAT((*engine)->create_table(table_of_tenants()), IsOk());
    return std::move(engine).value();
  }

  static SearchVectorsRequest search_of(Vector query, const std::string& tenant,
                                        std::optional<int> grade = {}, int64_t top = 5,
                                        std::string index = index_name(0)) {
    SearchVectorsRequest request{.table = "Things",
                                 .index = std::move(index),
                                 .vector = std::move(query),
                                 .top_k = top,
                                 .condition = "tenant = :t",
                                 .values = Values{{":t", tenant}},
                                 .return_capacity = ReturnConsumedCapacity::kTotal};
    if (grade) {
      request.condition = "tenant = :t AND grade = :g";
      request.values->emplace(":g", *grade);
    }
    return request;
  }
  struct Found {
    std::vector<std::string> keys;
    std::vector<float> scores;
    double bytes = 0;

    bool operator==(const Found&) const = default;
  };
  static Found search(Engine& engine, const SearchVectorsRequest& request) {
    const auto response = call_and_wait(engine, &Engine::search_vectors, request);
    EXPECT_THAT(response, IsOk());
    Found found;
    if (!response) return found;
    found.scores = response->scores;
    found.bytes = *response->capacity->search_bytes;
    for (std::size_t i = 0; i < response->items.size(); ++i) {
      found.keys.push_back(*decode_item(response->items[i]).at("pk").get_if<std::string>());
    }
    return found;
  }

  // Puts items of a tenant, with components between -1 and 1.
  static void fill(Engine& engine, int items, const std::string& tenant = "a") {
    std::mt19937_64 random(7);
    for (int i = 0; i < items; ++i) {
      const Item item{{"pk", tenant + std::to_string(i)},
                      {"tenant", tenant},
                      {"grade", i % 3},
                      {"vector", list_of(random_vector(random))}};
      ASSERT_THAT(call_and_wait(engine, &Engine::put_item, {.table = "Things", .item = item}),
                  IsOk());
    }
  }
  static Vector random_vector(std::mt19937_64& random, float scale = 1) {
    std::uniform_real_distribution<float> component(-scale, scale);
    Vector vector(kDimensions);
    for (float& one : vector) one = component(random);
    return vector;
  }
  // Searches until the vectors are cached.
  static void warm(Engine& engine, const std::string& tenant = "a") {
    const auto request = search_of(Vector(kDimensions, 1), tenant);
    for (int i = 0; i < 2; ++i) search(engine, request);
  }

 private:
  int directories_ = 0;
};

}  // namespace stator::test
