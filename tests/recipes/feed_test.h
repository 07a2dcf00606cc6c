// SPDX-License-Identifier: Apache-2.0
// Shared parts of the suites of Feed: each backend, with both layouts and both outboxes.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "recipes/recipe_test.h"
#include "stator/recipes/feed.h"

namespace stator::test {

struct FeedHome {
  std::string kind;
  FeedLayout layout = FeedLayout::kOrdered;
  Outbox outbox = Outbox::kIndex;
};

// All combinations that differ.
inline std::vector<FeedHome> feed_homes() {
  std::vector<FeedHome> homes;
  for (const std::string& kind : recipe_home_kinds()) {
    homes.push_back({kind});
    homes.push_back({kind, FeedLayout::kNewestFirst});
    if (kind != "rocks") homes.push_back({kind, FeedLayout::kOrdered, Outbox::kStream});
    if (kind == "rocks") homes.push_back({kind, FeedLayout::kNewestFirst, Outbox::kStream});
  }
  return homes;
}

inline std::string name_of(const testing::TestParamInfo<FeedHome>& test) {
  const bool ordered = test.param.layout == FeedLayout::kOrdered;
  return test.param.kind + (ordered ? "Ordered" : "NewestFirst") +
         (test.param.outbox == Outbox::kStream ? "Stream" : "");
}

// Requests that write copies; PutItem also publishes and follows.
inline bool is_copying(std::string_view operation) {
  return operation == "BatchExecuteStatement" || operation == "PutItem";
}

class FeedTest : public testing::TestWithParam<FeedHome> {
 protected:
  void SetUp() override {
    if (is_streamed()) STATOR_NEEDS(Ability::kStreams);
    for (const auto& table : Feed::table_definitions(options())) bench.create(table);
    store_settings({{"outbox_shards", 1}});  // as a worker did, before faults are counted
  }

  // Not by a worker: one that has read a stream depends on when later records can be read.
  void store_settings(const Map& settings) {
    const bool numbers = GetParam().layout == FeedLayout::kNewestFirst;
    ASSERT_OK(bench.client.put_item(
        {.table = "Feeds",
         .item = {{"partition_key", options().user_prefix + "SETTINGS#"},
                  {"range_key", numbers ? AttributeValue(0) : AttributeValue("SETTINGS")},
                  {"stator_version", 1},
                  {"stator_settings", settings}}}));
  }

  virtual FeedOptions options() {
    return {.table = "Feeds",
            .layout = GetParam().layout,
            .followers_table = "Followers",
            .parallel_writes = 1,  // faults meet requests in one order
            // The clock of some homes is years ahead of the test's clock.
            .keep_retracted = std::chrono::days(3650),
            .outbox = GetParam().outbox,
            .time = &bench.time};
  }
  static bool is_streamed() { return GetParam().outbox == Outbox::kStream; }
  Feed feed() { return Feed(bench.client, options()); }

  // Publishes a post in a new millisecond.
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
  // A Feed that does not read the settings soon.
  Feed started_feed() {
    Feed started = feed();
    EXPECT_OK(started.deliver_pending());
    return started;
  }
  // Every item of a user's feed as stored, except tombstones.
  std::vector<Item> items_of(const std::string& user) {
    return bench.client
        .query({.table = "Feeds",
                .key_condition = "#pk = :user",
                .filter = "attribute_not_exists(retracted)",
                .names = Names{{"#pk", options().partition_key}},
                .values = Values{{":user", options().user_prefix + user}}})
        .value()
        .items;
  }
  void follow(int count, const UserId& author) {
    for (int i = 0; i < count; ++i) ASSERT_OK(feed().follow({"f" + std::to_string(i)}, author));
  }

  Bench bench{GetParam().kind};
};

#define STATOR_IN_HOMES_AND_LAYOUTS(suite) \
  INSTANTIATE_TEST_SUITE_P(Homes, suite, ::testing::ValuesIn(feed_homes()), name_of)

}  // namespace stator::test
