// SPDX-License-Identifier: Apache-2.0
// Changes after a post was published: its content, the followers, the workers.
#include <algorithm>
#include <set>
#include <utility>

#include "recipes/feed_test.h"

namespace stator {
namespace {

using namespace std::chrono_literals;
using namespace test;

class FeedChanges : public FeedTest {};
STATOR_IN_HOMES_AND_LAYOUTS(FeedChanges);

// ---- Edits

TEST_P(FeedChanges, EditsAPostEverywhereAtItsPosition) {
  follow(30, {"ann"});
  const PostId id = post("ann", "befor");
  post("ann", "later");
  ASSERT_OK(feed().deliver_pending());
  ASSERT_OK(feed().edit({"ann"}, id, "before"));
  EXPECT_EQ(texts_of({"ann"}), (std::vector<std::string>{"later", "before"}));
  EXPECT_EQ(texts_of({"f0"}), (std::vector<std::string>{"later", "befor"}));
  EXPECT_EQ(feed().deliver_pending().value().copies, 30);
  for (int i = 0; i < 30; ++i) {
    const auto page = feed().read({"f" + std::to_string(i)}, 10).value();
    EXPECT_EQ(contents(page.items), (std::vector<std::string>{"later", "before"}));
    EXPECT_EQ(page.items[1].edits, 1);
    EXPECT_EQ(page.items[1].id, id);
  }
  EXPECT_EQ(feed().deliver_pending().value().copies, 0);
}

TEST_P(FeedChanges, OnlyTheAuthorEditsAndOnlyExistingPosts) {
  follow(1, {"ann"});
  const PostId id = post("ann", "mine");
  ASSERT_OK(feed().deliver_pending());
  EXPECT_FAILS(Code::kNotFound, feed().edit({"f0"}, id, "yours"));
  EXPECT_FAILS(Code::kNotFound, feed().edit({"ann"}, PostId::make(bench.time.now()), "x"));
  ASSERT_OK(feed().retract({"ann"}, id));
  EXPECT_FAILS(Code::kNotFound, feed().edit({"ann"}, id, "again"));
  ASSERT_OK(feed().deliver_pending());
  EXPECT_FAILS(Code::kNotFound, feed().edit({"ann"}, id, "again"));
  EXPECT_TRUE(items_of("ann").empty());
  EXPECT_TRUE(items_of("f0").empty());
}

TEST_P(FeedChanges, DeliversAnEditMadeDuringADelivery) {
  follow(60, {"ann"});
  const PostId id = post("ann", "post");
  // During the delivery of the post, then during the delivery of an edit.
  for (const std::string text : {"one", "two"}) {
    bench.client.before([&, edited = false](std::string_view operation, int) mutable {
      if (is_copying(operation) && !std::exchange(edited, true)) {
        EXPECT_OK(Feed(*bench.home.client, options()).edit({"ann"}, id, text));
      }
      return pass();
    });
    ASSERT_OK(feed().deliver_pending());
    bench.client.before(nullptr);
    for (int i = 0; i < 60; ++i) {
      EXPECT_EQ(texts_of({"f" + std::to_string(i)}), std::vector<std::string>{text}) << i;
    }
    ASSERT_OK(feed().edit({"ann"}, id, "meanwhile"));
  }
}

// A worker sleeps during a delivery until another one has taken over. Its writes after that are
// outdated.
TEST_P(FeedChanges, AWorkerThatSleptTooLongCorrectsItsWrites) {
  follow(60, {"ann"});
  for (const bool edits : {true, false}) {
    const PostId id = post("ann", edits ? "one" : "oops");
    bench.client.before([&, slept = false](std::string_view operation, int) mutable {
      if (!is_copying(operation) || slept) return pass();
      slept = true;
      bench.time.advance(31s);
      const Feed elsewhere(*bench.home.client, options());
      EXPECT_OK(edits ? elsewhere.edit({"ann"}, id, "two") : elsewhere.retract({"ann"}, id));
      EXPECT_EQ(elsewhere.deliver_pending().value().posts, 1);
      return pass();
    });
    ASSERT_OK(feed().deliver_pending());
    bench.client.before(nullptr);
  }
  for (int i = 0; i < 60; ++i) {
    EXPECT_EQ(texts_of({"f" + std::to_string(i)}), std::vector<std::string>{"two"}) << i;
  }
}

TEST_P(FeedChanges, DeliversTheEditWhereverAWorkerDies) {
  follow(60, {"ann"});
  const PostId id = post("ann", "one");
  for (int dies_at = 1, edits = 0;; ++dies_at) {
    bench.client.before([dies_at, n = 0](std::string_view, int) mutable {
      return ++n >= dies_at ? refuse(Code::kAccessDenied) : pass();
    });
    const bool through = feed().deliver_pending().has_value();
    bench.client.before(nullptr);
    bench.time.advance(31s);
    if (!through) {
      ASSERT_LT(dies_at, 200);
      ASSERT_OK(feed().edit({"ann"}, id, "edit " + std::to_string(++edits)));
      continue;
    }
    EXPECT_GE(edits, 6);
    for (int i = 0; i < 60; ++i) {
      EXPECT_EQ(texts_of({"f" + std::to_string(i)}),
                std::vector<std::string>{"edit " + std::to_string(edits)});
    }
    break;
  }
}

TEST_P(FeedChanges, PublishingAgainAfterAnEditChangesNothing) {
  const PostId id = PostId::make(bench.time.now(), "request 7");
  ASSERT_OK(feed().publish({"ann"}, "one", id));
  ASSERT_OK(feed().edit({"ann"}, id, "two"));
  EXPECT_FALSE(feed().publish({"ann"}, "one", id).value().created);
  EXPECT_EQ(texts_of({"ann"}), std::vector<std::string>{"two"});
}

// ---- Claims

TEST_P(FeedChanges, AWorkerLeavesStartedPostsToTheirWorker) {
  follow(60, {"ann"});
  post("ann", "hello");
  bench.client.before([&](std::string_view operation, int nth) {
    if (is_copying(operation) && nth == 2) {
      const auto other = Feed(*bench.home.client, options()).deliver_pending();
      EXPECT_OK(other);
      EXPECT_EQ(other->copies, 0);
    }
    return pass();
  });
  EXPECT_EQ(feed().deliver_pending().value().copies, 60);
}

TEST_P(FeedChanges, AWorkerThatIsStoppedLeavesItsPostsToTheNextAtOnce) {
  follow(60, {"ann"});
  post("ann", "hello");
  std::stop_source stop;
  bench.client.before([&](std::string_view operation, int) {
    if (is_copying(operation)) stop.request_stop();
    return pass();
  });
  EXPECT_FAILS(Code::kCancelled, feed().deliver_pending(stop.get_token()));
  bench.client.before(nullptr);
  EXPECT_EQ(feed().deliver_pending().value().posts, 1);
  for (int i = 0; i < 60; ++i) EXPECT_EQ(texts_of({"f" + std::to_string(i)}).size(), 1U);
}

// Some endpoints do not return the item for which a condition failed.
TEST_P(FeedChanges, DoesNotTreatARefusalWithoutAnItemAsAbsence) {
  follow(2, {"ann"});
  const PostId id = post("ann", "hello");
  bench.client.first("PutItem", 1, refuse(Code::kConditionalCheckFailed));
  EXPECT_FAILS(Code::kConflict, feed().publish({"ann"}, "other", id));
  bench.client.before([is_copied = false](std::string_view operation, int) mutable {
    is_copied = is_copied || is_copying(operation);
    // The end of the delivery, and the next claim.
    const bool refused = is_copied && operation == "UpdateItem";
    return refused ? refuse(Code::kConditionalCheckFailed) : pass();
  });
  ASSERT_OK(feed().deliver_pending());
  bench.client.before(nullptr);
  EXPECT_EQ(texts_of({"f0"}), std::vector<std::string>{"hello"});
  EXPECT_EQ(texts_of({"ann"}), std::vector<std::string>{"hello"});
}

TEST_P(FeedChanges, ConflictsThatPersistAreRetryable) {
  const Feed others(*bench.home.client, options());
  const PostId id = post("ann", "one");
  bench.client.before([&](std::string_view operation, int) {
    if (operation == "UpdateItem") {
      EXPECT_OK(others.edit({"ann"}, id, "theirs"));
    } else if (operation == "PutItem") {
      EXPECT_OK(others.follow({"bob"}, {"ann"}));
    }
    return pass();
  });
  const auto edited = feed().edit({"ann"}, id, "mine");
  const auto followed = feed().follow({"bob"}, {"ann"});
  bench.client.before(nullptr);
  EXPECT_FAILS(Code::kTransactionConflict, edited);
  EXPECT_FAILS(Code::kTransactionConflict, followed);
  EXPECT_TRUE(edited.error().retryable());
}

// ---- Trimming

TEST_P(FeedChanges, TrimsToTheNewest) {
  follow(1, {"ann"});
  for (int i = 0; i < 60; ++i) post("ann", std::to_string(i));
  ASSERT_OK(feed().deliver_pending());
  EXPECT_EQ(feed().trim({"f0"}, 3).value(), 57);
  EXPECT_EQ(texts_of({"f0"}), (std::vector<std::string>{"59", "58", "57"}));
  EXPECT_EQ(feed().trim({"f0"}, 3).value(), 0);
  EXPECT_EQ(feed().trim({"f0"}, 4).value(), 0);
  EXPECT_EQ(feed().trim({"f0"}, 0).value(), 3);
  EXPECT_TRUE(items_of("f0").empty());
  EXPECT_EQ(texts_of({"ann"}).size(), 60U);
  EXPECT_EQ(feed().trim({"ann"}, 1).value(), 59);
}

TEST_P(FeedChanges, TrimmedPostsDoNotReturn) {
  follow(1, {"ann"});
  // The publish arrives again, and the first copy arrives late, after an edit and the trimming.
  const PostId id = PostId::make(bench.time.now(), "request 7");
  bench.client.first("PutItem", 1, echo());
  ASSERT_OK(feed().publish({"ann"}, "befor", id));
  bench.client.before([delayed = false](std::string_view operation, int) mutable {
    return is_copying(operation) && !std::exchange(delayed, true) ? delay() : pass();
  });
  ASSERT_OK(feed().deliver_pending());
  ASSERT_OK(feed().edit({"ann"}, id, "before"));
  ASSERT_OK(feed().deliver_pending());
  bench.client.before(nullptr);
  ASSERT_EQ(bench.client.delayed(), 2U);
  EXPECT_EQ(feed().trim({"f0"}, 0).value(), 1);
  EXPECT_EQ(feed().trim({"ann"}, 0).value(), 1);
  while (bench.client.delayed() > 0) bench.client.arrive(0);
  EXPECT_FALSE(feed().publish({"ann"}, "befor", id).value().created);
  EXPECT_FAILS(Code::kNotFound, feed().edit({"ann"}, id, "again"));
  EXPECT_FAILS(Code::kNotFound, feed().retract({"ann"}, id));
  EXPECT_EQ(feed().deliver_pending().value().posts, 0);
  EXPECT_TRUE(texts_of({"ann"}).empty());
  EXPECT_TRUE(texts_of({"f0"}).empty());
  const auto stones =
      bench.client.scan({.table = "Feeds", .filter = "attribute_not_exists(stator_settings)"});
  for (const Item& stone : stones.value().items) {
    EXPECT_EQ(stone.contains("retracted"), stone.contains("author")) << "no tombstone";
    EXPECT_TRUE(stone.contains("expires_at"));
  }
}

TEST_P(FeedChanges, ARepeatedRetractionOfATrimmedPostIsNotASuccess) {
  follow(1, {"ann"});
  const PostId id = post("ann", "one");
  ASSERT_OK(feed().deliver_pending());
  EXPECT_EQ(feed().trim({"ann"}, 0).value(), 1);
  bench.client.first("UpdateItem", 1, lose_request());
  EXPECT_FAILS(Code::kNotFound, feed().retract({"ann"}, id));
}

TEST_P(FeedChanges, ALaterEditDoesNotRestoreTrimmedPosts) {
  follow(1, {"ann"});
  const PostId id = post("ann", "one");
  ASSERT_OK(feed().deliver_pending());
  EXPECT_EQ(feed().trim({"f0"}, 0).value(), 1);
  ASSERT_OK(feed().edit({"ann"}, id, "two"));
  ASSERT_OK(feed().deliver_pending());
  EXPECT_TRUE(texts_of({"f0"}).empty());
  EXPECT_EQ(texts_of({"ann"}), std::vector<std::string>{"two"});
}

TEST_P(FeedChanges, ReadsPastManyTombstonesInFewRequests) {
  for (int i = 0; i < 200; ++i) post("ann", std::to_string(i));
  ASSERT_OK(feed().deliver_pending());
  EXPECT_EQ(feed().trim({"ann"}, 1).value(), 199);
  const auto reading =
      bench.cost_of([&] { EXPECT_EQ(feed().read({"ann"}, 4).value().items.size(), 1U); });
  EXPECT_LE(reading.requests, 7);  // of 5, 10, 20, 40, 80, 160 items
}

TEST_P(FeedChanges, ReadsNoWholePageMoreForOneTombstone) {
  for (int i = 0; i < 60; ++i) {
    const PostId id = post("ann", std::string(4'000, 'x'));
    if (i == 55) {
      ASSERT_OK(feed().retract({"ann"}, id));
    }
  }
  const Feed reader = started_feed();
  const auto reading =
      bench.cost_of([&] { EXPECT_EQ(reader.read({"ann"}, 19).value().items.size(), 19U); });
  EXPECT_EQ(reading.requests, 2);
  EXPECT_LE(reading.read_units, 22);  // of 20 posts and one tombstone
}

TEST_P(FeedChanges, TrimsNothingThatWaitsForDelivery) {
  follow(1, {"ann"});
  const PostId id = post("ann", "one");
  ASSERT_OK(feed().deliver_pending());
  // Edited between the read and the tombstone.
  bench.client.before([&](std::string_view operation, int) {
    if (operation == "PutItem") {
      EXPECT_OK(Feed(*bench.home.client, options()).edit({"ann"}, id, "edited"));
    }
    return pass();
  });
  EXPECT_EQ(feed().trim({"ann"}, 0).value(), 0);
  EXPECT_EQ(feed().trim({"ann"}, 0).value(), 0);
  bench.client.before(nullptr);
  ASSERT_OK(feed().deliver_pending());
  EXPECT_EQ(texts_of({"f0"}), std::vector<std::string>{"edited"});
}

// ---- Followers who come later

TEST_P(FeedChanges, ANewFollowerReceivesTheNewestPosts) {
  STATOR_NEEDS(Ability::kTransactions);  // a backfill is one
  ASSERT_OK(feed().follow({"ann"}, {"eve"}));
  std::vector<std::string> expected;
  for (int i = 0; i < 70; ++i) {
    if (i % 2 == 0) post("eve", "of eve");
    post("ann", std::to_string(i));
    if (i >= 10) expected.insert(expected.begin(), std::to_string(i));
  }
  ASSERT_OK(feed().deliver_pending());
  ASSERT_OK(feed().follow({"bob"}, {"ann"}, 60));
  EXPECT_EQ(texts_of({"bob"}), expected);
  ASSERT_OK(feed().follow({"bob"}, {"ann"}, 60));
  EXPECT_EQ(texts_of({"bob"}), expected);
  EXPECT_EQ(feed().read({"bob"}, 1).value().items[0].author, UserId{"ann"});
}

TEST_P(FeedChanges, ABackfillDoesNotUndoConcurrentChanges) {
  STATOR_NEEDS(Ability::kTransactions);  // a backfill is one
  for (int i = 0; i < 5; ++i) post("ann", "fine");
  const PostId edited = post("ann", "befor");
  const PostId retracted = post("ann", "oops");
  bench.client.before([&, changed = false](std::string_view operation, int) mutable {
    if (operation == "TransactWriteItems" && !changed) {
      changed = true;
      const Feed elsewhere(*bench.home.client, options());
      EXPECT_OK(elsewhere.edit({"ann"}, edited, "before"));
      EXPECT_OK(elsewhere.retract({"ann"}, retracted));
      EXPECT_OK(elsewhere.deliver_pending());
    }
    return pass();
  });
  ASSERT_OK(feed().follow({"bob"}, {"ann"}, 100));
  const std::vector<std::string> texts = texts_of({"bob"});
  ASSERT_EQ(texts.size(), 6U);
  EXPECT_EQ(texts[0], "before");
}

// ---- Keys

TEST_P(FeedChanges, SharesATableWithOtherFeedsUnderOtherNames) {
  FeedOptions first = options();
  first.table = "Shared";
  first.partition_key = "pk";
  first.range_key = "sk";
  first.outbox_index = "Waiting";
  first.user_prefix = "NEWS#";
  FeedOptions second = first;
  second.user_prefix = "CHAT#";
  bench.create(Feed::table_definitions(first)[0]);
  const Feed news(bench.client, first);
  const Feed chat(bench.client, second);
  ASSERT_OK(news.follow({"bob"}, {"ann"}));
  ASSERT_OK(news.publish({"ann"}, "news"));
  ASSERT_OK(chat.publish({"ann"}, "chat"));
  EXPECT_EQ(news.deliver_pending().value().posts, 1);
  EXPECT_EQ(contents(news.read({"bob"}, 10).value().items), std::vector<std::string>{"news"});
  EXPECT_TRUE(chat.read({"bob"}, 10).value().items.empty());
  EXPECT_EQ(chat.deliver_pending().value().posts, 1);
  EXPECT_EQ(contents(chat.read({"bob"}, 10).value().items), std::vector<std::string>{"chat"});
}

TEST_P(FeedChanges, RefusesNamesThatCannotBe) {
  const auto refused = [&](auto change) {
    FeedOptions changed = options();
    change(changed);
    return Feed(bench.client, changed).publish({"ann"}, "x");
  };
  const int before = bench.client.sent();
  EXPECT_FAILS(Code::kInvalidArgument, refused([](auto& o) { o.range_key = "author"; }));
  EXPECT_FAILS(Code::kInvalidArgument, refused([](auto& o) { o.partition_key = o.range_key; }));
  EXPECT_FAILS(Code::kInvalidArgument, refused([](auto& o) { o.partition_key = ""; }));
  EXPECT_FAILS(Code::kInvalidArgument, refused([](auto& o) { o.outbox_index = ""; }));
  EXPECT_FAILS(Code::kInvalidArgument, refused([](auto& o) { o.user_prefix = "\xff"; }));
  EXPECT_FAILS(Code::kInvalidArgument,
               refused([](auto& o) { o.user_prefix = std::string(513, 'x'); }));
  EXPECT_FAILS(Code::kInvalidArgument, refused([](auto& o) { o.merged_prefix = ""; }));
  EXPECT_FAILS(Code::kInvalidArgument, refused([](auto& o) { o.merge_over = -1; }));
  EXPECT_FAILS(Code::kInvalidArgument, refused([](auto& o) { o.outbox_shards = 65; }));
  EXPECT_FAILS(Code::kInvalidArgument, refused([](auto& o) { o.claim = 0ms; }));
  EXPECT_FAILS(Code::kInvalidArgument, refused([](auto& o) { o.parallel_writes = 0; }));
  EXPECT_FAILS(Code::kInvalidArgument, refused([](auto& o) { o.parallel_writes = 65; }));
  EXPECT_FAILS(Code::kInvalidArgument, refused([](auto& o) { o.keep_retracted = 1min; }));
  EXPECT_FAILS(Code::kInvalidArgument, refused([](auto& o) { o.merged_refresh = -1ms; }));
  EXPECT_EQ(bench.client.sent(), before);
}

TEST_P(FeedChanges, AcceptsAnyUserNamesAndKeysOf2048Bytes) {
  FeedOptions longest = options();
  longest.user_prefix = std::string(512, 'p');
  longest.merge_over = 1;
  longest.merged_prefix = std::string(512, 'm');
  longest.followers_table = "MoreFollowers";
  bench.create(Feed::table_definitions(longest)[1]);
  const Feed feed(bench.client, longest);
  const std::string longest_id(1024, 'u');
  const std::vector<std::string> users{longest_id, "#", "a#b", "PENDING#0", "%23", "ø \n☃"};
  for (const std::string& user : users) {
    ASSERT_OK(feed.follow({"reader"}, {user}));
    ASSERT_OK(feed.follow({"other"}, {user}));
    bench.time.advance(1ms);
    ASSERT_OK(feed.publish({user}, "of " + user));
  }
  ASSERT_OK(feed.deliver_pending());
  const auto page = feed.read({"reader"}, 100).value();
  ASSERT_EQ(page.items.size(), users.size());
  for (std::size_t i = 0; i < users.size(); ++i) {
    EXPECT_EQ(page.items[i].author.text, users[users.size() - 1 - i]);
  }
}

TEST_P(FeedChanges, AcceptsTimesThatFitInItsKeys) {
  bench.time.set_wall(at("9999-12-31T23:00:00Z"));
  const auto id = [&](const char* time) { return PostId::make(at(time)); };
  if (GetParam().layout == FeedLayout::kNewestFirst) {
    EXPECT_FAILS(Code::kInvalidArgument, feed().publish({"ann"}, "x", id("2262-04-12T00:00:00Z")));
  } else {
    ASSERT_OK(feed().publish({"ann"}, "last", id("9999-12-31T22:59:59.999999Z")));
  }
  ASSERT_OK(feed().publish({"ann"}, "first", id("1970-01-01T00:00:00Z")));
  // No UUID has a time before 1970. Earlier times, such as the year 1, give 1970.
  EXPECT_EQ(id("0001-01-01T00:00:00Z").at(), at("1970-01-01T00:00:00Z"));
  ASSERT_OK(feed().publish({"ann"}, "second", id("1970-01-01T00:00:01Z")));
  const std::vector<std::string> texts = texts_of({"ann"});
  EXPECT_EQ(texts.back(), "first");
  EXPECT_EQ(texts[texts.size() - 2], "second");
}

// ---- Cursors

TEST_P(FeedChanges, NoCharacterOfACursorCanBeChanged) {
  FeedOptions sealed = options();
  sealed.cursor_key = "secret";
  const Feed one(bench.client, sealed);
  for (int i = 0; i < 3; ++i) post("ann", std::to_string(i));
  const std::string cursor = one.read({"ann"}, 1).value().next;
  ASSERT_FALSE(cursor.empty());
  for (std::size_t i = 0; i < cursor.size(); ++i) {
    std::string changed = cursor;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_FAILS(Code::kBadCursor, one.read({"ann"}, 1, changed)) << i;
    EXPECT_FAILS(Code::kBadCursor, one.read({"ann"}, 1, cursor.substr(0, i) + "*")) << i;
  }
  EXPECT_FAILS(Code::kBadCursor, one.read({"ann"}, 1, cursor + "A"));
  EXPECT_FAILS(Code::kBadCursor, feed().read({"ann"}, 1, cursor));  // of another cursor key
  EXPECT_OK(one.read({"ann"}, 1, cursor));
}

}  // namespace
}  // namespace stator
