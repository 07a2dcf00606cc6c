// SPDX-License-Identifier: Apache-2.0
// A seeded simulation in virtual time of several consumers of one stream: messages are delivered
// late, twice and out of order; clocks are wrong by minutes; requests are throttled, conflict or
// lose their replies; consumers crash between saving and acknowledging.
//
// At the end, every valid event must have been applied exactly once. The latest event of each
// toggle must have the greatest (time, event id). Only malformed messages must have been
// terminated.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/toggle_consume.h"
#include "stator/database.h"
#include "support/fake_time.h"
#include "support/faulty_client.h"
#include "support/from_environment.h"
#include "support/must.h"
#include "support/temp_dir.h"

namespace stator::cli {
namespace {

using namespace std::chrono_literals;
using namespace test;

constexpr int kConsumers = 4;
constexpr int kToggles = 3;
constexpr int kEvents = 60;
constexpr int kRounds = 25;
constexpr int kTurnsMax = 5'000;
constexpr std::size_t kFetch = 8;
constexpr std::chrono::nanoseconds kAckWait = 30s;

using Random = std::mt19937_64;

// The shared clock as read on one machine, wrong by `skew`.
class SkewedTime final : public TimeSource {
 public:
  SkewedTime(FakeTime& time, std::chrono::nanoseconds skew) : time_(time), skew_(skew) {}
  Time now() override { return time_.now() + skew_; }
  std::chrono::nanoseconds since_boot() override { return time_.since_boot(); }
  bool sleep(std::chrono::nanoseconds duration, std::stop_token stop) override {
    return time_.sleep(duration, std::move(stop));
  }

 private:
  FakeTime& time_;
  std::chrono::nanoseconds skew_;
};

struct Message {
  std::string text;
  bool valid = true;
  std::chrono::nanoseconds deliver_at{0};  // by the boot clock
  bool acknowledged = false;
  bool terminated = false;
};

// Simulates JetStream: redelivers messages that are not acknowledged in time.
class Broker {
 public:
  Broker(FakeTime& time, Random& random) : time_(time), random_(random) {}

  void publish(std::string text, bool valid) {
    const auto late = std::chrono::seconds(random_() % 3'000);
    messages_.push_back({.text = std::move(text),
                         .valid = valid,
                         .deliver_at = time_.since_boot() + (random_() % 4 == 0 ? late : 0s)});
  }
  std::vector<std::size_t> fetch() {
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      const Message& message = messages_[i];
      // An acknowledgment can be lost too.
      const bool again = message.acknowledged && random_() % 200 == 0;
      const bool waits = !message.acknowledged && !message.terminated;
      if ((waits || again) && message.deliver_at <= time_.since_boot()) ready.push_back(i);
    }
    std::ranges::shuffle(ready, random_);
    if (ready.size() > kFetch) ready.resize(kFetch);
    for (const std::size_t i : ready) messages_[i].deliver_at = time_.since_boot() + kAckWait;
    return ready;
  }
  Message& at(std::size_t i) { return messages_[i]; }
  bool all_settled() const {
    return std::ranges::all_of(messages_, [](const Message& message) {
      return message.acknowledged || message.terminated;
    });
  }
  const std::vector<Message>& messages() const { return messages_; }

 private:
  FakeTime& time_;
  Random& random_;
  std::vector<Message> messages_;
};

// One fetch. If `crashes`, the consumer crashes before it settles the messages.
class Delivery final : public EventSource {
 public:
  Delivery(Broker& broker, bool crashes) : broker_(broker), crashes_(crashes) {}
  Result<std::optional<std::vector<std::string>>> next(const std::stop_token&) override {
    if (std::exchange(fetched_, true)) return std::optional<std::vector<std::string>>();
    places_ = broker_.fetch();
    std::vector<std::string> texts;
    for (const std::size_t i : places_) texts.push_back(broker_.at(i).text);
    return std::optional(std::move(texts));
  }
  Result<void> settle(const std::vector<Settlement>& settlements) override {
    if (crashes_) return fail(Code::kCancelled, "crashed before it acknowledged");
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (settlements[i] == Settlement::kHandled) broker_.at(places_[i]).acknowledged = true;
      if (settlements[i] == Settlement::kRejected) broker_.at(places_[i]).terminated = true;
    }
    return {};
  }

 private:
  Broker& broker_;
  const bool crashes_;
  bool fetched_ = false;
  std::vector<std::size_t> places_;
};

struct Consumer {
  SkewedTime time;
  FaultyClient client;
};

class Simulation {
 public:
  Simulation(uint64_t seed, ToggleMode mode) : random_(seed), mode_(mode) {
    must(create_table_if_missing(database_, AnyToggle::table_definition(options(nullptr))));
    for (int i = 0; i < kConsumers; ++i) {
      const auto skew = std::chrono::seconds(static_cast<int64_t>(random_() % 1'800) - 900);
      consumers_.push_back(std::unique_ptr<Consumer>(
          new Consumer{.time = {time_, skew}, .client = FaultyClient(database_)}));
      consumers_.back()->client.before(
          [this](std::string_view, int) { return fate_of_a_request(); });
    }
  }

  void run() {
    int published = 0;
    for (int turn = 0; turn < kTurnsMax; ++turn) {
      if (published < kEvents && random_() % 2 == 0) publish(published++);
      if (published == kEvents && broker_.all_settled()) break;
      take_a_turn(*consumers_[random_() % consumers_.size()]);
      time_.advance(std::chrono::seconds(random_() % 20));
    }
    expect_every_event_once();
  }

 private:
  ToggleOptions options(TimeSource* time) const {
    return {.table = "Toggles", .mode = mode_, .time = time};
  }

  // Events are dated at most a few minutes ago, and many have the same time.
  void publish(int number) {
    const int toggle = static_cast<int>(random_() % kToggles);
    const std::string id = "t" + std::to_string(toggle);
    const std::chrono::seconds now(time_.now().unix_seconds() / 30 * 30);
    const Time at = Time(std::chrono::sys_seconds(now)) - std::chrono::minutes(random_() % 3);
    const std::string event =
        "e" + std::to_string(random_() % 1'000) + "-" + std::to_string(number);
    const std::string text = "{\"id\":\"" + id + "\",\"state\":" + std::to_string(number) +
                             ",\"at\":\"" + at.text() + "\",\"event\":\"" + event + "\"}";
    events_[id].emplace(at, event);
    for (uint64_t copies = random_() % 4 == 0 ? 2 : 1; copies > 0; --copies) {
      broker_.publish(text, true);
    }
    if (random_() % 10 == 0) broker_.publish(text.substr(0, text.size() / 2), false);
  }

  Fate fate_of_a_request() {
    switch (random_() % 12) {
      case 0:
        return lose_reply();
      case 1:
        return lose_request();
      case 2:
        return repeat();
      case 3:
        return refuse(Code::kThrottling);
      case 4:
        return refuse(Code::kTransactionConflict);
      case 5:
        return mode_ == ToggleMode::kGated ? cancel({"TransactionConflict", "None"})
                                           : refuse(Code::kServiceUnavailable);
      default:
        return pass();
    }
  }

  // A consumer that has crashed restarts with the same clock.
  void take_a_turn(Consumer& consumer) {
    ToggleOptions with = options(&consumer.time);
    // Without jitter, so that a seed gives the same run.
    with.retry = {.max_attempts = 2, .backoff_base = 0ms, .backoff_max = 0ms};
    if (mode_ == ToggleMode::kOrderedLog && random_() % 2 == 0) with.answer = Answer::kStored;
    const bool crashes = random_() % 5 == 0;
    Delivery delivery(broker_, crashes);
    const auto consumed =
        consume(delivery, AnyToggle(consumer.client, with),
                {.rejects_file = rejects_, .parallel = 1, .time = &consumer.time}, {});
    if (!crashes) {
      EXPECT_TRUE(consumed) << consumed.error().message;
    }
  }

  void expect_every_event_once() {
    for (const Message& message : broker_.messages()) {
      EXPECT_TRUE(message.acknowledged || message.terminated) << message.text;
      EXPECT_EQ(message.terminated, !message.valid) << message.text;
    }
    const AnyToggle toggle(database_, options(&time_));
    for (const auto& [id, events] : events_) {
      const auto latest = toggle.latest({id});
      ASSERT_TRUE(latest) << latest.error().message;
      EXPECT_EQ(std::pair(latest->at, latest->event.text), *events.rbegin()) << id;
      const auto log = must(toggle.history({id}, {}, {.limit = 1'000}));
      std::set<std::pair<Time, std::string>> applied;
      for (const auto& entry : log.items) {
        EXPECT_TRUE(applied.emplace(entry.at, entry.event.text).second) << "applied twice";
      }
      if (mode_ == ToggleMode::kOrderedLog) {
        EXPECT_EQ(applied, events) << id;
      } else {
        EXPECT_TRUE(std::ranges::includes(events, applied)) << id;
      }
    }
  }

  Random random_;
  const ToggleMode mode_;
  TempDir directory_;
  const std::string rejects_ = (directory_.path() / "rejects").string();
  FakeTime time_;
  Database database_ = must(Database::open());
  Broker broker_{time_, random_};
  std::vector<std::unique_ptr<Consumer>> consumers_;
  std::map<std::string, std::set<std::pair<Time, std::string>>> events_;
};

TEST(ToggleConsumeSimulation, AppliesEveryValidEventOnceAndTerminatesNone) {
  const uint64_t seed = number_from_environment("STATOR_SEED", std::random_device{}());
  for (uint64_t round = 0; round < kRounds; ++round) {
    const testing::ScopedTrace trace(
        __FILE__, __LINE__, "the first round of STATOR_SEED=" + std::to_string(seed + round));
    for (const ToggleMode mode : {ToggleMode::kOrderedLog, ToggleMode::kGated}) {
      Simulation(seed + round, mode).run();
    }
    if (testing::Test::HasFailure()) break;
  }
}

}  // namespace
}  // namespace stator::cli
