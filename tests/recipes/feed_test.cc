// SPDX-License-Identifier: Apache-2.0
#include "stator/recipes/feed.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <thread>

#include "recipes/feed_test.h"

namespace stator {
namespace {

using namespace std::chrono_literals;
using namespace test;

STATOR_IN_HOMES_AND_LAYOUTS(FeedTest);

TEST_P(FeedTest, ShowsAPostToItsAuthorAtOnce) {
  const auto published = feed().publish({"ann"}, "hello");
  ASSERT_OK(published);
  const auto page = feed().read({"ann"}, 20).value();
  ASSERT_EQ(page.items.size(), 1U);
  EXPECT_EQ(page.items[0], (Post{published->id, {"ann"}, "hello", published->id.at()}));
  EXPECT_EQ(published->id.at(), bench.time.now());
  EXPECT_TRUE(page.next.empty());
}

TEST_P(FeedTest, DeliversPostsToTheFollowers) {
  ASSERT_OK(feed().follow({"bob"}, {"ann"}));
  ASSERT_OK(feed().follow({"eve"}, {"ann"}));
  ASSERT_OK(feed().follow({"eve"}, {"bob"}));
  post("ann", "from ann");
  post("bob", "from bob");
  EXPECT_EQ(texts_of({"eve"}), std::vector<std::string>{});
  const auto delivered = feed().deliver_pending();
  ASSERT_OK(delivered);
  EXPECT_EQ(delivered->posts, 2);
  EXPECT_EQ(delivered->copies, 3);
  EXPECT_EQ(texts_of({"eve"}), (std::vector<std::string>{"from bob", "from ann"}));
  EXPECT_EQ(texts_of({"bob"}), (std::vector<std::string>{"from bob", "from ann"}));
  EXPECT_EQ(texts_of({"ann"}), std::vector<std::string>{"from ann"});
  EXPECT_EQ(feed().read({"eve"}, 1).value().items[0].author, UserId{"bob"});
  EXPECT_EQ(feed().deliver_pending()->posts, 0);
}

TEST_P(FeedTest, ReadsNewestFirstInTheOrderOfPublishing) {
  Feed one = feed();
  std::vector<std::string> expected;
  for (int i = 0; i < 50; ++i) {
    // The clock advances once per ten posts, so many have the same microsecond.
    if (i % 10 == 0) bench.time.advance(1ms);
    expected.insert(expected.begin(), std::to_string(i));
    ASSERT_OK(one.publish({"ann"}, std::to_string(i)));
  }
  EXPECT_EQ(texts_of({"ann"}), expected);
}

TEST_P(FeedTest, KeepsItsOrderOverRestartsAndHosts) {
  ASSERT_OK(feed().publish({"ann"}, "first"));
  bench.time.advance(1ms);
  ASSERT_OK(feed().publish({"ann"}, "second"));  // another object, like another process
  EXPECT_EQ(texts_of({"ann"}), (std::vector<std::string>{"second", "first"}));
}

TEST_P(FeedTest, PagesWithoutRepeatsOrSkipsWhilePostsArrive) {
  Feed one = feed();
  std::vector<std::string> expected;
  for (int i = 0; i < 17; ++i) {
    bench.time.advance(1ms);
    expected.insert(expected.begin(), std::to_string(i));
    ASSERT_OK(one.publish({"ann"}, std::to_string(i)));
  }
  for (const int count : {1, 3, 5, 17, 18}) {
    std::vector<std::string> seen;
    std::string cursor;
    do {
      const auto page = one.read({"ann"}, count, cursor).value();
      EXPECT_LE(page.items.size(), static_cast<std::size_t>(count));
      const auto texts = contents(page.items);
      seen.insert(seen.end(), texts.begin(), texts.end());
      cursor = page.next;
      bench.time.advance(1ms);
      ASSERT_OK(one.publish({"ann"}, "while reading"));
    } while (!cursor.empty());
    std::erase(seen, "while reading");
    EXPECT_EQ(seen, expected) << count;
  }
}

TEST_P(FeedTest, RefusesForeignCursorsAndCounts) {
  for (int i = 0; i < 3; ++i) ASSERT_OK(feed().publish({"ann"}, std::to_string(i)));
  const std::string cursor = feed().read({"ann"}, 1).value().next;
  ASSERT_FALSE(cursor.empty());
  EXPECT_FAILS(Code::kBadCursor, feed().read({"bob"}, 1, cursor));
  EXPECT_FAILS(Code::kBadCursor, feed().read({"ann"}, 1, cursor + "A"));
  EXPECT_FAILS(Code::kBadCursor, feed().read({"ann"}, 1, "9223372036854775807"));
  EXPECT_FAILS(Code::kInvalidArgument, feed().read({"ann"}, 0));
  EXPECT_FAILS(Code::kInvalidArgument, feed().read({"ann"}, -1));
  EXPECT_FAILS(Code::kInvalidArgument, feed().read({""}, 1));
}

TEST_P(FeedTest, RefusesBadArgumentsBeforeAnyRequest) {
  Feed one = feed();
  const int before = bench.client.sent();
  EXPECT_FAILS(Code::kInvalidArgument, one.publish({""}, "x"));
  EXPECT_FAILS(Code::kInvalidArgument, one.publish({std::string(1025, 'x')}, "x"));
  EXPECT_FAILS(Code::kInvalidArgument, one.publish({"ann"}, ""));
  EXPECT_FAILS(Code::kInvalidArgument, one.publish({"ann"}, std::string(350'001, 'x')));
  EXPECT_FAILS(Code::kInvalidArgument, one.publish({"ann"}, "\xff"));
  EXPECT_FAILS(Code::kInvalidArgument, one.publish({"ann"}, "x", PostId()));
  EXPECT_FAILS(Code::kInFuture, one.publish({"ann"}, "x", PostId::make(bench.time.now() + 11min)));
  EXPECT_FAILS(Code::kInvalidArgument, one.follow({"ann"}, {"ann"}));
  EXPECT_FAILS(Code::kInvalidArgument, one.follow({"bob"}, {"ann"}, -1));
  EXPECT_FAILS(Code::kInvalidArgument, one.follow({"bob"}, {"ann"}, 1001));
  EXPECT_FAILS(Code::kInvalidArgument, one.edit({"ann"}, PostId::make(bench.time.now()), ""));
  EXPECT_FAILS(Code::kInvalidArgument, one.edit({"ann"}, PostId(), "x"));
  EXPECT_FAILS(Code::kInvalidArgument, one.trim({"ann"}, -1));
  EXPECT_EQ(bench.client.sent(), before);
}

// ---- Exactly once, despite faults

TEST_P(FeedTest, PublishesOnceForOneId) {
  const PostId id = PostId::make(bench.time.now(), "request 7");
  EXPECT_TRUE(feed().publish({"ann"}, "hello", id).value().created);
  bench.time.advance(1h);
  EXPECT_FALSE(feed().publish({"ann"}, "hello", id).value().created);
  EXPECT_EQ(texts_of({"ann"}).size(), 1U);
  EXPECT_FAILS(Code::kConflict, feed().publish({"ann"}, "other", id));
  EXPECT_EQ(texts_of({"ann"}), std::vector<std::string>{"hello"});
}

TEST_P(FeedTest, PublishesOnceWhenTheReplyIsLost) {
  ASSERT_OK(feed().follow({"bob"}, {"ann"}));
  bench.client.first("PutItem", 1, lose_reply());
  post("ann", "hello");
  bench.client.first("PutItem", 1, repeat());
  post("ann", "again");
  ASSERT_OK(feed().deliver_pending());
  EXPECT_EQ(texts_of({"ann"}), (std::vector<std::string>{"again", "hello"}));
  EXPECT_EQ(texts_of({"bob"}), (std::vector<std::string>{"again", "hello"}));
}

TEST_P(FeedTest, DeliversAfterACrashBetweenPublishingAndDelivery) {
  ASSERT_OK(feed().follow({"bob"}, {"ann"}));
  ASSERT_OK(feed().publish({"ann"}, "hello"));
  // The publisher has stopped; any other process finds the post.
  Feed worker = feed();
  EXPECT_EQ(worker.deliver_pending().value().posts, 1);
  EXPECT_EQ(texts_of({"bob"}), std::vector<std::string>{"hello"});
}

TEST_P(FeedTest, DeliversToEachFollowerOnceWhereverAWorkerDies) {
  follow(60, {"ann"});
  ASSERT_OK(feed().publish({"ann"}, "hello"));
  // Each delivery fails at a later request than the previous one, until one succeeds.
  int deaths = 0;
  for (int dies_at = 1;; ++dies_at) {
    bench.client.before([dies_at, n = 0](std::string_view, int) mutable {
      return ++n >= dies_at ? refuse(Code::kAccessDenied) : pass();
    });
    if (feed().deliver_pending()) break;
    ++deaths;
    bench.time.advance(31s);  // the dead worker's claim expires
    ASSERT_LT(deaths, 50);
  }
  bench.client.before(nullptr);
  EXPECT_GE(deaths, 6);
  for (int i = 0; i < 60; ++i) {
    EXPECT_EQ(items_of("f" + std::to_string(i)).size(), 1U);
  }
  EXPECT_EQ(feed().deliver_pending().value().copies, 0);
}

TEST_P(FeedTest, SendsUnprocessedCopiesAgain) {
  follow(30, {"ann"});
  ASSERT_OK(feed().publish({"ann"}, "hello"));
  bench.client.process_at_most(7);
  const auto delivered = feed().deliver_pending();
  ASSERT_OK(delivered);
  EXPECT_EQ(delivered->copies, 30);
  EXPECT_EQ(delivered->batches, 5);  // 25 copies as 7, 7, 7 and 4; then 5
  for (int i = 0; i < 30; ++i) EXPECT_EQ(texts_of({"f" + std::to_string(i)}).size(), 1U);
}

TEST_P(FeedTest, OnePostHasOneKeyInEveryFeed) {
  follow(3, {"ann"});
  ASSERT_OK(feed().publish({"ann"}, "hello"));
  ASSERT_OK(feed().deliver_pending());
  const AttributeValue key = items_of("ann").at(0).at("range_key");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(items_of("f" + std::to_string(i)).at(0).at("range_key"), key);
  }
}

class LargeFeedTest : public FeedTest {
 protected:
  // 1,100 followers: a page and a tenth.
  void SetUp() override {
    FeedTest::SetUp();
    std::vector<WriteRequest> rows;
    for (int i = 0; i < 1100; ++i) {
      rows.push_back(
          {.put = Item{{"author", "ann"}, {"follower", "f" + std::to_string(10'000 + i)}}});
      if (rows.size() == 25) {
        ASSERT_OK(bench.home.client->batch_write_item({.items = {{"Followers", rows}}}));
        rows.clear();
      }
    }
    ASSERT_OK(feed().publish({"ann"}, "hello"));
  }
  // After the first page.
  void expect_resumed() {
    const auto rest = feed().deliver_pending();
    ASSERT_OK(rest);
    EXPECT_EQ(rest->copies, 100);
    EXPECT_EQ(texts_of({"f10000"}).size(), 1U);
    EXPECT_EQ(texts_of({"f11099"}).size(), 1U);
  }
};
STATOR_IN_HOMES_AND_LAYOUTS(LargeFeedTest);

TEST_P(LargeFeedTest, ResumesWhereItStopped) {
  bench.client.before([](std::string_view operation, int nth) {
    return is_copying(operation) && nth > 41 ? refuse(Code::kAccessDenied) : pass();
  });
  EXPECT_FALSE(feed().deliver_pending());
  bench.client.before(nullptr);
  expect_resumed();
}

TEST_P(LargeFeedTest, ResumesAfterTheLastPageOfFollowersThatCouldBeRead) {
  bench.client.before([copied = 0](std::string_view operation, int) mutable {
    if (is_copying(operation)) ++copied;
    return operation == "Query" && copied == 40 ? refuse(Code::kAccessDenied) : pass();
  });
  EXPECT_FALSE(feed().deliver_pending());
  bench.client.before(nullptr);
  expect_resumed();
}

TEST_P(FeedTest, OnePostThatCannotBeDeliveredDoesNotDelayTheOthers) {
  follow(1, {"ann"});
  post("ann", "first");
  post("ann", "second");
  bench.client.before([n = 0](std::string_view operation, int) mutable {
    return is_copying(operation) && ++n == 1 ? refuse(Code::kValidation) : pass();
  });
  EXPECT_FAILS(Code::kValidation, feed().deliver_pending());
  EXPECT_EQ(texts_of({"f0"}).size(), 1U);
  bench.client.before(nullptr);
  ASSERT_OK(feed().deliver_pending());
  EXPECT_EQ(texts_of({"f0"}), (std::vector<std::string>{"second", "first"}));
}

TEST_P(FeedTest, UsesAllShardsOfTheOutbox) {
  FeedOptions sharded = options();
  sharded.outbox_shards = 8;
  Feed one(bench.client, sharded);
  ASSERT_OK(one.follow({"bob"}, {"ann"}));
  for (int i = 0; i < 40; ++i) ASSERT_OK(one.publish({"ann"}, std::to_string(i)));
  std::set<AttributeValue, decltype([](const AttributeValue& a, const AttributeValue& b) {
             return *a.get_if<std::string>() < *b.get_if<std::string>();
           })>
      shards;
  for (const Item& item : items_of("ann")) shards.insert(item.at("outbox"));
  EXPECT_GT(shards.size(), 4U);
  ASSERT_OK(one.deliver_pending());
  EXPECT_EQ(texts_of({"bob"}).size(), 40U);
}

// ---- Retracting

TEST_P(FeedTest, RetractsAPostEverywhere) {
  follow(30, {"ann"});
  const PostId id = feed().publish({"ann"}, "oops").value().id;
  bench.time.advance(1ms);
  ASSERT_OK(feed().publish({"ann"}, "fine"));
  ASSERT_OK(feed().deliver_pending());
  ASSERT_OK(feed().retract({"ann"}, id));
  EXPECT_EQ(texts_of({"ann"}), std::vector<std::string>{"fine"});
  ASSERT_OK(feed().deliver_pending());
  for (int i = 0; i < 30; ++i) {
    EXPECT_EQ(texts_of({"f" + std::to_string(i)}), std::vector<std::string>{"fine"});
  }
  EXPECT_EQ(items_of("ann").size(), 1U);
  EXPECT_FAILS(Code::kNotFound, feed().retract({"ann"}, id));
}

TEST_P(FeedTest, RetractsBeforeDelivery) {
  follow(2, {"ann"});
  const PostId id = feed().publish({"ann"}, "oops").value().id;
  ASSERT_OK(feed().retract({"ann"}, id));
  ASSERT_OK(feed().deliver_pending());
  EXPECT_TRUE(texts_of({"f0"}).empty());
  EXPECT_TRUE(items_of("ann").empty());
}

TEST_P(FeedTest, RetractsInTheMiddleOfADelivery) {
  follow(30, {"ann"});
  const PostId id = feed().publish({"ann"}, "oops").value().id;
  // After the first batch, another worker retracts the post and completes the withdrawal.
  Feed elsewhere(*bench.home.client, options());
  bench.client.before([&](std::string_view operation, int nth) {
    if (is_copying(operation) && nth == 2) {
      EXPECT_OK(elsewhere.retract({"ann"}, id));
      EXPECT_OK(elsewhere.deliver_pending());
    }
    return pass();
  });
  ASSERT_OK(feed().deliver_pending());
  for (int i = 0; i < 30; ++i) EXPECT_TRUE(items_of("f" + std::to_string(i)).empty()) << i;
  EXPECT_TRUE(items_of("ann").empty());
}

TEST_P(FeedTest, AllowsOnlyTheAuthorToRetract) {
  ASSERT_OK(feed().follow({"bob"}, {"ann"}));
  const PostId id = feed().publish({"ann"}, "mine").value().id;
  ASSERT_OK(feed().deliver_pending());
  EXPECT_FAILS(Code::kNotFound, feed().retract({"bob"}, id));
  EXPECT_FAILS(Code::kNotFound, feed().retract({"ann"}, PostId::make(bench.time.now())));
  EXPECT_EQ(texts_of({"bob"}).size(), 1U);
}

TEST_P(FeedTest, PagesPastRetractedPosts) {
  follow(1, {"ann"});
  for (int i = 0; i < 10; ++i) {
    bench.time.advance(1ms);
    const PostId id = feed().publish({"ann"}, std::to_string(i)).value().id;
    if (i != 0) {
      ASSERT_OK(feed().retract({"ann"}, id));
    }
  }
  const auto page = feed().read({"ann"}, 1).value();
  EXPECT_EQ(contents(page.items), std::vector<std::string>{"0"});
  EXPECT_TRUE(page.next.empty());
}

// ---- Followers

TEST_P(FeedTest, PagesThroughFollowers) {
  follow(7, {"ann"});
  ASSERT_OK(feed().follow({"f3"}, {"ann"}));  // again
  ASSERT_OK(feed().unfollow({"f5"}, {"ann"}));
  ASSERT_OK(feed().unfollow({"nobody"}, {"ann"}));
  std::vector<std::string> seen;
  PageOptions page{.limit = 2};
  do {
    const auto part = feed().followers({"ann"}, page).value();
    for (const UserId& user : part.items) seen.push_back(user.text);
    page.cursor = part.next;
  } while (!page.cursor.empty());
  EXPECT_EQ(seen, (std::vector<std::string>{"f0", "f1", "f2", "f3", "f4", "f6"}));
  EXPECT_FAILS(Code::kBadCursor, feed().followers({"ann"}, {.cursor = "f3"}));
}

TEST_P(FeedTest, StopsDeliveringAfterUnfollow) {
  ASSERT_OK(feed().follow({"bob"}, {"ann"}));
  ASSERT_OK(feed().publish({"ann"}, "one"));
  ASSERT_OK(feed().deliver_pending());
  ASSERT_OK(feed().unfollow({"bob"}, {"ann"}));
  ASSERT_OK(feed().publish({"ann"}, "two"));
  ASSERT_OK(feed().deliver_pending());
  EXPECT_EQ(texts_of({"bob"}), std::vector<std::string>{"one"});
}

// An external list of followers, which contains the author by mistake.
class TwoFollowers final : public Followers {
 public:
  Result<Page<UserId>> following(const UserId&, int, const std::string&) override {
    return Page<UserId>();
  }
  Result<Page<UserId>> page(const UserId& author, int, const std::string& cursor) override {
    if (cursor.empty()) return Page<UserId>{.items = {{"x"}, author}, .next = "second"};
    return Page<UserId>{.items = {{"y"}}};
  }
};

TEST_P(FeedTest, ReadsFollowersFromAnotherSource) {
  FeedOptions elsewhere = options();
  elsewhere.followers_table = "";
  elsewhere.followers = std::make_shared<TwoFollowers>();
  EXPECT_EQ(Feed::table_definitions(elsewhere).size(), 1U);
  Feed one(bench.client, elsewhere);
  ASSERT_OK(one.publish({"ann"}, "hello"));
  EXPECT_EQ(one.deliver_pending().value().copies, 2);
  EXPECT_EQ(texts_of({"y"}), std::vector<std::string>{"hello"});
  EXPECT_EQ(texts_of({"ann"}), std::vector<std::string>{"hello"});
  EXPECT_FAILS(Code::kInvalidArgument, one.follow({"bob"}, {"ann"}));
}

TEST_P(FeedTest, ReachesEveryFollowerOnceFromConcurrentPostersAndWorkers) {
  FeedOptions real = options();
  real.time = nullptr;
  real.claim = 200ms;
  Feed one(bench.client, real);
  const std::vector<std::string> users{"a", "b", "c", "d"};
  for (const auto& user : users) {
    for (const auto& author : users) {
      if (user != author) {
        ASSERT_OK(one.follow({user}, {author}));
      }
    }
  }
  constexpr int kPosts = 12;
  {
    std::vector<std::jthread> workers;
    workers.reserve(2);
    for (int i = 0; i < 2; ++i) {
      workers.emplace_back(
          [&](const std::stop_token& stop) { EXPECT_OK(one.run_worker(stop, 1ms)); });
    }
    {
      std::vector<std::jthread> posters;
      posters.reserve(users.size());
      for (const auto& user : users) {
        posters.emplace_back([&, user] {
          for (int i = 0; i < kPosts; ++i) {
            EXPECT_OK(one.publish({user}, user + std::to_string(i)));
          }
        });
      }
    }
  }
  // A claim that a stop cut off can arrive after its release.
  std::this_thread::sleep_for(real.claim);
  ASSERT_OK(one.deliver_pending());
  for (const auto& user : users) {
    const auto page = one.read({user}, 1000).value();
    EXPECT_EQ(page.items.size(), users.size() * kPosts);
    std::map<std::string, int> next;
    for (const auto& author : users) next[author] = kPosts;
    for (const Post& post : page.items) {  // each author's posts in order, newest first
      EXPECT_EQ(post.content, post.author.text + std::to_string(--next[post.author.text]));
    }
  }
}

TEST_P(FeedTest, CostsTheDocumentedUnits) {
  STATOR_NEEDS(Ability::kUnitsOfTransactions);  // those of the backfill
  STATOR_NEEDS(Ability::kUnitsOfIndexes);
  follow(100, {"ann"});
  const Feed one = started_feed();
  const auto publishing = bench.cost_of([&] { ASSERT_OK(one.publish({"ann"}, "hello")); });
  EXPECT_EQ(publishing.requests, 1);
  // The item, and its outbox entry.
  EXPECT_EQ(publishing.write_units, is_streamed() ? 1 : 2);
  const auto delivering = bench.cost_of([&] { ASSERT_OK(one.deliver_pending()); });
  EXPECT_EQ(delivering.by_operation.at("BatchExecuteStatement"), 4);
  if (!is_streamed()) {
    // The outbox, the claim, the followers, the check, the end.
    EXPECT_EQ(delivering.requests, 4 + 5);
    EXPECT_EQ(delivering.write_units, 100 + 1 + 2);  // the copies, the claim, the end and its index
  }
  for (int i = 0; i < 19; ++i) ASSERT_OK(one.publish({"ann"}, "hello"));
  const auto reading = bench.cost_of([&] { EXPECT_EQ(one.read({"ann"}, 20)->items.size(), 20U); });
  EXPECT_EQ(reading.requests, 1);
  EXPECT_EQ(reading.read_units, 1);
  ASSERT_OK(one.deliver_pending());
  const PostId id = one.read({"ann"}, 1)->items[0].id;
  const auto editing = bench.cost_of([&] { ASSERT_OK(one.edit({"ann"}, id, "hello!")); });
  EXPECT_EQ(editing.requests, 1);
  EXPECT_EQ(editing.write_units, is_streamed() ? 1 : 2);
  const auto filling = bench.cost_of([&] { ASSERT_OK(one.follow({"late"}, {"ann"}, 20)); });
  EXPECT_EQ(filling.requests, 3);  // the relation, the posts, the transaction
  EXPECT_EQ(filling.write_units, 1 + 20 * 4);
  const auto trimming = bench.cost_of([&] { EXPECT_EQ(one.trim({"late"}, 5).value(), 15); });
  EXPECT_EQ(trimming.requests, 3);  // the posts to keep, the others, the batch
  EXPECT_EQ(trimming.write_units, 15);
}

class NewestFirstFeedTest : public testing::TestWithParam<std::string> {
 protected:
  FeedOptions options() {
    return {.table = "ticks_test_table", .layout = FeedLayout::kNewestFirst, .time = &bench.time};
  }
  Bench bench{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Homes, NewestFirstFeedTest, testing::ValuesIn(recipe_home_kinds()),
                         [](const auto& test) { return test.param; });

TEST_P(NewestFirstFeedTest, ReadsAndPagesAmongItemsThatOthersWrote) {
  for (const auto& table : Feed::table_definitions(options())) bench.create(table);
  Feed feed(bench.client, options());
  const int64_t start_ns = bench.time.now().unix_seconds() * 1'000'000'000;
  for (int i = 0; i < 6; ++i) {
    bench.time.advance(1ms);
    const int64_t ns = start_ns + int64_t{1'000'000} * (i + 1);
    if (i % 2 == 0) {
      ASSERT_OK(bench.client.put_item({.table = "ticks_test_table",
                                       .item = {{"partition_key", "ann"},
                                                {"range_key", INT64_MAX - ns},
                                                {"content", std::to_string(i)}}}));
    } else {
      ASSERT_OK(feed.publish({"ann"}, std::to_string(i)));
    }
  }
  std::vector<std::string> seen;
  std::string cursor;
  do {
    const auto page = feed.read({"ann"}, 1, cursor).value();
    for (const Post& post : page.items) {
      seen.push_back(post.content);
      EXPECT_EQ(post.at, at("2024-05-01T12:00:00Z") +
                             std::chrono::milliseconds(std::stoi(post.content) + 1));
      EXPECT_EQ(post.id.is_nil(), std::stoi(post.content) % 2 == 0);
    }
    cursor = page.next;
  } while (!cursor.empty());
  EXPECT_EQ(seen, (std::vector<std::string>{"5", "4", "3", "2", "1", "0"}));
}

}  // namespace
}  // namespace stator
