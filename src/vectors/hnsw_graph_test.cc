// SPDX-License-Identifier: Apache-2.0
#include "vectors/hnsw_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <random>
#include <vector>

#include "support/from_environment.h"

namespace stator {
namespace {

using Slot = HnswGraph::Slot;
using Slots = HnswGraph::Slots;
using Vector = std::vector<float>;

constexpr std::size_t kDimensions = 24;
constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

Vector around(const Vector& center, float width, std::mt19937_64& random) {
  std::normal_distribution<float> component(0, width);
  Vector vector = center;
  for (float& one : vector) one += component(random);
  return vector;
}

// Vectors in clusters, like embeddings.
std::vector<Vector> clustered(std::size_t count, std::mt19937_64& random) {
  std::vector<Vector> centers(20);
  for (Vector& center : centers) center = around(Vector(kDimensions), 1, random);
  std::vector<Vector> vectors(count);
  for (Vector& vector : vectors) vector = around(centers[random() % centers.size()], 0.5, random);
  return vectors;
}

float squared_distance(const Vector& one, const Vector& other) {
  float sum = 0;
  for (std::size_t i = 0; i < one.size(); ++i) sum += std::pow(one[i] - other[i], 2.0F);
  return sum;
}

class HnswGraphTest : public ::testing::Test {
 protected:
  HnswGraphTest() { RecordProperty("seed", std::to_string(seed_)); }

  auto from() const {
    return [this](Slot one, std::span<const Slot> others, float* found) {
      distances(vectors_[one], others, found);
    };
  }
  void distances(const Vector& query, std::span<const Slot> others, float* found) const {
    for (std::size_t i = 0; i < others.size(); ++i) {
      found[i] = squared_distance(query, vectors_[others[i]]);
    }
  }
  void add_all() {
    for (Slot slot = 0; slot < vectors_.size(); ++slot)
      graph_.link(graph_.plan(slot, from()), from());
  }

  std::optional<Slots> search(const Vector& query, std::size_t width,
                              FunctionRef<bool(Slot)> passes, std::size_t looks_max = kNoLimit) {
    const auto to_query = [&](std::span<const Slot> others, float* found) {
      looks_ += others.size();
      distances(query, others, found);
    };
    const auto near = graph_.search(to_query, width, passes, looks_max);
    if (!near) return std::nullopt;
    EXPECT_TRUE(std::ranges::is_sorted(*near));
    Slots slots;
    for (const HnswGraph::Near& one : *near) slots.push_back(one.slot);
    return slots;
  }
  Slots nearest(const Vector& query, std::size_t count, FunctionRef<bool(Slot)> passes) const {
    std::vector<HnswGraph::Near> all;
    for (Slot slot = 0; slot < vectors_.size(); ++slot) {
      if (passes(slot)) all.push_back({squared_distance(query, vectors_[slot]), slot});
    }
    std::ranges::sort(all);
    Slots slots;
    for (std::size_t i = 0; i < std::min(count, all.size()); ++i) slots.push_back(all[i].slot);
    return slots;
  }
  // The average share of the ten nearest nodes that searches find.
  double recall(std::size_t width, FunctionRef<bool(Slot)> passes) {
    constexpr std::size_t kTop = 10;
    constexpr int kQueries = 100;
    std::size_t found = 0;
    for (int i = 0; i < kQueries; ++i) {
      const Vector query = around(vectors_[random_() % vectors_.size()], 0.3F, random_);
      Slots expected = nearest(query, kTop, passes);
      Slots slots = search(query, width, passes).value();
      EXPECT_TRUE(std::ranges::all_of(slots, passes));
      EXPECT_LE(slots.size(), width);
      slots.resize(std::min(slots.size(), kTop));
      std::ranges::sort(expected);
      std::ranges::sort(slots);
      Slots both;
      std::ranges::set_intersection(expected, slots, std::back_inserter(both));
      found += both.size();
    }
    return static_cast<double>(found) / (kQueries * kTop);
  }

  const uint64_t seed_ = test::number_from_environment("STATOR_SEED", std::random_device{}());
  std::mt19937_64 random_{seed_};
  std::vector<Vector> vectors_;
  HnswGraph graph_;
  std::size_t looks_ = 0;
};

constexpr auto kAllPass = [](Slot) { return true; };

TEST_F(HnswGraphTest, FindsMostOfTheNearestAndLooksAtFew) {
  vectors_ = clustered(1500, random_);
  add_all();
  EXPECT_EQ(graph_.size(), vectors_.size());
  EXPECT_GE(recall(50, kAllPass), 0.95) << "STATOR_SEED=" << seed_;
  EXPECT_LT(looks_, 100 * vectors_.size() / 4);
}

TEST_F(HnswGraphTest, FindsMostOfTheNearestThatPass) {
  vectors_ = clustered(1500, random_);
  add_all();
  EXPECT_GE(recall(50, [](Slot slot) { return slot % 7 == 0; }), 0.95) << "STATOR_SEED=" << seed_;
}

TEST_F(HnswGraphTest, StopsASearchIfFewPass) {
  vectors_ = clustered(1500, random_);
  add_all();
  const auto passes = [](Slot slot) { return slot == 5; };
  EXPECT_FALSE(search(vectors_[0], 10, passes, 500));
  EXPECT_LT(looks_, 600U);
  EXPECT_EQ(search(vectors_[0], 10, passes), Slots{5});
}

// Plans made at the same time, as by several threads, do not include each other's nodes.
TEST_F(HnswGraphTest, LinksNodesThatWerePlannedTogether) {
  vectors_ = clustered(1500, random_);
  constexpr Slot kTogether = 20;
  for (Slot slot = 0; slot < vectors_.size(); slot += kTogether) {
    std::vector<HnswGraph::Plan> plans;
    for (Slot i = 0; i < kTogether; ++i) plans.push_back(graph_.plan(slot + i, from()));
    for (HnswGraph::Plan& plan : plans) graph_.link(std::move(plan), from());
  }
  Slot found = 0;
  for (Slot slot = 0; slot < kTogether; ++slot) {
    const Slots slots = search(vectors_[slot], 50, kAllPass).value();
    found += std::ranges::count(slots, slot) == 1 ? 1 : 0;
  }
  EXPECT_GE(found, kTogether - 1) << "STATOR_SEED=" << seed_;
  EXPECT_GE(recall(50, kAllPass), 0.95) << "STATOR_SEED=" << seed_;
}

TEST_F(HnswGraphTest, FindsVectorsNextToManyEqualOnes) {
  vectors_ = clustered(500, random_);
  const Vector equal = vectors_[0];
  vectors_.resize(1500, equal);
  std::ranges::shuffle(vectors_, random_);
  add_all();
  std::size_t found = 0;
  for (Slot slot = 0; slot < vectors_.size(); ++slot) {
    if (vectors_[slot] == equal) continue;
    const Slots slots = search(vectors_[slot], 50, kAllPass).value();
    found += std::ranges::count(slots, slot) == 1 ? 1 : 0;
  }
  EXPECT_GE(found, 490U) << "STATOR_SEED=" << seed_;
}

// Nodes far from all others are the worst links of those. Without links that are kept, most such
// graphs lose some.
TEST_F(HnswGraphTest, ReachesNodesFarFromAllOthers) {
  const Vector center(kDimensions);
  for (int i = 0; i < 2000; ++i) {
    vectors_.push_back(around(center, i % 20 == 10 && i < 1500 ? 100 : 1, random_));
  }
  add_all();
  const Slots slots = search(center, vectors_.size(), kAllPass).value();
  EXPECT_EQ(slots.size(), vectors_.size()) << "STATOR_SEED=" << seed_;
}

TEST_F(HnswGraphTest, FindsNothingWithoutNodes) {
  EXPECT_EQ(search(Vector(kDimensions), 10, kAllPass), Slots());
  vectors_.emplace_back(kDimensions);
  EXPECT_FALSE(graph_.contains(0));
  add_all();
  EXPECT_TRUE(graph_.contains(0));
  EXPECT_FALSE(graph_.contains(1));
  EXPECT_EQ(search(Vector(kDimensions), 10, kAllPass), Slots{0});
}

}  // namespace
}  // namespace stator
