// SPDX-License-Identifier: Apache-2.0
#include "vectors/compact_vectors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "support/from_environment.h"
#include "vectors/distance.h"

namespace stator {
namespace {

using Vector = std::vector<float>;

const char* bytes_of(const Vector& vector) {
  return reinterpret_cast<const char*>(vector.data());
}

double product_of(const Vector& one, const Vector& other) {
  double sum = 0;
  for (std::size_t i = 0; i < one.size(); ++i) sum += double{one[i]} * other[i];
  return sum;
}

// Magnitudes of components differ widely, between vectors and within some vectors.
TEST(CompactVectors, ReportTheirErrorBound) {
  std::mt19937_64 random(test::number_from_environment("STATOR_SEED", std::random_device{}()));
  std::normal_distribution<float> component;
  for (std::size_t dimensions = 1; dimensions <= 130; ++dimensions) {
    CompactVectors vectors(dimensions);
    std::vector<Vector> all;
    for (uint32_t slot = 0; slot < 40; ++slot) {
      Vector& vector = all.emplace_back(dimensions);
      const auto power = static_cast<float>(random() % 30) - 15;
      for (float& one : vector) one = component(random) * std::pow(10.0F, power);
      if (random() % 4 == 0) vector[random() % dimensions] *= 1000;
      if (slot == 0) vector.assign(dimensions, 0);
      vectors.set(slot, bytes_of(vector));
    }
    Vector query(dimensions);
    for (float& one : query) one = component(random);
    const double query_length = std::sqrt(product_of(query, query));
    for (uint32_t slot = 0; slot < all.size(); ++slot) {
      const double exact = product_of(query, all[slot]);
      const double length = std::sqrt(product_of(all[slot], all[slot]));
      const auto kept = vectors.look(query, slot);
      EXPECT_NEAR(kept.length, length, 1e-5 * length);
      EXPECT_LE(kept.error, length);
      EXPECT_NEAR(kept.kept_length, length, kept.error + 1e-5 * length);
      EXPECT_NEAR(kept.product, exact,
                  query_length * (kept.error + kSumRounding * kept.kept_length))
          << dimensions << " dimensions, slot " << slot;
    }
  }
}

TEST(CompactVectors, OfNormalComponentsAreOffByAHundredth) {
  std::mt19937_64 random(1);
  std::normal_distribution<float> component;
  constexpr std::size_t kDimensions = 1024;
  Vector vector(kDimensions);
  for (float& one : vector) one = component(random);
  CompactVectors vectors(kDimensions);
  vectors.set(0, bytes_of(vector));
  const auto kept = vectors.look(vector, 0);
  EXPECT_LT(kept.error, 0.01F * kept.length);
  EXPECT_NEAR(kept.product, product_of(vector, vector), kept.error * kept.length);
}

TEST(CompactVectors, MultipliesTwoStoredOnes) {
  CompactVectors vectors(3);
  vectors.set(0, bytes_of({127, -63, 1}));
  vectors.set(300, bytes_of({0.5F, 0.25F, -1.27F}));
  EXPECT_NEAR(vectors.product(0, 300), 63.5 - 15.75 - 1.27, 1e-4);
  EXPECT_NEAR(vectors.product(300, 300), std::pow(vectors.kept_length(300), 2), 1e-4);
}

// Components so large that products overflow a float, or so small that they are stored as 0.
TEST(CompactVectors, AreNotFiniteIfAFloatIsTooSmall) {
  CompactVectors vectors(2);
  vectors.set(0, bytes_of({3e38F, 3e38F}));
  EXPECT_FALSE(std::isfinite(vectors.look(Vector{1, 1}, 0).product));
  EXPECT_FALSE(std::isfinite(vectors.look(Vector{1, 1}, 0).length));
  vectors.set(1, bytes_of({1e-40F, 0}));
  EXPECT_EQ(vectors.look(Vector{1, 1}, 1).product, 0);
  EXPECT_GT(vectors.look(Vector{1, 1}, 1).error, 0.99e-40F);
}

TEST(CompactVectors, ReplaceOthersAndCountTheirBytes) {
  constexpr std::size_t kDimensions = 3;
  CompactVectors vectors(kDimensions);
  EXPECT_EQ(vectors.bytes(), 0U);
  for (uint32_t slot = 0; slot < 1000; ++slot) {
    vectors.set(slot, bytes_of({static_cast<float>(slot), 0, 0}));
  }
  EXPECT_EQ(vectors.bytes(), CompactVectors::bytes_of(1000, kDimensions));
  EXPECT_GE(vectors.bytes(), 1000 * kDimensions);
  vectors.set(500, bytes_of({0, 7, 0}));
  const Vector query{1, 10, 0};
  EXPECT_NEAR(vectors.look(query, 500).product, 70, 0.01);
  EXPECT_NEAR(vectors.look(query, 499).product, 499, 0.01);
  EXPECT_NEAR(vectors.look(query, 501).product, 501, 0.01);
}

}  // namespace
}  // namespace stator
