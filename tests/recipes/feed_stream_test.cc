// SPDX-License-Identifier: Apache-2.0
// Workers that read the table's stream: closed and new shards, expired records, and resuming the
// work of another worker.
#include <memory>
#include <utility>

#include "client/database_on_store.h"
#include "engine/testing/engine_harness.h"
#include "recipes/feed_test.h"

namespace stator {
namespace {

using namespace std::chrono_literals;
using namespace test;
using ::testing::HasSubstr;

// A database whose clock determines when shards end.
class FeedStreamTest : public testing::Test {
 protected:
  FeedStreamTest() {
    auto engine =
        Engine::open(make_memory_store(), {.clock = &clock, .sweep_interval = {}}).value();
    engine_ = engine.get();
    database_ = std::make_unique<Database>(database_on(std::move(engine)));
    client = std::make_unique<FaultyClient>(*database_);
    for (const auto& table : Feed::table_definitions(options())) {
      EXPECT_OK(create_table_if_missing(*client, table));
    }
    EXPECT_OK(feed().follow({"bob"}, {"ann"}));
  }

  FeedOptions options() {
    return {
        .table = "Feeds", .followers_table = "Followers", .outbox = Outbox::kStream, .time = &time};
  }
  Feed feed() { return Feed(*client, options()); }
  void post(const std::string& content) {
    time.advance(1ms);
    ASSERT_OK(feed().publish({"ann"}, content));
  }
  void pass(std::chrono::hours hours) {
    for (int i = 0; i < hours.count(); ++i) {
      clock.advance(1h);
      time.advance(1h);
      engine_->run_maintenance();
    }
  }
  std::vector<std::string> texts_of(const UserId& user) {
    std::vector<std::string> texts;
    const auto page = feed().read(user, 1000);
    EXPECT_OK(page);
    if (!page) return texts;
    for (const Post& post : page->items) texts.push_back(post.content);
    return texts;
  }
  std::size_t items_with(const std::string& attribute) {
    return client->scan({.table = "Feeds", .filter = "attribute_exists(" + attribute + ")"})
        .value()
        .items.size();
  }

  FakeClock clock;
  FakeTime time;
  std::unique_ptr<FaultyClient> client;

 private:
  Engine* engine_ = nullptr;  // database_'s
  std::unique_ptr<Database> database_;
};

TEST_F(FeedStreamTest, FollowsShardsThatAreClosedAndOpened) {
  std::vector<std::string> newest_first;
  for (int shift = 0; shift < 12; ++shift) {
    post(std::to_string(shift));
    newest_first.insert(newest_first.begin(), std::to_string(shift));
    if (shift % 3 == 0) {
      ASSERT_OK(feed().deliver_pending());
    }
    pass(3h);
  }
  ASSERT_OK(feed().deliver_pending());
  EXPECT_EQ(texts_of({"bob"}), newest_first);
  EXPECT_EQ(items_with("outbox"), 0U);
}

TEST_F(FeedStreamTest, ScansTheTableOnlyAtTheFirstStartAndAfterGaps) {
  post("before anybody worked");
  ASSERT_OK(feed().deliver_pending());
  const int first = client->sent("Scan");
  EXPECT_EQ(first, 1);
  for (int day = 0; day < 8; ++day) {
    post(std::to_string(day));
    pass(5h);
    ASSERT_OK(feed().deliver_pending());
  }
  EXPECT_EQ(client->sent("Scan"), first);
  post("in the gap");
  pass(60h);
  ASSERT_OK(feed().deliver_pending());
  EXPECT_GT(client->sent("Scan"), first);
  EXPECT_EQ(texts_of({"bob"}).size(), 10U);
  EXPECT_EQ(texts_of({"bob"})[0], "in the gap");
}

TEST_F(FeedStreamTest, AWorkerThatStaysMeetsTheGapToo) {
  int looks = 0;
  std::stop_source stop;
  client->before([&](std::string_view operation, int) {
    if (operation != "DescribeStream") return test::pass();
    ++looks;
    if (looks == 2) post("in the gap");
    if (looks == 2) pass(60h);
    if (looks == 8) stop.request_stop();
    return test::pass();
  });
  ASSERT_OK(feed().run_worker(stop.get_token(), 1s));
  client->before(nullptr);
  EXPECT_EQ(texts_of({"bob"}), std::vector<std::string>{"in the gap"});
}

TEST_F(FeedStreamTest, ResumesAtThePositionOfOthers) {
  for (int i = 0; i < 30; ++i) post(std::to_string(i));
  ASSERT_OK(feed().deliver_pending());
  const int before = client->sent("UpdateItem");
  post("new");
  EXPECT_EQ(feed().deliver_pending().value().posts, 1);
  // The shard and the post: each is claimed and acknowledged.
  EXPECT_EQ(client->sent("UpdateItem") - before, 4);
  const int idle = client->sent("UpdateItem");
  EXPECT_EQ(feed().deliver_pending().value().posts, 0);
  EXPECT_EQ(client->sent("UpdateItem"), idle);
}

TEST_F(FeedStreamTest, DoesNotPassOverAPostThatFailsOrIsWithOthers) {
  ASSERT_OK(feed().deliver_pending());
  post("fails");
  client->first("BatchExecuteStatement", 1, refuse(Code::kValidation));
  EXPECT_FAILS(Code::kValidation, feed().deliver_pending());
  client->before(nullptr);
  EXPECT_EQ(feed().deliver_pending().value().posts, 1);

  post("is with others");
  const Item post =
      client->scan({.table = "Feeds", .filter = "attribute_exists(outbox)"}).value().items.at(0);
  const int64_t until_ms = (time.now().unix_seconds() + 30) * 1000;
  ASSERT_OK(client->update_item(
      {.table = "Feeds",
       .key = {{"partition_key", post.at("partition_key")}, {"range_key", post.at("range_key")}},
       .update = "SET claim = :other, claim_until = :until",
       .values = Values{{":other", "other"}, {":until", until_ms}}}));
  EXPECT_EQ(feed().deliver_pending().value().posts, 0);
  time.advance(31s);
  EXPECT_EQ(feed().deliver_pending().value().posts, 1);
  EXPECT_EQ(texts_of({"bob"}), (std::vector<std::string>{"is with others", "fails"}));
}

TEST_F(FeedStreamTest, LosesNothingWhereverAWorkerDies) {
  post("before");
  ASSERT_OK(feed().deliver_pending());
  for (int fatal = 1; fatal < 40; ++fatal) {
    post(std::to_string(fatal));
    int requests = 0;
    client->before(
        [&](std::string_view, int) { return ++requests >= fatal ? lose_request() : test::pass(); });
    const bool died = !feed().deliver_pending().has_value();
    client->before(nullptr);
    EXPECT_TRUE(died || fatal > 10);
    time.advance(31s);  // the claims of the dead workers expire
    ASSERT_OK(feed().deliver_pending());
    const std::vector<std::string> texts = texts_of({"bob"});
    ASSERT_EQ(texts.size(), static_cast<std::size_t>(fatal) + 1) << fatal;
    EXPECT_EQ(texts[0], std::to_string(fatal));
  }
  EXPECT_EQ(items_with("outbox"), 0U);
}

TEST_F(FeedStreamTest, ItsRecordsOfShardsExpire) {
  post("hello");
  ASSERT_OK(feed().deliver_pending());
  EXPECT_GT(items_with("read_to"), 0U);
  EXPECT_EQ(items_with("read_to"), items_with("expires_at"));
  EXPECT_EQ(client->describe_time_to_live({.table = "Feeds"}).value().attribute, "expires_at");
}

TEST_F(FeedStreamTest, NeedsAStreamOfNewAndOldImages) {
  FeedOptions other = options();
  other.table = "Other";
  auto definition = Feed::table_definitions(other)[0];
  definition.stream->view = StreamViewType::kKeysOnly;
  ASSERT_OK(create_table_if_missing(*client, definition));
  const auto delivered = Feed(*client, other).deliver_pending();
  EXPECT_FAILS(Code::kConflict, delivered);
  EXPECT_THAT(delivered.error().message, HasSubstr("no stream of new and old images"));
  EXPECT_FAILS(Code::kConflict,
               create_table_if_missing(*client, Feed::table_definitions(other)[0]));
  EXPECT_FAILS(Code::kInvalidArgument, feed().publish({"STREAM#x"}, "no user"));
}

}  // namespace
}  // namespace stator
