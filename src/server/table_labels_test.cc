// SPDX-License-Identifier: Apache-2.0
#include "server/table_labels.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace stator::server {
namespace {

TEST(TableLabels, NumberTheFirstNames) {
  TableLabels labels(2);
  EXPECT_EQ(labels.find("a"), TableLabels::kNone);
  EXPECT_EQ(labels.find_or_add("a"), 0U);
  EXPECT_EQ(labels.find_or_add("arn:aws:dynamodb:us-east-1:000000782867:table/b"), 1U);
  EXPECT_EQ(labels.find_or_add("arn:aws:dynamodb:us-east-1:000000782867:table/b/stream/2024"), 1U);
  EXPECT_EQ(labels.find_or_add("c"), TableLabels::kNone);
  EXPECT_EQ(labels.find("a"), 0U);
  EXPECT_EQ(labels.find("b"), 1U);
  EXPECT_EQ(labels.size(), 2U);
  EXPECT_EQ(labels.name(1), "b");
  TableLabels none(0);
  EXPECT_EQ(none.find_or_add("a"), TableLabels::kNone);
}

TEST(TableLabels, NumberEachNameOnceForConcurrentThreads) {
  constexpr std::size_t kNames = 100;
  constexpr std::size_t kThreads = 4;
  TableLabels labels(kNames);
  std::vector<std::vector<std::size_t>> given(kThreads);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (std::vector<std::size_t>& numbers : given) {
    threads.emplace_back([&] {
      for (std::size_t i = 0; i < kNames; ++i) {
        numbers.push_back(labels.find_or_add("table-" + std::to_string(i)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& numbers : given) EXPECT_EQ(numbers, given.front());
  for (std::size_t i = 0; i < kNames; ++i) {
    EXPECT_EQ(labels.name(given[0][i]), "table-" + std::to_string(i));
  }
}

}  // namespace
}  // namespace stator::server
