// SPDX-License-Identifier: Apache-2.0
// What the suites of Feed share: the recipe in each home and both layouts.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "recipes/recipe_test.h"
#include "stator/recipes/feed.h"

namespace stator::test {

class FeedTest : public testing::TestWithParam<std::tuple<std::string, FeedLayout>> {
 protected:
  void SetUp() override {
    for (const auto& table : Feed::table_definitions(options())) bench.create(table);
  }

  virtual FeedOptions options() {
    return {.table = "Feeds",
            .layout = std::get<FeedLayout>(GetParam()),
            .followers_table = "Followers",
            .time = &bench.time};
  }
  Feed feed() { return Feed(bench.client, options()); }

  // A post of its own millisecond.
  PostId post(const std::string& author, const std::string& content) {
    bench.time.advance(std::chrono::milliseconds(1));
    return feed().publish({author}, content).value().id;
  }

  static std::vector<std::string> contents(const std::vector<Post>& posts) {
    std::vector<std::string> texts;
    texts.reserve(posts.size());
    for (const Post& post : posts) texts.push_back(post.content);
    return texts;
  }
  std::vector<std::string> texts_of(const UserId& user) {
    return contents(feed().read(user, 1000).value().items);
  }
  // Every item of a user's feed as stored.
  std::vector<Item> items_of(const std::string& user) {
    return bench.client
        .query({.table = "Feeds",
                .key_condition = "#pk = :user",
                .names = Names{{"#pk", options().partition_key}},
                .values = Values{{":user", options().user_prefix + user}}})
        .value()
        .items;
  }
  void follow(int count, const UserId& author) {
    for (int i = 0; i < count; ++i) ASSERT_OK(feed().follow({"f" + std::to_string(i)}, author));
  }

  Bench bench{std::get<std::string>(GetParam())};
};

#define STATOR_IN_HOMES_AND_LAYOUTS(suite)                                                   \
  INSTANTIATE_TEST_SUITE_P(                                                                  \
      Homes, suite,                                                                          \
      ::testing::Combine(::testing::ValuesIn(home_kinds()),                                  \
                         ::testing::Values(FeedLayout::kOrdered, FeedLayout::kNewestFirst)), \
      [](const auto& test) {                                                                 \
        const bool ordered = std::get<1>(test.param) == FeedLayout::kOrdered;                \
        return std::get<0>(test.param) + (ordered ? "Ordered" : "NewestFirst");              \
      })

}  // namespace stator::test
