// SPDX-License-Identifier: Apache-2.0
// Edits and retractions are not undone by unfollowing, repeated publishes or late requests.
#include <algorithm>
#include <functional>
#include <utility>

#include "recipes/feed_test.h"

namespace stator {
namespace {

using namespace std::chrono_literals;
using namespace test;

// Followers whose changes the feed does not see.
class ListOfFollowers final : public Followers {
 public:
  Result<Page<UserId>> page(const UserId&, int, const std::string&) override {
    Page<UserId> read{.items = users};
    if (auto happens = std::exchange(after_page, {})) happens();
    return read;
  }
  Result<Page<UserId>> following(const UserId&, int, const std::string&) override {
    return Page<UserId>();
  }
  std::vector<UserId> users;
  std::function<void()> after_page;  // called once, before the reader gets the page
};

class FeedVersions : public FeedTest {
 protected:
  FeedOptions options() override {
    FeedOptions changed = FeedTest::options();
    if (list) {
      changed.followers_table = "";
      changed.followers = list;
    }
    return changed;
  }
  void deliver() { ASSERT_OK(feed().deliver_pending()); }
  void let_all_arrive() {
    while (bench.client.delayed() > 0) bench.client.arrive(0);
  }
  // The next request that writes copies is delayed and arrives later.
  void delay_first_copies() {
    bench.client.before([delayed = false](std::string_view operation, int) mutable {
      return is_copying(operation) && !std::exchange(delayed, true) ? delay() : pass();
    });
  }

  std::shared_ptr<ListOfFollowers> list;
};
STATOR_IN_HOMES_AND_LAYOUTS(FeedVersions);

// ---- Former followers

TEST_P(FeedVersions, ARetractionReachesFormerFollowers) {
  follow(2, {"ann"});
  const PostId id = post("ann", "oops");
  deliver();
  ASSERT_OK(feed().unfollow({"f0"}, {"ann"}));
  EXPECT_EQ(texts_of({"f0"}), std::vector<std::string>{"oops"});
  ASSERT_OK(feed().retract({"ann"}, id));
  deliver();
  EXPECT_TRUE(items_of("f0").empty());
  EXPECT_TRUE(items_of("f1").empty());
}

TEST_P(FeedVersions, AnEditReachesFormerFollowersWithThePost) {
  follow(3, {"ann"});
  ASSERT_OK(feed().unfollow({"f2"}, {"ann"}));
  const PostId id = post("ann", "befor");
  deliver();
  ASSERT_OK(feed().unfollow({"f0"}, {"ann"}));
  ASSERT_OK(feed().edit({"ann"}, id, "before"));
  deliver();
  EXPECT_EQ(texts_of({"f0"}), std::vector<std::string>{"before"});
  EXPECT_EQ(texts_of({"f1"}), std::vector<std::string>{"before"});
  EXPECT_TRUE(texts_of({"f2"}).empty());
}

TEST_P(FeedVersions, AReturningFollowerGetsLaterPosts) {
  follow(1, {"ann"});
  ASSERT_OK(feed().unfollow({"f0"}, {"ann"}));
  ASSERT_OK(feed().follow({"f0"}, {"ann"}));
  const PostId id = post("ann", "hello");
  deliver();
  EXPECT_EQ(texts_of({"f0"}), std::vector<std::string>{"hello"});
  ASSERT_OK(feed().edit({"ann"}, id, "hello!"));
  deliver();
  EXPECT_EQ(texts_of({"f0"}), std::vector<std::string>{"hello!"});
}

TEST_P(FeedVersions, AnUnfollowThatArrivesLateDoesNotEndALaterFollow) {
  follow(1, {"ann"});
  bench.client.first("DeleteItem", 1, delay());
  ASSERT_OK(feed().unfollow({"f0"}, {"ann"}));
  ASSERT_OK(feed().follow({"f0"}, {"ann"}));
  let_all_arrive();
  post("ann", "hello");
  deliver();
  EXPECT_EQ(texts_of({"f0"}), std::vector<std::string>{"hello"});
}

TEST_P(FeedVersions, ReachFormerFollowersWhoLiveElsewhere) {
  list = std::make_shared<ListOfFollowers>();
  list->users = {{"x"}, {"y"}, {"x"}, {"ann"}};
  const PostId edited = post("ann", "befor");
  const PostId retracted = post("ann", "oops");
  deliver();
  list->users = {{"y"}};
  ASSERT_OK(feed().edit({"ann"}, edited, "before"));
  ASSERT_OK(feed().retract({"ann"}, retracted));
  deliver();
  for (const char* user : {"x", "y"}) {
    EXPECT_EQ(texts_of({user}), std::vector<std::string>{"before"}) << user;
  }
  // The notes of a withdrawn post were deleted.
  const auto notes =
      bench.client.scan({.table = "Feeds", .filter = "attribute_exists(recipients)"});
  ASSERT_OK(notes);
  EXPECT_EQ(notes->items.size(), 2U);  // of the edited post's two deliveries
}

// A worker pauses between reading the followers and writing its first copy. Meanwhile a follower
// leaves, and other workers deliver the post and its changes.
TEST_P(FeedVersions, AnOvertakenWorkerReachesNoFollowerThatTheOthersMissed) {
  list = std::make_shared<ListOfFollowers>();
  for (const bool retracts : {true, false}) {
    list->users = {{"x"}};
    const PostId id = post("ann", "oops");
    list->after_page = [&] {
      list->users.clear();
      if (retracts) {
        ASSERT_OK(feed().retract({"ann"}, id));
      } else {
        ASSERT_OK(feed().edit({"ann"}, id, "before"));
      }
      bench.time.advance(10min);  // the claim expires
      deliver();
    };
    (void)feed().deliver_pending();
    ASSERT_FALSE(list->after_page) << "nobody has looked";
    deliver();
    EXPECT_TRUE(items_of("x").empty());
  }
  const auto notes =
      bench.client.scan({.table = "Feeds", .filter = "attribute_exists(recipients)"});
  ASSERT_OK(notes);
  EXPECT_TRUE(notes->items.empty());
}

// A worker pauses before it reads the followers. Meanwhile the post changes, other workers deliver
// the change, and a user follows.
TEST_P(FeedVersions, AnOvertakenWorkerDoesNotDeliverAnOldPostToALaterFollower) {
  const Feed undisturbed(*bench.home.client, options());
  for (const bool retracts : {true, false}) {
    const std::string late = retracts ? "x" : "y";
    const PostId id = post("ann", "oops");
    // The outbox is an index: the query after that of the outbox reads the followers.
    bench.client.before(
        [&, queries = is_streamed() ? 1 : 0](std::string_view operation, int) mutable {
          if (operation != "Query" || ++queries != 2) return pass();
          EXPECT_OK(retracts ? undisturbed.retract({"ann"}, id)
                             : undisturbed.edit({"ann"}, id, "before"));
          bench.time.advance(10min);  // the claim expires
          EXPECT_OK(undisturbed.deliver_pending());
          EXPECT_OK(undisturbed.follow({late}, {"ann"}));
          return pass();
        });
    (void)feed().deliver_pending();
    bench.client.before(nullptr);
    EXPECT_EQ(undisturbed.followers({"ann"}).value().items.back(), UserId{late});
    deliver();
    EXPECT_TRUE(items_of(late).empty());
  }
}

// ---- Repeated publishes

TEST_P(FeedVersions, ARepeatedPublishDoesNotBringBackARetractedPost) {
  follow(1, {"ann"});
  const PostId id = PostId::make(bench.time.now(), "request 7");
  ASSERT_OK(feed().publish({"ann"}, "oops", id));
  deliver();
  ASSERT_OK(feed().retract({"ann"}, id));
  EXPECT_FALSE(feed().publish({"ann"}, "oops", id).value().created);
  deliver();
  EXPECT_FALSE(feed().publish({"ann"}, "oops", id).value().created);
  deliver();
  EXPECT_TRUE(texts_of({"ann"}).empty());
  EXPECT_TRUE(texts_of({"f0"}).empty());
}

TEST_P(FeedVersions, APublishThatArrivesLateDoesNotBringBackARetractedPost) {
  follow(1, {"ann"});
  bench.client.first("PutItem", 1, echo());
  const PostId id = post("ann", "oops");
  ASSERT_OK(feed().retract({"ann"}, id));
  deliver();
  let_all_arrive();
  deliver();
  EXPECT_TRUE(texts_of({"ann"}).empty());
  EXPECT_TRUE(texts_of({"f0"}).empty());
}

TEST_P(FeedVersions, TombstonesExpireAndHaveNoContent) {
  follow(1, {"ann"});
  const PostId id = post("ann", "oops");
  deliver();
  ASSERT_OK(feed().retract({"ann"}, id));
  deliver();
  const auto stones =
      bench.client.scan({.table = "Feeds", .filter = "attribute_exists(retracted)"});
  ASSERT_OK(stones);
  ASSERT_EQ(stones->items.size(), 2U);
  const int64_t expiry = bench.time.now().unix_seconds() + 3650 * 86'400;
  for (const Item& stone : stones->items) {
    EXPECT_EQ(stone.at("expires_at"), AttributeValue(expiry));
    EXPECT_FALSE(stone.contains("content"));
    EXPECT_FALSE(stone.contains("outbox"));
  }
  for (const RecipeTable& table : Feed::table_definitions(options())) {
    EXPECT_EQ(table.expiry, table.table == "Feeds" ? "expires_at" : "");
  }
}

// ---- Late requests

TEST_P(FeedVersions, CopiesThatArriveLateDoNotUndoAnEdit) {
  follow(3, {"ann"});
  const PostId id = post("ann", "befor");
  delay_first_copies();
  deliver();
  ASSERT_OK(feed().edit({"ann"}, id, "before"));
  deliver();
  bench.client.before(nullptr);
  let_all_arrive();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(texts_of({"f" + std::to_string(i)}), std::vector<std::string>{"before"});
  }
}

TEST_P(FeedVersions, CopiesThatArriveLateDoNotUndoARetraction) {
  follow(3, {"ann"});
  const PostId id = post("ann", "oops");
  delay_first_copies();
  deliver();
  ASSERT_OK(feed().edit({"ann"}, id, "oops!"));
  delay_first_copies();
  deliver();
  ASSERT_OK(feed().retract({"ann"}, id));
  bench.client.before(nullptr);
  deliver();
  EXPECT_EQ(bench.client.delayed(), 2U);
  let_all_arrive();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(texts_of({"f" + std::to_string(i)}).empty());
}

// The first copy is delayed. The follower leaves, and the copy arrives after the edit.
TEST_P(FeedVersions, ACopyThatArrivesAfterUnfollowingIsNotOlderThanAnEdit) {
  follow(1, {"ann"});
  const PostId id = post("ann", "befor");
  bench.client.before(
      [](std::string_view operation, int) { return is_copying(operation) ? delay() : pass(); });
  EXPECT_FALSE(feed().deliver_pending());
  bench.client.before(nullptr);
  ASSERT_OK(feed().unfollow({"f0"}, {"ann"}));
  ASSERT_OK(feed().edit({"ann"}, id, "before"));
  deliver();
  let_all_arrive();
  EXPECT_TRUE(texts_of({"f0"}).empty());
}

TEST_P(FeedVersions, AnEditThatArrivesLateDoesNotReplaceANewerOne) {
  const PostId id = post("ann", "one");
  for (const auto& [lost, edited] : {std::pair("two", "three"), std::pair("four", "five")}) {
    bench.client.before([](std::string_view operation, int) {
      return operation == "UpdateItem" ? delay() : pass();
    });
    EXPECT_FAILS(Code::kOutcomeUnknown, feed().edit({"ann"}, id, lost));
    bench.client.before(nullptr);
    ASSERT_OK(feed().edit({"ann"}, id, edited));
    let_all_arrive();
    EXPECT_EQ(texts_of({"ann"}), std::vector<std::string>{edited});
  }
  EXPECT_EQ(feed().read({"ann"}, 1).value().items[0].edits, 2);
}

TEST_P(FeedVersions, AnEditWhoseReplyIsLostIsOneEdit) {
  const PostId id = post("ann", "one");
  bench.client.first("UpdateItem", 1, lose_reply());
  ASSERT_OK(feed().edit({"ann"}, id, "two"));
  EXPECT_EQ(feed().read({"ann"}, 1).value().items[0].edits, 1);
  bench.client.first("UpdateItem", 1, lose_reply());
  ASSERT_OK(feed().retract({"ann"}, id));
}

TEST_P(FeedVersions, AnotherAuthorsPostOfTheSameIdStaysAsItIs) {
  ASSERT_OK(feed().follow({"bob"}, {"ann"}));
  ASSERT_OK(feed().follow({"bob"}, {"eve"}));
  const PostId id = PostId::make(bench.time.now(), "request 7");
  ASSERT_OK(feed().publish({"ann"}, "of ann", id));
  deliver();
  ASSERT_OK(feed().publish({"eve"}, "of eve", id));
  deliver();
  ASSERT_OK(feed().edit({"eve"}, id, "of eve!"));
  deliver();
  ASSERT_OK(feed().retract({"eve"}, id));
  deliver();
  EXPECT_EQ(texts_of({"bob"}), std::vector<std::string>{"of ann"});
}

// ---- Data of earlier releases

TEST_P(FeedVersions, ReadsItemsOfEarlierReleases) {
  const PostId id = post("ann", "oops");
  Item copy = items_of("ann").at(0);
  copy.erase("outbox");
  copy["partition_key"] = "bob";
  ASSERT_OK(bench.client.put_item({.table = "Feeds", .item = copy}));
  ASSERT_OK(bench.client.put_item(
      {.table = "Followers", .item = {{"author", "ann"}, {"follower", "bob"}}}));
  EXPECT_EQ(texts_of({"bob"}), std::vector<std::string>{"oops"});
  ASSERT_OK(feed().unfollow({"bob"}, {"ann"}));
  EXPECT_TRUE(feed().followers({"ann"}).value().items.empty());
  ASSERT_OK(feed().retract({"ann"}, id));
  deliver();
  EXPECT_TRUE(texts_of({"bob"}).empty());
}

// ---- Endpoints without statements

TEST_P(FeedVersions, WritesCopiesOneByOneWithoutStatements) {
  follow(30, {"ann"});
  post("ann", "one");
  post("ann", "two");
  bench.client.before([](std::string_view operation, int) {
    return operation == "BatchExecuteStatement" ? refuse(Code::kUnknownOperation) : pass();
  });
  const int before = bench.client.sent("BatchExecuteStatement");
  EXPECT_EQ(feed().deliver_pending().value().copies, 60);
  EXPECT_EQ(bench.client.sent("BatchExecuteStatement") - before, 1);
  for (int i = 0; i < 30; ++i) EXPECT_EQ(texts_of({"f" + std::to_string(i)}).size(), 2U);
}

}  // namespace
}  // namespace stator
