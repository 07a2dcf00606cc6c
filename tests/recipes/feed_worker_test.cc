// SPDX-License-Identifier: Apache-2.0
// Publishers and workers under faults: undeliverable posts, clocks that are set back, missing
// configuration of followers.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>

#include "recipes/feed_test.h"

namespace stator {
namespace {

using namespace std::chrono_literals;
using namespace test;

// All authors have the same followers, but those of some authors cannot be read.
class PartlyBroken final : public Followers {
 public:
  Result<Page<UserId>> page(const UserId& author, int, const std::string&) override {
    if (const auto found = broken.find(author.text); found != broken.end()) {
      if (on_failure) on_failure();
      return fail(found->second, "by the test");
    }
    return Page<UserId>{.items = users};
  }
  Result<Page<UserId>> following(const UserId&, int, const std::string&) override {
    return Page<UserId>();
  }
  std::vector<UserId> users{{"fan"}};
  std::map<std::string, Code> broken;
  std::function<void()> on_failure;
};

class FeedInTrouble : public FeedTest {
 protected:
  FeedOptions options() override {
    FeedOptions changed = FeedTest::options();
    changed.followers_table = "";
    changed.followers = followers;
    changed.outbox_shards = 8;
    changed.on_undelivered = [this](const Undelivered& post) { reports.push_back(post); };
    return changed;
  }
  // Runs a worker until a time of the test's clock.
  Result<Delivered> work(std::chrono::nanoseconds duration) {
    std::stop_source stop;
    const auto until = bench.time.since_boot() + duration;
    bench.client.before([this, until, stop](std::string_view, int) mutable {
      if (bench.time.since_boot() >= until) stop.request_stop();
      return pass();
    });
    auto worked = feed().run_worker(stop.get_token(), 200ms);
    bench.client.before(nullptr);
    return worked;
  }

  // While 40 posts are retried, each for half a minute, another is published.
  void deliver_between_slow_retries() {
    constexpr int kSlow = 40;
    followers->broken = {{"slow", Code::kTimeout}};
    for (int i = 0; i < kSlow; ++i) post("slow", "waits");
    std::stop_source stop;
    followers->on_failure = [&, failures = 0]() mutable {
      bench.time.advance(30s);
      ++failures;
      if (failures == kSlow + 1) {
        EXPECT_OK(feed().publish({"ann"}, "new"));
      }
      if (failures == 2 * kSlow - 10) stop.request_stop();
    };
    EXPECT_EQ(feed().run_worker(stop.get_token(), 200ms).value().posts, 1);
    EXPECT_EQ(texts_of({"fan"}), std::vector<std::string>{"new"});
  }

  std::shared_ptr<PartlyBroken> followers = std::make_shared<PartlyBroken>();
  std::vector<Undelivered> reports;
};
STATOR_IN_HOMES_AND_LAYOUTS(FeedInTrouble);

TEST_P(FeedInTrouble, AnUndeliverablePostIsReportedAndRetriedWhileOthersAreDelivered) {
  followers->broken = {{"bad", Code::kValidation}};
  const PostId bad = post("bad", "waits");
  for (int i = 0; i < 20; ++i) post("ann", std::to_string(i));
  const auto worked = work(30s);
  ASSERT_OK(worked);
  EXPECT_EQ(worked->posts, 20);
  EXPECT_EQ(texts_of({"fan"}).size(), 20U);
  ASSERT_GE(reports.size(), 3U);
  ASSERT_LE(reports.size(), 6U);  // after 1 s, 2 s, 4 s, …
  for (std::size_t i = 0; i < reports.size(); ++i) {
    EXPECT_EQ(reports[i].author, UserId{"bad"});
    EXPECT_EQ(reports[i].id, bad);
    EXPECT_EQ(reports[i].error.code, Code::kValidation);
    EXPECT_EQ(reports[i].attempts, static_cast<int64_t>(i) + 1);
    EXPECT_EQ(reports[i].next_attempt, 1s * (1 << i));
  }
  followers->broken.clear();
  // The next worker finds the post too, no matter how far the last one got.
  EXPECT_EQ(work(30s).value().posts, 1);
  EXPECT_EQ(texts_of({"fan"}).size(), 21U);
}

TEST_P(FeedInTrouble, AWorkerDeliversPostponedPosts) {
  followers->broken = {{"bad", Code::kValidation}};
  post("bad", "waits");
  FeedOptions mending = options();
  mending.on_undelivered = [&](const Undelivered& undelivered) {
    if (undelivered.attempts == 3) followers->broken.clear();
  };
  std::stop_source stop;
  const auto until = bench.time.since_boot() + 20s;
  bench.client.before([&, until](std::string_view, int) {
    if (bench.time.since_boot() >= until) stop.request_stop();
    return pass();
  });
  const auto worked = Feed(bench.client, mending).run_worker(stop.get_token(), 200ms);
  bench.client.before(nullptr);
  ASSERT_OK(worked);
  EXPECT_EQ(worked->posts, 1);
  EXPECT_EQ(texts_of({"fan"}), std::vector<std::string>{"waits"});
  EXPECT_EQ(feed().deliver_pending().value().posts, 0);
}

TEST_P(FeedInTrouble, APostThatKeepsTimingOutDoesNotStopTheOthers) {
  followers->broken = {{"slow", Code::kTimeout}};
  post("slow", "waits");
  for (int i = 0; i < 5; ++i) post("ann", std::to_string(i));
  EXPECT_EQ(work(30s).value().posts, 5);
  EXPECT_FAILS(Code::kTimeout, feed().deliver_pending());
}

TEST_P(FeedInTrouble, ManyPostsThatKeepTimingOutDoNotStopTheOthersEither) {
  followers->broken = {{"slow", Code::kTimeout}};
  for (int i = 0; i < 40; ++i) post("slow", "waits");
  for (int i = 0; i < 5; ++i) post("ann", std::to_string(i));
  EXPECT_FAILS(Code::kTimeout, feed().deliver_pending());
  EXPECT_EQ(texts_of({"fan"}).size(), 5U);
  EXPECT_EQ(reports.size(), 40U);
}

// Three posts cannot be claimed. While they are retried, others are published.
TEST_P(FeedInTrouble, RetriesThatFailDoNotKeepAWorkerFromNewPosts) {
  constexpr int kRefusedInALook = 9;    // three attempts for each post
  ASSERT_OK(feed().deliver_pending());  // a worker of a stream begins with a scan
  for (int i = 0; i < 3; ++i) post("slow", "waits");
  std::stop_source stop;
  bench.client.before([&, refused = 0](std::string_view operation, int) mutable {
    if (operation != "UpdateItem" ||
        bench.client.latest_update().key.at("partition_key") != AttributeValue("slow")) {
      return pass();
    }
    if (++refused == kRefusedInALook) {
      const Feed undisturbed(*bench.home.client, options());
      for (int i = 0; i < 5; ++i) EXPECT_OK(undisturbed.publish({"ann"}, std::to_string(i)));
    }
    if (refused == 3 * kRefusedInALook) stop.request_stop();
    return refuse(Code::kTimeout);
  });
  // The pause between looks is longer than that before the first retries.
  const auto worked = feed().run_worker(stop.get_token(), 2s);
  bench.client.before(nullptr);
  EXPECT_EQ(worked.value().posts, 5);
}

TEST_P(FeedInTrouble, ManySlowRetriesDoNotKeepAWorkerFromNewPosts) {
  ASSERT_OK(feed().deliver_pending());  // a worker of a stream begins with a scan
  deliver_between_slow_retries();
}

TEST_P(FeedInTrouble, ManySlowRetriesDoNotKeepTheFirstWorkerFromNewPosts) {
  deliver_between_slow_retries();
}

TEST_P(FeedInTrouble, OnePassDeliversAllItCanAndReturnsTheFirstError) {
  followers->broken = {{"bad", Code::kValidation}};
  post("bad", "waits");
  for (int i = 0; i < 20; ++i) post("ann", std::to_string(i));
  EXPECT_FAILS(Code::kValidation, feed().deliver_pending());
  EXPECT_EQ(texts_of({"fan"}).size(), 20U);
}

TEST_P(FeedInTrouble, APublisherWithoutFollowersLeavesPostsToTheWorkers) {
  FeedOptions publishing = options();
  publishing.followers = nullptr;
  const Feed publisher(bench.client, publishing);
  const PostId kept = publisher.publish({"ann"}, "hello").value().id;
  const PostId retracted = publisher.publish({"ann"}, "oops").value().id;
  ASSERT_OK(feed().deliver_pending());
  EXPECT_EQ(texts_of({"fan"}), (std::vector<std::string>{"oops", "hello"}));
  ASSERT_OK(publisher.edit({"ann"}, kept, "hello!"));
  ASSERT_OK(publisher.retract({"ann"}, retracted));
  EXPECT_FAILS(Code::kInvalidArgument, publisher.deliver_pending());
  EXPECT_FAILS(Code::kInvalidArgument, publisher.run_worker({}));
  ASSERT_OK(feed().deliver_pending());
  EXPECT_EQ(texts_of({"fan"}), std::vector<std::string>{"hello!"});
}

TEST_P(FeedInTrouble, AFeedWithoutAnOutboxKeepsPostsToTheirAuthors) {
  FeedOptions alone = options();
  alone.outbox = Outbox::kNone;
  alone.user_prefix = "DIARY#";
  const Feed diary(bench.client, alone);
  const PostId id = diary.publish({"ann"}, "one").value().id;
  const PostId gone = diary.publish({"ann"}, "oops").value().id;
  ASSERT_OK(diary.edit({"ann"}, id, "two"));
  ASSERT_OK(diary.retract({"ann"}, gone));
  EXPECT_FALSE(diary.publish({"ann"}, "oops", gone).value().created);
  EXPECT_FAILS(Code::kInvalidArgument, diary.deliver_pending());
  EXPECT_EQ(contents(diary.read({"ann"}, 9).value().items), std::vector<std::string>{"two"});
  FeedOptions delivering = alone;
  delivering.outbox = options().outbox;
  const Feed worker(bench.client, delivering);
  EXPECT_EQ(worker.deliver_pending().value().posts, 0);
  EXPECT_TRUE(worker.read({"fan"}, 9).value().items.empty());
  // A worker would not see later posts either.
  bench.time.advance(1min);
  for (const auto& refused :
       {Result<void>(diary.edit({"ann"}, id, "three")), diary.retract({"ann"}, id)}) {
    EXPECT_FAILS(Code::kLimitsDisagree, refused);
  }
  EXPECT_FAILS(Code::kLimitsDisagree, diary.publish({"ann"}, "four"));
  EXPECT_EQ(diary.trim({"ann"}, 0).value(), 1);
}

// ---- Clocks

TEST_P(FeedInTrouble, PublishesAfterTheClockWasSetBack) {
  const Feed one = feed();
  ASSERT_OK(one.publish({"ann"}, "before"));
  const Time start = bench.time.now();
  // Within max_skew, the order is preserved.
  bench.time.set_wall(start - 5min);
  const auto within = one.publish({"ann"}, "5 minutes back");
  ASSERT_OK(within);
  EXPECT_EQ(within->id.at(), start + 1us);
  bench.time.set_wall(start - 1h);
  const auto beyond = one.publish({"ann"}, "an hour back");
  ASSERT_OK(beyond);
  EXPECT_EQ(beyond->id.at(), start - 1h);
  ASSERT_OK(one.publish({"ann"}, "again"));
  EXPECT_EQ(texts_of({"ann"}),
            (std::vector<std::string>{"5 minutes back", "before", "again", "an hour back"}));
}

TEST_P(FeedInTrouble, AClaimByAClockThatWasAheadDoesNotOutliveIt) {
  post("ann", "hello");
  const Time start = bench.time.now();
  bench.time.set_wall(start + 24h);
  // It dies before it can release its claim.
  bench.client.before([dead = false](std::string_view operation, int) mutable {
    dead = dead || is_copying(operation);
    return dead ? refuse(Code::kAccessDenied) : pass();
  });
  EXPECT_FALSE(feed().deliver_pending());
  bench.client.before(nullptr);
  bench.time.set_wall(start);
  bench.time.advance(31s);
  EXPECT_EQ(feed().deliver_pending().value().posts, 1);
}

// ---- Parallel requests

TEST_P(FeedInTrouble, WritesCopiesOfOnePostInParallelUpToTheLimit) {
  constexpr int kLimit = 4;
  followers->users.clear();
  for (int i = 0; i < 250; ++i) followers->users.push_back({"f" + std::to_string(i)});
  FeedOptions parallel = options();
  parallel.parallel_writes = kLimit;
  const Feed one(bench.client, parallel);
  const PostId id = one.publish({"ann"}, "hello").value().id;
  for (const char* operation : {"BatchExecuteStatement", "PutItem"}) {
    // Requests wait until as many are in progress as permitted.
    std::mutex mutex;
    std::condition_variable changed;
    int under_way = 0;
    int most = 0;
    std::atomic<int> notes = 0;  // of recipients; written before parallel requests begin
    bench.client.before([&](std::string_view name, int) {
      const bool is_note = name == "PutItem" && ++notes == 1;
      if (name != operation || is_note) return pass();
      std::unique_lock lock(mutex);
      most = std::max(most, ++under_way);
      changed.notify_all();
      changed.wait_for(lock, 60s, [&] { return most >= kLimit; });
      --under_way;
      return pass();
    });
    EXPECT_EQ(one.deliver_pending().value().copies, 250);
    bench.client.before(nullptr);
    EXPECT_EQ(most, kLimit) << operation;
    ASSERT_OK(one.edit({"ann"}, id, "edited"));
  }
  EXPECT_EQ(items_of("f0").size(), 1U);
  EXPECT_EQ(items_of("f249").size(), 1U);
}

}  // namespace
}  // namespace stator
