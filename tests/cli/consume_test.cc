// SPDX-License-Identifier: Apache-2.0
// stator toggle consume: events arrive late, twice and out of order, and consumers are killed at
// random. Each valid event is saved, and each invalid one is rejected with the reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cli/stator_program.h"
#include "nats/jetstream.h"
#include "stator/database.h"
#include "stator/http_client.h"
#include "stator/recipes/toggle.h"
#include "support/from_environment.h"
#include "support/nats_server.h"
#include "support/paths.h"
#include "support/poll_until.h"
#include "support/read_file.h"
#include "support/server_process.h"

namespace stator::test {
namespace {

using ::testing::HasSubstr;

constexpr int kEvents = 1'500;
constexpr int kToggles = 5;
constexpr const char* kPoison = "{\"id\":\"0\",\"state\":true,\"at\":\"soon\"}";

std::string id_of(int event) {
  return "toggle " + std::to_string(event % kToggles);
}

std::string event_text(int event) {
  return "{\"id\":\"" + id_of(event) + "\",\"state\":{\"n\":" + std::to_string(event) +
         ".50},\"at\":\"" +
         (Time::parse("2024-01-01T00:00:00Z").value() + std::chrono::milliseconds(event)).text() +
         "\",\"event\":\"e" + std::to_string(event) + "\"}";
}

// Every event at least once, in any order, with invalid ones among them.
std::vector<std::string> published(uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::string> texts;
  for (int event = 0; event < kEvents; ++event) {
    for (uint64_t times = random() % 5 == 0 ? 2 : 1; times > 0; --times) {
      texts.push_back(event_text(event));
    }
    if (event % 100 == 0) texts.emplace_back(kPoison);
  }
  std::ranges::shuffle(texts, random);
  return texts;
}

// Checks the final state after all these events.
void expect_converged(Client& client) {
  const AnyToggle toggle(client, {.table = "Toggles"});
  for (int first = 0; first < kToggles; ++first) {
    const int last = kEvents - kToggles + first;
    const auto latest = toggle.latest({id_of(first)});
    ASSERT_TRUE(latest) << latest.error().message;
    EXPECT_EQ(latest->event.text, "e" + std::to_string(last));
    EXPECT_EQ(latest->state,
              AttributeValue(Map{{"n", Number::parse(std::to_string(last) + ".5").value()}}));
    std::set<std::string> events;
    std::string cursor;
    do {
      const auto page = toggle.history({id_of(first)}, {}, {.limit = 1000, .cursor = cursor});
      ASSERT_TRUE(page) << page.error().message;
      for (const auto& entry : page->items) events.insert(entry.event.text);
      cursor = page->next;
    } while (!cursor.empty());
    EXPECT_EQ(events.size(), kEvents / kToggles);
  }
}

// Only the time of the crash is not reproducible.
void kill_soon(Process& process, std::mt19937_64& random) {
  std::this_thread::sleep_for(std::chrono::microseconds(random() % 20'000));
  process.send_signal(SIGKILL);
  process.wait();
}

class Consume : public testing::Test {
 protected:
  std::string at(const char* name) const { return (directory_.path() / name).string(); }

  void write_events(const std::vector<std::string>& texts) const {
    std::ofstream file(at("events"));
    for (const std::string& text : texts) file << text << '\n';
  }

  TempDir directory_;
  uint64_t seed_ = number_from_environment("STATOR_SEED", std::random_device{}());
  testing::ScopedTrace trace_{__FILE__, __LINE__, "STATOR_SEED=" + std::to_string(seed_)};
};

TEST_F(Consume, SavesEveryEventAndRejectsInvalidOnes) {
  write_events(published(seed_));
  const Ran ran = run_stator({"toggle", "consume", at("events"), "--data", at("data"), "--rejects",
                              at("rejects"), "--json"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("\"rejected\":15"));
  EXPECT_THAT(ran.out, HasSubstr("\"stored\":1500"));
  const std::string rejects = read_file(at("rejects"));
  EXPECT_EQ(std::ranges::count(rejects, '\n'), 15);
  EXPECT_THAT(rejects, HasSubstr("\"reason\":\"InvalidArgument: time: not RFC 3339"));
  EXPECT_THAT(rejects, HasSubstr("soon"));
  auto database = Database::open({.path = at("data")});
  ASSERT_TRUE(database);
  expect_converged(*database);
}

TEST_F(Consume, DistinguishesNewestFromLateIfRequested) {
  write_events({event_text(5), event_text(0), event_text(5), event_text(10)});
  const Ran ran = run_stator(
      {"toggle", "consume", at("events"), "--data", at("data"), "--parallel", "1", "--exact"});
  EXPECT_THAT(ran, Prints("2 newest, 1 late, 0 stored, 1 duplicates, 0 rejected\n"));
}

TEST_F(Consume, ResumesFromItsCheckpoint) {
  const std::vector<std::string> arguments = {"toggle",   "consume",      at("events"),  "--data",
                                              at("data"), "--checkpoint", at("position")};
  write_events({event_text(0), event_text(1)});
  EXPECT_THAT(run_stator(arguments),
              Prints("0 newest, 0 late, 2 stored, 0 duplicates, 0 rejected\n"));
  write_events({event_text(0), event_text(1), event_text(2)});
  EXPECT_THAT(run_stator(arguments),
              Prints("0 newest, 0 late, 1 stored, 0 duplicates, 0 rejected\n"));
  write_events({event_text(0)});
  expect_refusal(arguments, 2, "the input ends before its checkpoint");
  std::ofstream(at("position")) << "nonsense\n";
  expect_refusal(arguments, 2, "is not a checkpoint");
}

TEST_F(Consume, TruncatesOverlongLinesAndContinues) {
  write_events({"{\"id\":\"" + std::string(2'000'000, 'x') + "\"}", event_text(3)});
  const Ran ran = run_stator(
      {"toggle", "consume", at("events"), "--data", at("data"), "--rejects", at("rejects")});
  EXPECT_THAT(ran, Prints("0 newest, 0 late, 1 stored, 0 duplicates, 1 rejected\n"));
  EXPECT_THAT(read_file(at("rejects")), HasSubstr("longer than 512 KB"));
  EXPECT_LT(read_file(at("rejects")).size(), 600'000U);
}

TEST_F(Consume, LosesNoLineIfItIsKilled) {
  write_events(published(seed_));
  std::mt19937_64 random(seed_);
  const std::vector<std::string> arguments = {
      "toggle",       "consume",   at("events"),  "--data",     at("data"), "--checkpoint",
      at("position"), "--rejects", at("rejects"), "--parallel", "4"};
  const auto size = std::filesystem::file_size(at("events"));
  for (std::string before = read_file(at("position")); before != std::to_string(size) + "\n";
       before = read_file(at("position"))) {
    Process consumer(stator_command(arguments));
    poll_until([&] { return read_file(at("position")) != before; });
    kill_soon(consumer, random);
  }
  const Ran last = run_stator(arguments);
  EXPECT_EQ(last.status, 0) << last.err;
  EXPECT_GE(std::ranges::count(read_file(at("rejects")), '\n'), 15);
  auto database = Database::open({.path = at("data")});
  ASSERT_TRUE(database);
  expect_converged(*database);
}

TEST_F(Consume, LosesNoMessageIfAnyConsumerIsKilled) {
  const NatsServer nats;
  ASSERT_FALSE(nats.url().empty()) << "nats-server did not start";
  const ServerProcess server(stator_binary(), {"--data", at("data")});
  auto stream = nats::JetStream::connect({.url = nats.url()});
  ASSERT_TRUE(stream) << stream.error().message;
  ASSERT_TRUE(stream->create_stream_if_missing("TOGGLES", {"toggles.>"}));
  int number = 0;
  for (const std::string& text : published(seed_)) {
    ASSERT_TRUE(stream->publish("toggles.house", text, std::to_string(++number)));
  }

  auto client = HttpClient::open({.endpoint = server.url()});
  ASSERT_TRUE(client);
  const auto count = [&] {
    const auto page = client->scan({.table = "Toggles",
                                    .filter = "begins_with(sk, :log)",
                                    .values = Values{{":log", "LOG#"}},
                                    .select = Select::kCount});
    return page ? page->count : 0;
  };
  const std::vector<std::string> consume =
      stator_command({"toggle", "consume", "--endpoint", server.url(), "--nats", nats.url(),
                      "--ack-wait", "1", "--parallel", "1", "--rejects", at("rejects")});
  std::mt19937_64 random(seed_);
  for (int kill = 0; kill < 3; ++kill) {
    Process consumer(consume);
    poll_until([&, before = count()] { return count() > before; });
    kill_soon(consumer, random);
  }

  // Events of killed consumers are redelivered after their time to acknowledge.
  Process steady(consume);
  EXPECT_TRUE(poll_until([&] { return count() == kEvents; }));
  steady.send_signal(SIGTERM);
  EXPECT_EQ(steady.wait(), 0) << steady.err();
  expect_converged(*client);
}

TEST_F(Consume, ReceivesTheEventsOfItsSubjectThatItsDurableHasNotReceived) {
  const NatsServer nats;
  ASSERT_FALSE(nats.url().empty()) << "nats-server did not start";
  const ServerProcess server(stator_binary(), {"--memory"});
  auto stream = nats::JetStream::connect({.url = nats.url()});
  ASSERT_TRUE(stream) << stream.error().message;
  ASSERT_TRUE(stream->create_stream_if_missing("SWITCHES", {"switches.>"}));
  ASSERT_TRUE(stream->publish("switches.cellar", event_text(0), "0"));
  ASSERT_TRUE(stream->publish("switches.kitchen", event_text(1), "1"));

  auto client = HttpClient::open({.endpoint = server.url()});
  ASSERT_TRUE(client);
  using Events = std::set<std::string>;
  const auto publish = [&](int event) {
    ASSERT_TRUE(stream->publish("switches.kitchen", event_text(event), std::to_string(event)));
  };
  // Consumes until all of `wanted` are saved in a table, then publishes the `next` event, and
  // consumes until it is saved too. Then the earlier ones are acknowledged; the last one might not
  // be. Returns all saved events.
  const auto consumed = [&](const std::string& durable, const std::string& table,
                            const Events& wanted, int next) {
    Process consumer(
        stator_command({"toggle", "consume", "--endpoint", server.url(), "--nats", nats.url(),
                        "--nats-stream", "SWITCHES", "--nats-subject", "switches.kitchen",
                        "--nats-durable", durable, "--table", table}));
    const AnyToggle toggle(*client, {.table = table});
    Events events;
    const auto has = [&](const Events& sought) {
      for (int event = 0; event < 5; ++event) {
        const auto page = toggle.history({id_of(event)});
        if (!page) return false;  // the table does not exist yet
        for (const auto& entry : page->items) events.insert(entry.event.text);
      }
      return std::ranges::includes(events, sought);
    };
    EXPECT_TRUE(poll_until([&] { return has(wanted); }));
    publish(next);
    EXPECT_TRUE(poll_until([&] { return has({"e" + std::to_string(next)}); }));
    consumer.send_signal(SIGTERM);
    EXPECT_EQ(consumer.wait(), 0) << consumer.err();
    return events;
  };
  EXPECT_EQ(consumed("one", "First", {"e1"}, 2), Events({"e1", "e2"}));
  const Events second = consumed("one", "Second", {}, 3);
  EXPECT_FALSE(second.contains("e1"));
  EXPECT_EQ(consumed("two", "Third", {"e1", "e2", "e3"}, 4), Events({"e1", "e2", "e3", "e4"}));
}

TEST_F(Consume, ReportsAnUnreachableNatsServerInOneLine) {
  expect_refusal({"toggle", "consume", "--data", at("data"), "--nats", "nats://127.0.0.1:1"}, 1,
                 "cannot connect to the NATS server at 'nats://127.0.0.1:1'");
}

}  // namespace
}  // namespace stator::test
