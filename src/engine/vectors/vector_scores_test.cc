// SPDX-License-Identifier: Apache-2.0
#include "engine/vectors/vector_scores.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "support/from_environment.h"
#include "support/vectors.h"

namespace stator {
namespace {

using Vector = std::vector<float>;

Vector sum(const Vector& one, float factor, const Vector& other) {
  Vector sum(one.size());
  for (std::size_t i = 0; i < one.size(); ++i) sum[i] = one[i] + factor * other[i];
  return sum;
}

// The row of an item with this vector.
std::string row_of(const Vector& vector, const VectorShape& shape) {
  const Hash128 secret{};
  const Item item{{"pk", "a"}, {"vector", test::list_of(vector)}};
  const KeyShape table{.space = kFirstTableSpace, .hash = {{"pk", ScalarType::kS}}, .range = {}};
  return vector_row(secret, table, shape, ItemView(encode_item(item)), 0).value().value;
}

// The bounds are tightest for a query that is parallel to the rounding error of the stored vector.
class VectorScoresOf : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Powers, VectorScoresOf, ::testing::Values(-40, -22, 0, 20));

TEST_P(VectorScoresOf, AreWithinTheirBoundsForTheWorstOfQueries) {
  std::mt19937_64 random(test::number_from_environment("STATOR_SEED", std::random_device{}()));
  std::normal_distribution<double> component(0, std::pow(10.0, GetParam()));
  const auto random_vector = [&](std::size_t dimensions) {
    Vector vector(dimensions);
    for (float& one : vector) one = static_cast<float>(component(random));
    return vector;
  };
  for (std::size_t dimensions = 1; dimensions <= 60; ++dimensions) {
    const VectorShape shape{.key = {.space = kFirstTableSpace + 1, .hash = {}, .range = {}},
                            .filters = {},
                            .attribute = "vector",
                            .dimensions = dimensions};
    const Vector vector = random_vector(dimensions);
    CompactVectors vectors(dimensions);
    vectors.set(0, reinterpret_cast<const char*>(vector.data()));
    Vector kept(dimensions);
    for (std::size_t i = 0; i < dimensions; ++i) {
      Vector unit(dimensions);
      unit[i] = 1;
      kept[i] = vectors.look(unit, 0).product;
    }
    const Vector lacking = sum(vector, -1, kept);
    const std::string value = row_of(vector, shape);
    const VectorRowView row = VectorRowView::of(value, shape).value();

    const Vector zeros(dimensions);
    for (const Vector& query :
         {random_vector(dimensions), vector, kept, zeros, lacking, sum(zeros, -1, lacking),
          sum(kept, 100, lacking), sum(kept, 1, lacking), sum(kept, 2, lacking),
          sum(kept, -1, lacking)}) {
      for (const auto function :
           {VectorDistanceFunction::kCosine, VectorDistanceFunction::kDotProduct,
            VectorDistanceFunction::kEuclidean}) {
        const VectorScores scores(function, query);
        const VectorScores::Bounds bounds = scores.bounds(vectors, 0);
        const bool higher_is_nearer = scores.is_nearer(1, 0);
        const float score = higher_is_nearer ? -scores.of(row) : scores.of(row);
        EXPECT_LE(bounds.low, score) << dimensions << " dimensions";
        EXPECT_GE(bounds.high, score) << dimensions << " dimensions";
      }
    }
  }
}

// Their products and lengths exceed the range of a float.
TEST(VectorScores, OfLargeComponentsAreThoseOfSmallOnes) {
  const VectorShape shape{.key = {.space = kFirstTableSpace + 1, .hash = {}, .range = {}},
                          .filters = {},
                          .attribute = "vector",
                          .dimensions = 2};
  const auto cosine = [&](const Vector& query, const Vector& stored) {
    const std::string value = row_of(stored, shape);
    return VectorScores(VectorDistanceFunction::kCosine, query)
        .of(VectorRowView::of(value, shape).value());
  };
  const float half_right = 1 - std::sqrt(0.5F);
  EXPECT_FLOAT_EQ(cosine({1e20F, 0}, {1e20F, 1e20F}), half_right);
  EXPECT_FLOAT_EQ(cosine({0.1F, 0}, {3e38F, 3e38F}), half_right);
  EXPECT_EQ(cosine({0, 0}, {3e38F, 3e38F}), 1);
}

}  // namespace
}  // namespace stator
