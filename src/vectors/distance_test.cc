// SPDX-License-Identifier: Apache-2.0
#include "vectors/distance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "support/from_environment.h"

namespace stator {
namespace {

// The lengths cover all remainders, the offsets all alignments.
TEST(Distance, IsThatOfAPlainLoopAtAnyLengthAndAddress) {
  std::mt19937_64 random(test::number_from_environment("STATOR_SEED", std::random_device{}()));
  std::normal_distribution<float> component;
  for (std::size_t count = 1; count <= 300; ++count) {
    std::vector<float> query(count);
    std::vector<float> stored(count);
    double products = 0;
    double squares = 0;
    double magnitude = 0;
    for (std::size_t i = 0; i < count; ++i) {
      query[i] = component(random);
      stored[i] = component(random);
      products += double{query[i]} * stored[i];
      squares += std::pow(double{query[i]} - stored[i], 2);
      magnitude += std::abs(double{query[i]} * stored[i]);
    }
    const std::size_t offset = random() % 64;
    std::string bytes(offset + count * sizeof(float), '\0');
    std::memcpy(bytes.data() + offset, stored.data(), count * sizeof(float));
    const double tolerance = 1e-6 * (magnitude + squares);
    EXPECT_NEAR(dot_product(query, bytes.data() + offset), products, tolerance) << count;
    EXPECT_NEAR(squared_distance(query, bytes.data() + offset), squares, tolerance) << count;
  }
}

TEST(Distance, MultipliesCodesExactly) {
  std::mt19937_64 random(test::number_from_environment("STATOR_SEED", std::random_device{}()));
  for (std::size_t count = 0; count <= 300; ++count) {
    const bool is_extreme = count % 3 == 0;
    std::vector<int8_t> one(count);
    std::vector<int8_t> other(count);
    int32_t products = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const auto code = [&] {
        return static_cast<int8_t>(is_extreme ? 127 : static_cast<int>(random() % 255) - 127);
      };
      one[i] = code();
      other[i] = static_cast<int8_t>(is_extreme && count % 2 == 0 ? -127 : code());
      products += one[i] * other[i];
    }
    EXPECT_EQ(dot_product(one, other.data()), products) << count;
  }
}

TEST(Distance, OfNothingIsZero) {
  EXPECT_EQ(dot_product({}, ""), 0);
  EXPECT_EQ(squared_distance({}, ""), 0);
}

}  // namespace
}  // namespace stator
