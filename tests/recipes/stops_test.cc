// SPDX-License-Identifier: Apache-2.0
// A stop ends the long calls of the recipes during any of their requests, without damage.
#include <atomic>
#include <functional>
#include <vector>

#include "recipes/common/stop_limit.h"
#include "recipes/recipe_test.h"
#include "stator/recipes/feed.h"
#include "stator/recipes/sensors.h"
#include "stator/recipes/toggle.h"

namespace stator {
namespace {

using namespace std::chrono_literals;
using namespace test;

class Stops : public testing::Test {
 protected:
  using Call = std::function<void(const std::stop_token& stop)>;

  // Makes the call with a stop during its `nth` request (of an operation). Unless it may pass after
  // a stop, it meets `fate`. The others have the fates that HttpClient would decide. Returns
  // whether there was such a request.
  bool stopped_during(int nth, const Call& call, std::string_view of = {},
                      const Fate& fate = lose_request()) {
    std::stop_source stop;
    std::atomic<int> sent = 0;
    std::atomic<int> unlimited = 0;
    std::atomic<int> unending = 0;
    bench.client.before([&](std::string_view operation, int) {
      const CallLimits* limits = CallLimits::current();
      if (limits == nullptr) {
        ++unlimited;
        return pass();
      }
      if (limits->are_over()) return refuse(Code::kCancelled);
      if (stop.stop_requested() && limits->left() > recipes::kMaxAfterStop) ++unending;
      if ((!of.empty() && operation != of) || ++sent != nth) return pass();
      stop.request_stop();
      if (limits->are_over()) return fate;
      if (limits->left() > recipes::kMaxAfterStop) ++unending;
      return pass();
    });
    call(stop.get_token());
    bench.client.before(nullptr);
    EXPECT_EQ(unlimited, 0);
    EXPECT_EQ(unending, 0);
    EXPECT_EQ(CallLimits::current(), nullptr);
    return sent >= nth;
  }

  // `check` runs after each stopped call.
  void expect_stops(const Call& call, const std::function<void()>& check) {
    int requests = 0;
    while (stopped_during(requests + 1, call)) {
      ++requests;
      check();
    }
    EXPECT_GT(requests, 1);
  }

  template <class T>
  static void expect_done_or_cancelled(const Result<T>& result) {
    EXPECT_TRUE(result || result.error().code == Code::kCancelled) << outcome(result);
  }

  Bench bench{"memory"};
};

TEST_F(Stops, EndRollUps) {
  const SensorOptions options{.table = "Sensors", .time = &bench.time};
  bench.create(SensorRegistry::table_definition(options));
  const SensorRegistry sensors(bench.client, options);
  std::vector<Reading> readings;
  for (int i = 0; i < 4; ++i) {
    readings.push_back({{"s"}, bench.time.now() - std::chrono::hours(i), i, "ppm"});
  }
  ASSERT_OK(sensors.record(readings, Check::kNone));
  for (const bool given : {true, false}) {
    const auto roll_up = [&](const std::stop_token& stop) {
      const auto period = given ? Period::kHour : Period::kMinute;
      return given ? sensors.roll_up(readings, period, stop)
                   : sensors.roll_up({"s"}, period, {}, stop);
    };
    expect_stops(
        [&](const std::stop_token& stop) {
          const auto rolled_up = roll_up(stop);
          expect_done_or_cancelled(rolled_up);
        },
        [] {});
    EXPECT_EQ(roll_up({}).value().made, 4);
  }
}

TEST_F(Stops, EndSavesOfManyEvents) {
  const ToggleOptions options{.table = "Toggles", .time = &bench.time};
  bench.create(AnyToggle::table_definition(options));
  const AnyToggle toggle(bench.client, options);
  std::vector<ToggleEvent> events;
  for (int i = 0; i < 6; ++i) {
    events.push_back({.id = {std::to_string(i)}, .state = i, .at = bench.time.now()});
  }
  for (const int parallel : {1, 3}) {
    const auto save_all = [&](const std::stop_token& stop) {
      for (const Result<Saved>& saved : toggle.save_all(events, parallel, stop)) {
        expect_done_or_cancelled(saved);
      }
    };
    EXPECT_TRUE(stopped_during(1, save_all));
    EXPECT_TRUE(stopped_during(4, save_all));
  }
  for (const Result<Saved>& saved : toggle.save_all(events)) EXPECT_OK(saved);
}

TEST_F(Stops, EndSavesByTheLimitsOfTheCaller) {
  const ToggleOptions options{.table = "Toggles", .time = &bench.time};
  bench.create(AnyToggle::table_definition(options));
  const AnyToggle toggle(bench.client, options);
  const std::vector<ToggleEvent> events(6, {.id = {"t"}, .state = 1, .at = bench.time.now()});
  std::atomic<int> longer = 0;
  bench.client.before([&](std::string_view, int) {
    const CallLimits* limits = CallLimits::current();
    if (limits == nullptr || limits->for_attempt() > 1s) ++longer;
    return pass();
  });
  const CallLimits limits({.attempt = 1s, .total = 1min});
  for (const Result<Saved>& saved : toggle.save_all(events, 3)) EXPECT_OK(saved);
  bench.client.before(nullptr);
  EXPECT_EQ(longer, 0);
}

class FeedStops : public Stops, public testing::WithParamInterface<Outbox> {
 protected:
  void SetUp() override {
    for (const auto& table : Feed::table_definitions(options)) bench.create(table);
    for (int i = 0; i < 30; ++i) {
      ASSERT_OK(feed().follow({std::to_string(i)}, {"ann"}));
    }
  }
  Feed feed() { return Feed(bench.client, options); }
  std::vector<Item> claimed(const std::string& table) {
    return bench.client.scan({.table = table, .filter = "attribute_exists(claim)"}).value().items;
  }

  FeedOptions options{.table = "Feeds",
                      .followers_table = "Followers",
                      .parallel_writes = 2,
                      .outbox = GetParam(),
                      .time = &bench.time};
};
INSTANTIATE_TEST_SUITE_P(Outboxes, FeedStops, testing::Values(Outbox::kIndex, Outbox::kStream),
                         [](const auto& test) {
                           return test.param == Outbox::kIndex ? "Index" : "Stream";
                         });

TEST_P(FeedStops, EndDeliveryAndReleaseItsClaim) {
  for (const int variant : {0, 1, 2, 3}) {
    const bool by_worker = variant % 2 == 1;
    const Fate fate = variant < 2 ? lose_request() : lose_reply();
    for (int nth = 1; nth < 20; ++nth) {
      // A worker claims the whole stream of a table only for the first posts.
      options.table = "Feeds" + std::to_string(nth) + "of" + std::to_string(variant);
      bench.create(Feed::table_definitions(options)[0]);
      ASSERT_OK(feed().publish({"ann"}, "post"));
      const Feed stopped = feed();
      const auto deliver = [&](const std::stop_token& stop) {
        const auto done = by_worker ? stopped.run_worker(stop, 1ms) : stopped.deliver_pending(stop);
        expect_done_or_cancelled(done);
      };
      const bool met = stopped_during(nth, deliver, {}, fate);
      EXPECT_TRUE(claimed(options.table).empty()) << nth << " of " << variant;
      // The time has not passed, so a claim would still be held.
      ASSERT_OK(feed().deliver_pending());
      EXPECT_EQ(feed().read({"29"}, 1000).value().items.size(), 1U) << nth << " of " << variant;
      if (!met) break;
    }
  }
}

TEST_P(FeedStops, ReleaseTheClaimIfTheyOccurDuringItsRelease) {
  ASSERT_OK(feed().deliver_pending());  // a worker of a stream begins with a scan
  ASSERT_OK(feed().publish({"ann"}, "post"));
  std::stop_source stop;
  bench.client.before([&](std::string_view operation, int) {
    if (operation == "BatchExecuteStatement") return refuse(Code::kValidation);
    if (operation != "UpdateItem" || !bench.client.latest_update().update->starts_with("REMOVE")) {
      return pass();
    }
    stop.request_stop();
    return CallLimits::current()->are_over() ? lose_request() : pass();
  });
  EXPECT_FALSE(feed().deliver_pending(stop.get_token()));
  bench.client.before(nullptr);
  EXPECT_TRUE(stop.stop_requested());
  EXPECT_TRUE(claimed("Feeds").empty());
}

TEST_P(FeedStops, ReleaseTheClaimOfAShard) {
  if (GetParam() != Outbox::kStream) GTEST_SKIP() << "the outbox has no shards";
  ASSERT_OK(feed().publish({"ann"}, "post"));
  EXPECT_TRUE(stopped_during(
      1,
      [&](const std::stop_token& stop) {
        EXPECT_FAILS(Code::kCancelled, feed().deliver_pending(stop));
      },
      "Scan"));
  EXPECT_TRUE(claimed("Feeds").empty());
}

TEST_P(FeedStops, EndTrimming) {
  for (int i = 0; i < 30; ++i) ASSERT_OK(feed().publish({"ann"}, "post"));
  ASSERT_OK(feed().deliver_pending());
  const auto trim = [&](const std::stop_token& stop) {
    const auto trimmed = feed().trim({"1"}, 2, stop);
    expect_done_or_cancelled(trimmed);
  };
  EXPECT_TRUE(stopped_during(1, trim));
  EXPECT_TRUE(stopped_during(3, trim));
  ASSERT_OK(feed().trim({"1"}, 2));
  EXPECT_EQ(feed().read({"1"}, 10).value().items.size(), 2U);
}

}  // namespace
}  // namespace stator
