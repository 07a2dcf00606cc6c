// SPDX-License-Identifier: Apache-2.0
// Programs of one feed that have different options.
#include <utility>

#include "recipes/feed_test.h"

namespace stator {
namespace {

using namespace std::chrono_literals;
using namespace test;

class FeedSettings : public FeedTest {
 protected:
  static constexpr int kPosts = 24;

  Feed with_shards(int shards) {
    FeedOptions sharded = options();
    sharded.outbox_shards = shards;
    return Feed(bench.client, sharded);
  }
  Feed merging(int over = 3) {
    FeedOptions merged = options();
    merged.merge_over = over;
    return Feed(bench.client, merged);
  }
  // Random ids, so that the posts are in many shards.
  void publish(const Feed& publisher) {
    for (int i = 0; i < kPosts; ++i) {
      bench.time.advance(1ms);
      ASSERT_OK(publisher.publish({"ann"}, std::to_string(i)));
    }
  }
  Map stored() {
    const std::vector<Item> items = items_of("SETTINGS#");
    return items.empty() ? Map() : *items[0].at("stator_settings").get_if<Map>();
  }
};
STATOR_IN_HOMES_AND_LAYOUTS(FeedSettings);

TEST_P(FeedSettings, WorkersWithFewerShardsDeliverThePostsOfAll) {
  follow(1, {"ann"});
  const Feed worker = feed();
  ASSERT_OK(worker.deliver_pending());
  const Feed publisher = with_shards(8);
  publish(publisher);
  publish(with_shards(2));  // does not lower the stored number
  ASSERT_OK(feed().deliver_pending());
  EXPECT_EQ(texts_of({"f0"}).size(), 2U * kPosts);
  publish(with_shards(64));
  bench.time.advance(1min);  // a worker that is running notices
  ASSERT_OK(worker.deliver_pending());
  EXPECT_EQ(texts_of({"f0"}).size(), 3U * kPosts);
  EXPECT_EQ(worker.deliver_pending().value().posts, 0);
}

TEST_P(FeedSettings, PublishersThatStartTogetherStoreTheHigherNumber) {
  bool overtaken = false;
  bench.client.before([&](std::string_view operation, int) {
    if (operation == "PutItem" && !std::exchange(overtaken, true)) {
      FeedOptions more = options();
      more.outbox_shards = 16;
      EXPECT_OK(Feed(*bench.home.client, more).publish({"eve"}, "hello"));
    }
    return pass();
  });
  ASSERT_OK(with_shards(8).publish({"ann"}, "hello"));
  EXPECT_TRUE(overtaken);
  bench.client.before(nullptr);
  EXPECT_EQ(stored().at("outbox_shards"), AttributeValue(16));
}

TEST_P(FeedSettings, APublisherWhoseSettingsCannotBeStoredPublishesNothing) {
  bench.client.first("PutItem", 1, refuse(Code::kAccessDenied));
  EXPECT_FAILS(Code::kAccessDenied, with_shards(8).publish({"ann"}, "hello"));
  EXPECT_TRUE(texts_of({"ann"}).empty());
}

class MergedFeedSettings : public FeedSettings {
 protected:
  FeedOptions options() override {
    FeedOptions reading = FeedSettings::options();
    reading.followers_table = "Followed";  // has the index of merging
    return reading;
  }
  void SetUp() override {
    FeedOptions merged = options();
    merged.merge_over = 1;
    if (is_streamed()) STATOR_NEEDS(Ability::kStreams);
    for (const auto& table : Feed::table_definitions(merged)) bench.create(table);
  }
};
STATOR_IN_HOMES_AND_LAYOUTS(MergedFeedSettings);

TEST_P(MergedFeedSettings, ReadersWithoutMergingReadEveryPost) {
  STATOR_NEEDS(Ability::kTransactions);  // a backfill is one
  follow(4, {"star"});
  const Feed reader = feed();
  EXPECT_OK(reader.read({"f0"}, 10));  // knows that nothing is merged
  const Feed worker = merging();
  ASSERT_OK(worker.deliver_pending());
  // A reader might have older settings, so posts are copied for a while.
  const auto publish = [&](const std::string& text) {
    bench.time.advance(1ms);
    ASSERT_OK(feed().publish({"star"}, text));
    ASSERT_OK(worker.deliver_pending());
  };
  publish("copied");
  EXPECT_TRUE(items_of("MERGED#star").empty());
  EXPECT_EQ(contents(reader.read({"f0"}, 10)->items), std::vector<std::string>{"copied"});
  bench.time.advance(15min);
  publish("merged");
  EXPECT_EQ(items_of("MERGED#star").size(), 1U);
  const std::vector<std::string> both{"merged", "copied"};
  EXPECT_EQ(contents(reader.read({"f0"}, 10)->items), both);
  // A backfill does not copy posts that might be merged.
  bench.time.advance(1ms);
  ASSERT_OK(feed().publish({"star"}, "next"));
  ASSERT_OK(feed().follow({"late"}, {"star"}, 10));
  EXPECT_EQ(items_of("late").size(), 1U);
  ASSERT_OK(worker.deliver_pending());
  EXPECT_EQ(texts_of({"late"}), (std::vector<std::string>{"next", "merged", "copied"}));
}

TEST_P(MergedFeedSettings, APostThatAWorkerWithoutMergingBeganToCopyIsCopied) {
  follow(4, {"star"});
  ASSERT_OK(merging().deliver_pending());
  bench.time.advance(15min);
  const PostId id = post("star", "hello");
  bench.client.before([](std::string_view operation, int) {
    return is_copying(operation) ? refuse(Code::kAccessDenied) : pass();
  });
  EXPECT_FAILS(Code::kAccessDenied, feed().deliver_pending());
  bench.client.before(nullptr);
  ASSERT_OK(merging().deliver_pending());
  EXPECT_TRUE(items_of("MERGED#star").empty());
  ASSERT_OK(feed().retract({"star"}, id));
  ASSERT_OK(feed().deliver_pending());
  EXPECT_TRUE(texts_of({"f0"}).empty());
}

TEST_P(MergedFeedSettings, AReaderWithoutFollowersIsRefusedIfPostsAreMerged) {
  FeedOptions alone = options();
  alone.followers_table.clear();
  follow(4, {"star"});
  ASSERT_OK(merging().deliver_pending());
  bench.time.advance(15min);
  EXPECT_OK(Feed(bench.client, alone).read({"f0"}, 10));
  post("star", "hello");
  ASSERT_OK(merging().deliver_pending());
  EXPECT_FAILS(Code::kInvalidArgument, Feed(bench.client, alone).read({"f0"}, 10));
}

// A worker that did not know yet that posts can be merged might have begun to copy it.
TEST_P(MergedFeedSettings, APostFromBeforeTheStartOfMergingIsCopied) {
  follow(4, {"star"});
  ASSERT_OK(merging().deliver_pending());
  bench.time.advance(14min);
  post("star", "hello");
  bench.time.advance(1h);
  ASSERT_OK(merging().deliver_pending());
  EXPECT_TRUE(items_of("MERGED#star").empty());
  EXPECT_EQ(texts_of({"f0"}), std::vector<std::string>{"hello"});
}

// Otherwise no feed could be read once a post is merged.
TEST_P(FeedSettings, AWorkerDoesNotMergeWithoutTheIndexOfFollowedAuthors) {
  EXPECT_FAILS(Code::kValidation, merging().deliver_pending());
  EXPECT_FALSE(stored().contains("merged_from"));
}

TEST_P(FeedSettings, AWorkerThatCannotLookForPostsStoresNothing) {
  FeedOptions other = options();
  other.user_prefix = "OTHER#";
  bench.client.before([](std::string_view operation, int) {
    return operation == "Query" || operation == "DescribeTable" ? refuse(Code::kAccessDenied)
                                                                : pass();
  });
  EXPECT_FAILS(Code::kAccessDenied, Feed(bench.client, other).deliver_pending());
  bench.client.before(nullptr);
  other.outbox = Outbox::kNone;
  EXPECT_OK(Feed(bench.client, other).publish({"ann"}, "hello"));
}

TEST_P(FeedSettings, ARunningWorkerStoresThemAgainAfterTheyWereDeleted) {
  follow(1, {"ann"});
  const Feed worker = feed();
  ASSERT_OK(worker.deliver_pending());
  const std::vector<Item> items = items_of("SETTINGS#");
  ASSERT_EQ(items.size(), 1U);
  Item key = items[0];
  key.erase("stator_settings");
  key.erase("stator_version");
  ASSERT_OK(bench.client.delete_item({.table = "Feeds", .key = key}));
  bench.time.advance(1min);
  post("ann", "hello");
  ASSERT_OK(worker.deliver_pending());
  EXPECT_EQ(texts_of({"f0"}), std::vector<std::string>{"hello"});
  EXPECT_EQ(stored().at("outbox_shards"), AttributeValue(1));
}

TEST_P(FeedSettings, DoNotReplaceAnotherProgramsItem) {
  FeedOptions other = options();
  other.user_prefix = "OTHER#";
  const bool numbers = GetParam().layout == FeedLayout::kNewestFirst;
  const Item theirs{{"partition_key", "OTHER#SETTINGS#"},
                    {"range_key", numbers ? AttributeValue(0) : AttributeValue("SETTINGS")},
                    {"mine", 1}};
  ASSERT_OK(bench.client.put_item({.table = "Feeds", .item = theirs}));
  EXPECT_FAILS(Code::kConflict, Feed(bench.client, other).deliver_pending());
  const auto found = bench.client.query({.table = "Feeds",
                                         .key_condition = "partition_key = :pk",
                                         .values = Values{{":pk", "OTHER#SETTINGS#"}}});
  EXPECT_EQ(found.value().items, std::vector<Item>{theirs});
}

}  // namespace
}  // namespace stator
