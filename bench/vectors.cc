// SPDX-License-Identifier: Apache-2.0
// Searches of vectors, compared with a loop over the same vectors in memory.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <random>
#include <span>

#include "bench/contests.h"
#include "bench/vector_table.h"
#include "stator/database.h"
#include "support/temp_dir.h"
#include "support/vectors.h"
#include "vectors/distance.h"

namespace stator::bench {
namespace {

constexpr int64_t kDimensions = 1024;
constexpr std::size_t kVectors = 20'000;  // 80 MB of floats, more than a CPU cache
constexpr int64_t kTop = 10;

using Vector = std::vector<float>;

Vector random_vector(std::mt19937_64& random) {
  std::normal_distribution<float> component;
  Vector vector(kDimensions);
  // Few digits, like embeddings in text form.
  for (float& one : vector) one = std::round(component(random) * 1e4F) / 1e4F;
  return vector;
}

Result<void> fill(Client& client, std::span<const float> vectors) {
  STATOR_RETURN_IF_ERROR(
      client.create_table(vector_table(kDimensions, VectorDistanceFunction::kDotProduct)));
  for (std::size_t i = 0; i < kVectors; ++i) {
    const auto vector = vectors.subspan(i * kDimensions, kDimensions);
    STATOR_RETURN_IF_ERROR(client.put_item(
        {.table = "Vectors",
         .item = {{"pk", i}, {"vector", test::list_of({vector.begin(), vector.end()})}}}));
  }
  return {};
}

// The same dot products, and the ten greatest of them.
OperationFactory plain_loop(const Vector& vectors) {
  return [&vectors](int thread) -> Operation {
    return [&vectors, random = std::mt19937_64(static_cast<uint64_t>(thread))]() mutable {
      const Vector query = random_vector(random);
      std::vector<float> scores(kVectors);
      for (std::size_t i = 0; i < kVectors; ++i) {
        const float* const stored = vectors.data() + i * kDimensions;
        scores[i] = dot_product(query, reinterpret_cast<const char*>(stored));
      }
      std::ranges::nth_element(scores, scores.begin() + kTop, std::greater());
      return std::isfinite(scores[0]);
    };
  };
}

OperationFactory searches(Client& client) {
  return [&client](int thread) -> Operation {
    return [&client, random = std::mt19937_64(static_cast<uint64_t>(thread))]() mutable {
      const auto found = client.search_vectors(
          {.table = "Vectors", .index = "near", .vector = random_vector(random), .top_k = kTop});
      return found && found->results.size() == kTop;
    };
  };
}

}  // namespace

bool vectors(const Settings& settings, Findings& findings) {
  std::mt19937_64 random(1);
  Vector all;
  all.reserve(kVectors * kDimensions);
  for (std::size_t i = 0; i < kVectors; ++i) {
    const Vector one = random_vector(random);
    all.insert(all.end(), one.begin(), one.end());
  }
  const test::TempDir directory;
  auto memory = Database::open();
  auto disk = Database::open({.path = directory.path(), .durability = Durability::kOs});
  for (auto* database : {&memory, &disk}) {
    if (!*database) return false;
    if (const auto filled = fill(**database, all); !filled) {
      std::fprintf(stderr, "vectors: %s\n", filled.error().message.c_str());
      return false;
    }
  }
  const Contest contest{
      .title = fmt::format("vectors: searches of {} of {} dimensions", kVectors, kDimensions),
      .contenders = {{"a loop over them in memory", plain_loop(all)},
                     {"Database, in memory", searches(*memory)},
                     {"Database, on disk", searches(*disk)}}};
  return run_contest(contest, settings.plan, findings.measurements);
}

}  // namespace stator::bench
