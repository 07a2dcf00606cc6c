// SPDX-License-Identifier: Apache-2.0
// Workers that announcements wake up, on a bus that loses, repeats and delays them.
#include <atomic>
#include <deque>
#include <mutex>
#include <utility>

#include "recipes/feed_test.h"

namespace stator {
namespace {

using namespace std::chrono_literals;
using namespace test;

// Keeps each announcement until it is acknowledged. A test selects which are lost or repeated.
class FakeBus final : public FeedBus {
 public:
  Result<void> announce(const UserId& author, const PostId& id) override {
    const std::scoped_lock lock(mutex_);
    ++announced;
    if (is_down) return fail(Code::kUnavailable, "by the test");
    if (!loses) waiting_.emplace_back(author, id);
    return {};
  }
  Result<std::vector<Announcement>> take(int most, std::chrono::milliseconds) override {
    if (is_down) return fail(Code::kUnavailable, "by the test");
    std::vector<Announcement> given;
    {
      const std::scoped_lock lock(mutex_);
      for (int i = 0; i < most && !waiting_.empty(); ++i) {
        const auto [author, id] = waiting_.front();
        waiting_.pop_front();
        given.push_back({.author = author, .id = id, .done = [this] { ++done; }});
      }
    }
    if (given.empty() && on_empty) on_empty();
    return given;
  }

  std::function<void()> on_empty;
  std::atomic<int> announced{0};
  std::atomic<int> done{0};
  std::atomic<bool> loses{false};
  std::atomic<bool> is_down{false};

 private:
  std::mutex mutex_;
  std::deque<std::pair<UserId, PostId>> waiting_;  // guarded by mutex_
};

class FeedBusTest : public FeedTest {
 protected:
  FeedOptions options() override {
    FeedOptions announcing = FeedTest::options();
    announcing.bus = bus;
    return announcing;
  }
  // Runs a worker until it finds no more announcements.
  Delivered work() {
    std::stop_source stop;
    bus->on_empty = [&] { stop.request_stop(); };
    const auto worked = feed().run_worker(stop.get_token(), 1ms);
    EXPECT_OK(worked);
    return worked.value_or(Delivered{});
  }

  std::shared_ptr<FakeBus> bus = std::make_shared<FakeBus>();
};
STATOR_IN_HOMES_AND_LAYOUTS(FeedBusTest);

TEST_P(FeedBusTest, AnnouncesEachChangeOnceItIsDurable) {
  follow(1, {"ann"});
  const PostId id = post("ann", "hello");
  EXPECT_EQ(bus->announced, 1);
  ASSERT_OK(feed().edit({"ann"}, id, "edited"));
  EXPECT_EQ(bus->announced, 2);
  ASSERT_OK(feed().retract({"ann"}, id));
  EXPECT_EQ(bus->announced, 3);
  EXPECT_FAILS(Code::kNotFound, feed().edit({"f0"}, id, "x"));
  EXPECT_EQ(bus->announced, 3);
}

TEST_P(FeedBusTest, ABusThatIsDownDelaysAndLosesNothing) {
  follow(1, {"ann"});
  bus->is_down = true;
  post("ann", "one");
  post("ann", "two");
  std::stop_source stop;
  bench.client.before([&, looks = 0](std::string_view operation, int) mutable {
    const bool looks_on = operation == "Query" || operation == "GetRecords";
    if (looks_on && ++looks > 40) stop.request_stop();
    return pass();
  });
  EXPECT_EQ(feed().run_worker(stop.get_token(), 1ms).value().posts, 2);
  bench.client.before(nullptr);
  EXPECT_EQ(texts_of({"f0"}), (std::vector<std::string>{"two", "one"}));
}

TEST_P(FeedBusTest, DeliversAnnouncedPostsWithoutPolling) {
  follow(1, {"ann"});
  std::stop_source stop;
  bus->on_empty = [&] {
    if (bus->announced > 0) {
      stop.request_stop();
    } else {
      EXPECT_OK(feed().publish({"ann"}, "hello"));
    }
  };
  const int queries = bench.client.sent("Query");
  EXPECT_EQ(feed().run_worker(stop.get_token(), 1ms).value().posts, 1);
  // The first poll, if it is a query, and the followers.
  EXPECT_EQ(bench.client.sent("Query") - queries, is_streamed() ? 1 : 2);
  EXPECT_EQ(bus->done, 1);
  EXPECT_EQ(texts_of({"f0"}), std::vector<std::string>{"hello"});
}

TEST_P(FeedBusTest, RetriesManyPostsThatFailWithoutWaitingForTheNextSearch) {
  constexpr int kFailing = 60;
  follow(1, {"ann"});
  for (int i = 0; i < kFailing; ++i) post("ann", "waits");
  std::stop_source stop;
  bus->on_empty = [&] { bench.time.advance(1s); };
  bench.client.before([&, attempts = 0](std::string_view operation, int) mutable {
    if (operation != "BatchExecuteStatement") return pass();
    if (++attempts == 2 * kFailing) stop.request_stop();
    return refuse(Code::kValidation);
  });
  const auto start = bench.time.since_boot();
  ASSERT_OK(feed().run_worker(stop.get_token(), 1ms));
  bench.client.before(nullptr);
  // The first search for retries is up to 45 s after the start; each retries ten posts.
  EXPECT_LT(bench.time.since_boot() - start, 80s);
}

TEST_P(FeedBusTest, FindsUnannouncedPosts) {
  follow(1, {"ann"});
  bus->loses = true;
  post("ann", "one");
  bench.time.advance(61s);
  EXPECT_EQ(work().posts, 1);
  EXPECT_EQ(texts_of({"f0"}), std::vector<std::string>{"one"});
}

TEST_P(FeedBusTest, ARepeatedAnnouncementHasNoEffect) {
  follow(1, {"ann"});
  const PostId id = post("ann", "one");
  for (int i = 0; i < 3; ++i) ASSERT_OK(bus->announce({"ann"}, id));
  ASSERT_OK(bus->announce({"nobody"}, id));
  ASSERT_OK(bus->announce({""}, id));
  ASSERT_OK(bus->announce({"ann"}, PostId()));
  EXPECT_EQ(work().posts, 1);
  EXPECT_EQ(bus->done, 7);
  EXPECT_EQ(items_of("f0").size(), 1U);
}

TEST_P(FeedBusTest, LeavesTheAnnouncementOfAPostThatIsBusy) {
  follow(30, {"ann"});
  post("ann", "one");
  bench.client.before([&](std::string_view operation, int nth) {
    if (is_copying(operation) && nth == 1) {
      std::stop_source stop;
      bus->on_empty = [&] { stop.request_stop(); };
      const Feed other(*bench.home.client, options());
      EXPECT_EQ(other.run_worker(stop.get_token(), 1ms).value().copies, 0);
      EXPECT_EQ(bus->done, 0);
    }
    return pass();
  });
  EXPECT_EQ(feed().deliver_pending().value().copies, 30);
}

}  // namespace
}  // namespace stator
