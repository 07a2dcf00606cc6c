// SPDX-License-Identifier: Apache-2.0
#include "server/request_id.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

namespace stator::server {
namespace {

TEST(RequestId, HasTheFormOfDynamoDbs) {
  EXPECT_THAT(std::string(RequestId().text()), ::testing::MatchesRegex("[0-9A-V]{48}AAJG"));
}

TEST(RequestId, IsUnlikeAnyOtherOfThisOrAnotherThread) {
  std::vector<std::set<std::string>> of_threads(4);
  std::vector<std::thread> threads;
  threads.reserve(of_threads.size());
  for (auto& ids : of_threads) {
    threads.emplace_back([&ids] {
      for (int i = 0; i < 1000; ++i) ids.emplace(RequestId().text());
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<std::string> all;
  for (const auto& ids : of_threads) all.insert(ids.begin(), ids.end());
  EXPECT_EQ(all.size(), 4000U);
}

}  // namespace
}  // namespace stator::server
