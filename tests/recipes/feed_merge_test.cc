// SPDX-License-Identifier: Apache-2.0
// Authors above the threshold, whose posts are merged when feeds are read.
#include <functional>
#include <map>

#include "recipes/feed_test.h"

namespace stator {
namespace {

using namespace std::chrono_literals;
using namespace test;

class FeedMerge : public FeedTest {
 protected:
  void SetUp() override {
    FeedTest::SetUp();
    if (!IsSkipped()) store_settings({{"outbox_shards", 1}, {"merged_from", 0}});
  }

  FeedOptions options() override {
    FeedOptions merging = FeedTest::options();
    merging.merge_over = 3;
    return merging;
  }
};
STATOR_IN_HOMES_AND_LAYOUTS(FeedMerge);

TEST_P(FeedMerge, WritesOneCopyForAnyNumberOfFollowers) {
  follow(40, {"star"});
  follow(3, {"ann"});
  post("star", "from the star");
  post("ann", "from ann");
  const auto delivered = feed().deliver_pending().value();
  EXPECT_EQ(delivered.posts, 2);
  EXPECT_EQ(delivered.copies, 1 + 3);
  EXPECT_EQ(items_of("f0").size(), 1U);
  EXPECT_EQ(texts_of({"f0"}), (std::vector<std::string>{"from ann", "from the star"}));
  EXPECT_EQ(texts_of({"f39"}), std::vector<std::string>{"from the star"});
  EXPECT_EQ(texts_of({"star"}), std::vector<std::string>{"from the star"});
  EXPECT_TRUE(texts_of({"stranger"}).empty());
  EXPECT_EQ(feed().read({"f39"}, 1).value().items[0].author, UserId{"star"});
}

// Another worker takes over the claim before the first one has decided how to deliver, and releases
// it. The first one claims the post again and dies. Then an earlier request arrives late.
TEST_P(FeedMerge, ALateRequestDoesNotRemoveAPostThatWasNotDelivered) {
  if (is_streamed()) GTEST_SKIP() << "the worker of a stream sends other updates in between";
  follow(1, {"ann"});
  const std::string own = options().user_prefix + "ann";
  post("ann", "hello");
  int updates = 0;  // of the author's item
  bench.client.before([&](std::string_view operation, int) {
    if (operation != "UpdateItem") return updates < 5 ? pass() : lose_request();
    if (++updates == 2) {
      const Item mine = items_of("ann").at(0);
      EXPECT_TRUE(mine.contains("claim"));
      EXPECT_FALSE(mine.contains("spread"));
      const auto range_key = *mine.find(options().range_key);
      EXPECT_OK(bench.home.client->update_item(
          {.table = "Feeds",
           .key = Item{{options().partition_key, own}, range_key},
           .update = "SET claim = :other, claim_until = :past",
           .values = Values{{":other", "another worker"}, {":past", 1}}}));
    }
    if (updates == 3) return delay();
    return updates <= 5 ? pass() : lose_request();
  });
  (void)feed().deliver_pending();
  EXPECT_GE(updates, 5);
  bench.client.before(nullptr);
  while (bench.client.delayed() > 0) bench.client.arrive(0);
  bench.time.advance(1h);
  EXPECT_OK(feed().deliver_pending());
  EXPECT_EQ(texts_of({"f0"}), std::vector<std::string>{"hello"});
}

TEST_P(FeedMerge, PagesNeitherSkipNorRepeatWhileAuthorsCrossTheThreshold) {
  follow(3, {"ann"});
  follow(3, {"eve"});
  std::vector<std::string> expected;
  const auto say = [&](const std::string& author, int i) {
    const std::string text = author + std::to_string(i);
    post(author, text);
    ASSERT_OK(feed().deliver_pending());
    expected.insert(expected.begin(), text);
  };
  // The number of followers crosses the threshold in both directions. Posts from all periods are
  // read together.
  for (int i = 0; i < 30; ++i) {
    if (i % 10 == 3) {
      ASSERT_OK(feed().follow({"one more"}, {"ann"}));
    }
    if (i % 10 == 7) {
      ASSERT_OK(feed().unfollow({"one more"}, {"ann"}));
    }
    say("ann", i);
    if (i % 2 == 0) say("eve", i);
  }
  EXPECT_EQ(items_of("MERGED#ann").size(), 12U);
  for (const int count : {1, 2, 7, 44, 45, 46}) {
    std::vector<std::string> seen;
    std::string cursor;
    bool above = false;
    do {
      const auto page = feed().read({"f0"}, count, cursor).value();
      for (const Post& entry : page.items) seen.push_back(entry.content);
      cursor = page.next;
      above = !above;
      ASSERT_OK(above ? feed().follow({"one more"}, {"ann"})
                      : feed().unfollow({"one more"}, {"ann"}));
      post("ann", "while reading");
      ASSERT_OK(feed().deliver_pending());
    } while (!cursor.empty());
    std::erase(seen, "while reading");
    EXPECT_EQ(seen, expected) << count;
    ASSERT_OK(feed().unfollow({"one more"}, {"ann"}));
  }
}

TEST_P(FeedMerge, APostKeepsItsDeliveryModeWhenAnotherWorkerResumes) {
  follow(3, {"ann"});
  const PostId id = post("ann", "one");
  // Copying has begun when the author crosses the threshold.
  bench.client.before([](std::string_view operation, int) {
    return is_copying(operation) ? refuse(Code::kAccessDenied) : pass();
  });
  EXPECT_FALSE(feed().deliver_pending());
  bench.client.before(nullptr);
  ASSERT_OK(feed().follow({"f3"}, {"ann"}));
  ASSERT_OK(feed().deliver_pending());
  EXPECT_EQ(items_of("f3").size(), 1U);
  EXPECT_TRUE(items_of("MERGED#ann").empty());
  ASSERT_OK(feed().retract({"ann"}, id));
  ASSERT_OK(feed().deliver_pending());
  for (const char* user : {"ann", "f0", "f1", "f2", "f3"}) EXPECT_TRUE(items_of(user).empty());
}

TEST_P(FeedMerge, EditsAndRetractsMergedPosts) {
  follow(5, {"star"});
  const PostId edited = post("star", "befor");
  const PostId retracted = post("star", "oops");
  ASSERT_OK(feed().deliver_pending());
  // The author is below the threshold now, but the posts stay where they are.
  ASSERT_OK(feed().unfollow({"f3"}, {"star"}));
  ASSERT_OK(feed().unfollow({"f4"}, {"star"}));
  ASSERT_OK(feed().edit({"star"}, edited, "before"));
  ASSERT_OK(feed().retract({"star"}, retracted));
  EXPECT_EQ(feed().deliver_pending().value().copies, 2);
  EXPECT_EQ(texts_of({"f0"}), std::vector<std::string>{"before"});
  EXPECT_TRUE(texts_of({"f4"}).empty());
}

TEST_P(FeedMerge, ANewFollowerReadsMergedPostsOnce) {
  STATOR_NEEDS(Ability::kTransactions);  // a backfill is one
  follow(3, {"star"});
  post("star", "copied");
  ASSERT_OK(feed().deliver_pending());
  ASSERT_OK(feed().follow({"f3"}, {"star"}));
  post("star", "merged");
  ASSERT_OK(feed().deliver_pending());
  ASSERT_OK(feed().follow({"late"}, {"star"}, 10));
  EXPECT_EQ(texts_of({"late"}), (std::vector<std::string>{"merged", "copied"}));
  EXPECT_EQ(items_of("late").size(), 1U);
}

TEST_P(FeedMerge, DeliversOnceWhereverAWorkerDies) {
  follow(5, {"star"});
  post("star", "hello");
  int deaths = 0;
  for (int dies_at = 1;; ++dies_at) {
    bench.client.before([dies_at, n = 0](std::string_view, int) mutable {
      return ++n >= dies_at ? refuse(Code::kAccessDenied) : pass();
    });
    if (feed().deliver_pending()) break;
    ASSERT_LT(++deaths, 50);
    bench.time.advance(31s);
  }
  bench.client.before(nullptr);
  EXPECT_GE(deaths, 6);
  EXPECT_EQ(texts_of({"f0"}), std::vector<std::string>{"hello"});
}

TEST_P(FeedMerge, CostsAReadForEachMergedAuthorThatOneFollows) {
  STATOR_NEEDS(Ability::kUnitsOfIndexes);
  STATOR_NEEDS(Ability::kUnitsOfEmptyReads);
  const auto before = bench.cost_of([&] { EXPECT_OK(feed().read({"f0"}, 20)); });
  EXPECT_EQ(before.requests, 2);
  follow(4, {"star"});
  follow(4, {"moon"});
  for (int i = 0; i < 20; ++i) post(i % 2 == 0 ? "star" : "moon", "hello");
  ASSERT_OK(feed().deliver_pending());
  const auto reading =
      bench.cost_of([&] { EXPECT_EQ(feed().read({"f0"}, 20)->items.size(), 20U); });
  EXPECT_EQ(reading.requests, 5);
  EXPECT_EQ(reading.read_units, 4.5);
  const Feed worker = started_feed();
  ASSERT_OK(worker.publish({"star"}, "hello"));
  const auto delivering = bench.cost_of([&] { ASSERT_OK(worker.deliver_pending()); });
  if (is_streamed()) return;  // the cost of reading a stream depends on its other records
  EXPECT_EQ(delivering.requests, 7);
  EXPECT_EQ(delivering.write_units, 5);
}

// All users share the list of merged authors. Reading it with each read would make it the busiest
// item of the table.
TEST_P(FeedMerge, ReadsShareTheListOfMergedAuthors) {
  const Feed reader = feed();
  const auto queries_of_ten_reads = [&] {
    const int before = bench.client.sent();
    for (int i = 0; i < 10; ++i) EXPECT_OK(reader.read({"f0"}, 20));
    return bench.client.sent() - before;
  };
  EXPECT_EQ(queries_of_ten_reads(), 10 + 1);
  EXPECT_EQ(queries_of_ten_reads(), 10);
  follow(4, {"star"});
  post("star", "hello");
  ASSERT_OK(feed().deliver_pending());
  EXPECT_EQ(queries_of_ten_reads(), 10);
  bench.time.advance(10s);
  // The feed, the followed authors, and the star.
  EXPECT_EQ(queries_of_ten_reads(), 30 + 1);
  EXPECT_EQ(contents(reader.read({"f0"}, 20)->items), std::vector<std::string>{"hello"});
}

// One reader pages while its list of merged authors becomes outdated and is read again. Posts of an
// author who is merged for the first time can be missing until then; nothing else is.
TEST_P(FeedMerge, AnOutdatedListHidesOnlyPostsOfNewlyMergedAuthors) {
  for (const bool caches : {true, false}) {
    const std::string ann = caches ? "ann" : "eve";
    const std::string star = caches ? "star" : "moon";
    const UserId reader{caches ? "f0" : "f1"};
    FeedOptions reading = options();
    if (!caches) reading.merged_refresh = 0ms;
    const Feed one(bench.client, reading);
    const auto page_through = [&](const std::function<void()>& between) {
      std::vector<std::string> seen;
      std::string cursor;
      do {
        const auto page = one.read(reader, 2, cursor).value();
        for (const Post& entry : page.items) {
          if (entry.author.text == ann || entry.author.text == star) seen.push_back(entry.content);
        }
        cursor = page.next;
        between();
      } while (!cursor.empty());
      return seen;
    };
    ASSERT_OK(one.read(reader, 2));  // caches the list
    follow(3, {ann});
    follow(4, {star});
    std::vector<std::string> all;
    for (int i = 0; i < 6; ++i) {
      for (const std::string& author : {ann, star}) {
        post(author, author + std::to_string(i));
        all.insert(all.begin(), author + std::to_string(i));
      }
    }
    ASSERT_OK(feed().deliver_pending());
    const auto seen = page_through([&] { bench.time.advance(6s); });
    if (caches) {
      // The list is read again before the third page: both pages before it have copies only.
      const std::vector<std::string> expected{"ann5",  "ann4", "ann3",  "ann2",
                                              "star1", "ann1", "star0", "ann0"};
      EXPECT_EQ(seen, expected);
    } else {
      EXPECT_EQ(seen, all);
    }
    EXPECT_EQ(page_through([] {}), all);
  }
}

TEST_P(FeedMerge, TheListIsWrittenOnceForEachAuthorAndInParts) {
  for (int i = 0; i < 40; ++i) follow(4, {"star" + std::to_string(i)});
  const Feed worker = feed();
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 40; ++i) post("star" + std::to_string(i), "hello");
    const int before = bench.client.sent("UpdateItem");
    ASSERT_OK(worker.deliver_pending());
    if (is_streamed()) continue;  // it also writes its position
    // The claim, the delivery method, the end, and the list if it is new.
    EXPECT_EQ(bench.client.sent("UpdateItem") - before, 40 * (round == 0 ? 4 : 3));
  }
  std::size_t authors = 0;
  const std::vector<Item> parts = items_of("MERGED#");
  for (const Item& part : parts) authors += part.at("authors").get_if<StringSet>()->size();
  EXPECT_EQ(authors, 40U);
  EXPECT_GT(parts.size(), 8U);
  EXPECT_EQ(feed().read({"f0"}, 100)->items.size(), 80U);
}

TEST_P(FeedMerge, ReadsTheListThatEarlierReleasesWrote) {
  follow(4, {"star"});
  post("star", "hello");
  ASSERT_OK(feed().deliver_pending());
  Item part = items_of("MERGED#").at(0);
  ASSERT_OK(bench.client.delete_item(
      {.table = "Feeds",
       .key = {{"partition_key", "MERGED#"}, {"range_key", part.at("range_key")}}}));
  EXPECT_TRUE(texts_of({"f0"}).empty());
  const bool numbers = GetParam().layout == FeedLayout::kNewestFirst;
  part["range_key"] = numbers ? AttributeValue(0) : AttributeValue("AUTHORS");
  ASSERT_OK(bench.client.put_item({.table = "Feeds", .item = part}));
  EXPECT_EQ(texts_of({"f0"}), std::vector<std::string>{"hello"});
}

TEST_P(FeedMerge, NoUserIsMistakenForAMergedPartition) {
  EXPECT_FAILS(Code::kInvalidArgument, feed().publish({"MERGED#star"}, "x"));
  EXPECT_FAILS(Code::kInvalidArgument, feed().read({"MERGED#"}, 1));
  EXPECT_FAILS(Code::kInvalidArgument, feed().follow({"MERGED#x"}, {"ann"}));
  EXPECT_FAILS(Code::kInvalidArgument, feed().follow({"bob"}, {"FORMER#ann"}));
  EXPECT_FAILS(Code::kInvalidArgument, feed().publish({"SENT#x"}, "x"));
}

}  // namespace
}  // namespace stator
