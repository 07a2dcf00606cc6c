// SPDX-License-Identifier: Apache-2.0
// A seeded simulation in virtual time: thousands of short histories of several consumers of one
// stream, and a reader. Messages are delivered late, twice and out of order. Clocks are skewed,
// drift and jump. Requests are lost, repeated, late, throttled, or conflict. Consumers pause and
// crash at any request. STATOR_SEED repeats a history, STATOR_TOGGLE_RUNS sets their number.
//
// In some histories, no clock is more than ten minutes off; in others, clocks are off by hours.
// Expired items are deleted at any time after their expiry. Then:
// * The latest event is at any time the greatest stored one, and at the end the greatest valid one.
// * Every valid event is stored once (kOrderedLog), and only malformed ones are rejected.
// * as_of() and history() are complete, with a retention only within it and with clocks that are at
//   most ten minutes off. Before it, as_of() is right or returns kExpired.
// * Superseded events expire; the latest does not.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/toggle_consume.h"
#include "stator/database.h"
#include "support/faulty_client.h"
#include "support/from_environment.h"
#include "support/must.h"
#include "support/temp_dir.h"
#include "support/virtual_world.h"

namespace stator::cli {
namespace {

using namespace std::chrono_literals;
using namespace test;
using std::chrono::nanoseconds;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint64_t kRuns = 300;
#else
constexpr uint64_t kRuns = 2'000;
#endif
constexpr std::size_t kConsumers = 3;
constexpr std::size_t kReader = kConsumers;  // its actor
constexpr std::size_t kFetch = 4;
constexpr nanoseconds kAckWait = 2min;
constexpr nanoseconds kPublishing = 2h;
constexpr nanoseconds kReading = 6h;
constexpr nanoseconds kClocksAreSet = 8h;  // correctly, so that the history ends
constexpr nanoseconds kEnd = 48h;
constexpr nanoseconds kClose = 10min;

using Tally = std::map<std::string, int>;
using EventKey = std::pair<Time, std::string>;

Time true_time(const VirtualWorld& world) {
  return Time(std::chrono::sys_days(std::chrono::year(2024) / 5 / 1)) + world.now();
}

// The clocks of an actor's machine. The wall clock is off, by up to ten minutes if it is `close`.
class WrongTime final : public TimeSource {
 public:
  WrongTime(VirtualWorld& world, std::size_t actor, SeededRandom& random, bool close, Tally& tally)
      : world_(world),
        random_(random),
        close_(close),
        tally_(tally),
        boot_(world, actor, random, 9s) {
    jump();
  }

  Time now() override {
    if (world_.now() > kClocksAreSet) return true_time(world_);
    if (random_.chance(5)) jump();
    nanoseconds off = off_ + (world_.now() - since_) * drift_percent_ / 100;
    if (close_) off = std::clamp(off, -kClose, kClose);
    return true_time(world_) + off;
  }
  nanoseconds since_boot() override { return boot_.since_boot(); }
  bool sleep(nanoseconds duration, std::stop_token stop) override {
    return boot_.sleep(duration, std::move(stop));
  }

 private:
  void jump() {
    ++tally_["jumps of a clock"];
    const nanoseconds most = close_ || random_.chance(50) ? kClose : 3h;
    off_ = random_.chance(20) ? random_.one_of({-most, most}) : random_.below(most * 2) - most;
    drift_percent_ = random_.below(int64_t{5}) - 2;
    since_ = world_.now();
  }

  VirtualWorld& world_;
  SeededRandom& random_;
  const bool close_;
  Tally& tally_;
  MachineTime boot_;
  nanoseconds off_{0};
  nanoseconds since_{0};
  int64_t drift_percent_ = 0;
};

struct Message {
  std::string text;
  bool valid = true;
  nanoseconds deliver_at{0};
  bool delivered = false;
  bool acknowledged = false;
  bool terminated = false;
};

// Simulates JetStream: redelivers messages that are not acknowledged in time.
class Broker {
 public:
  Broker(VirtualWorld& world, SeededRandom& random, Tally& tally)
      : world_(world), random_(random), tally_(tally) {}

  void publish(Message message) { messages_.push_back(std::move(message)); }
  std::vector<std::size_t> fetch() {
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      const Message& message = messages_[i];
      if (message.deliver_at > world_.now()) continue;
      // An acknowledgment can be lost too.
      const bool again = message.acknowledged && random_.chance(1);
      if ((!message.acknowledged && !message.terminated) || again) ready.push_back(i);
    }
    while (ready.size() > kFetch) ready.erase(ready.begin() + random_.below(std::ssize(ready)));
    for (const std::size_t i : ready) {
      if (std::exchange(messages_[i].delivered, true)) ++tally_["redeliveries"];
      messages_[i].deliver_at = world_.now() + kAckWait;
    }
    return ready;
  }
  Message& at(std::size_t i) { return messages_[i]; }
  const std::vector<Message>& messages() const { return messages_; }
  bool all_settled() const {
    return std::ranges::all_of(messages_, [](const Message& message) {
      return message.acknowledged || message.terminated;
    });
  }

 private:
  VirtualWorld& world_;
  SeededRandom& random_;
  Tally& tally_;
  std::vector<Message> messages_;
};

// The messages of one consumer. If it has crashed, it settles nothing.
class Subscription final : public EventSource {
 public:
  // `waits` returns whether there can be another message.
  Subscription(Broker& broker, const bool& crashed, std::function<bool()> waits)
      : broker_(broker), crashed_(crashed), waits_(std::move(waits)) {}
  Result<std::optional<std::vector<std::string>>> next(const std::stop_token&) override {
    if (!waits_()) return std::optional<std::vector<std::string>>();
    places_ = broker_.fetch();
    std::vector<std::string> texts;
    for (const std::size_t i : places_) texts.push_back(broker_.at(i).text);
    return std::optional(std::move(texts));
  }
  Result<void> settle(const std::vector<Settlement>& settlements) override {
    if (crashed_) return fail(Code::kIo, "crashed before it acknowledged");
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (settlements[i] == Settlement::kHandled) broker_.at(places_[i]).acknowledged = true;
      if (settlements[i] == Settlement::kRejected) broker_.at(places_[i]).terminated = true;
    }
    return {};
  }

 private:
  Broker& broker_;
  const bool& crashed_;
  const std::function<bool()> waits_;
  std::vector<std::size_t> places_;
};

class History {
 public:
  History(Database& database, uint64_t seed, const std::string& rejects, Tally& tally)
      : database_(database),
        random_(seed),
        tally_(tally),
        rejects_(rejects),
        table_("Toggles" + std::to_string(seed)),
        mode_(random_.chance(50) ? ToggleMode::kOrderedLog : ToggleMode::kGated),
        close_(random_.chance(60)),
        stored_before_(random_.chance(50)) {
    if (random_.chance(65)) retention_ = random_.one_of<std::chrono::seconds>({30min, 1h, 3h});
    changes_ = stored_before_ && retention_ && random_.chance(30);
    shortest_ = retention_;
    must(database_.create_table(AnyToggle::table_definition(options(nullptr))));
    if (stored_before_ && retention_) {
      EXPECT_TRUE(AnyToggle(database_, options(nullptr)).change_retention(*retention_));
    }
    publish_all();
    for (std::size_t i = 0; i <= kReader; ++i) {
      actors_.push_back(
          std::unique_ptr<Actor>(new Actor{.index = i,
                                           .time = {world_, i, random_, close_, tally_},
                                           .client = FaultyClient(database_)}));
      connect(*actors_.back());
    }
  }

  // Plays the history. Returns the first violation, or an empty string.
  std::string play() {
    std::vector<std::function<void()>> lives;
    for (std::size_t i = 0; i < kConsumers; ++i)
      lives.emplace_back([this, i] { consume(*actors_[i]); });
    lives.emplace_back([this] { read(*actors_[kReader]); });
    world_.run(lives);
    for (const auto& actor : actors_) {
      while (actor->client.delayed() > 0) actor->client.arrive(0);
    }
    if (wrong_.empty()) judge_end();
    must(database_.delete_table({.table = table_}));
    return wrong_;
  }

 private:
  struct Actor {
    std::size_t index;
    WrongTime time;
    FaultyClient client;
    int64_t requests_left = 1'000'000;
    bool crashed = false;
  };
  struct Toggle {
    std::map<EventKey, int> events = {};  // all valid ones, with their states
    std::set<EventKey> stored = {};       // those seen in the log so far
    std::set<EventKey> deleted = {};      // those that have expired
  };

  void fail(const std::string& what) {
    if (wrong_.empty()) wrong_ = what;
  }

  // Without jitter, so that a seed gives the same history.
  ToggleOptions options(TimeSource* time) const {
    return {.table = table_,
            .mode = mode_,
            .retention = retention_,
            .retry = {.max_attempts = 3, .backoff_base = 0ms, .backoff_max = 0ms},
            .time = time};
  }

  // ---- The stream

  // Many events have the same time. Some publishers' clocks are wrong.
  void publish_all() {
    const int64_t count = 2 + random_.below(int64_t{6});
    for (int number = 0; number < count; ++number) {
      const nanoseconds now = random_.below(kPublishing);
      const int64_t kind = random_.below(int64_t{20});
      nanoseconds ahead = -random_.below(3min);
      if (kind < 2) ahead = -random_.below(3h);
      if (kind == 2) ahead = random_.below(40min);
      const nanoseconds when = now + ahead;
      const Time at = true_time(world_) + (random_.chance(60) ? when / 30s * 30s : when);
      const std::string id = "t" + std::to_string(random_.below(toggle_count_));
      const std::string event =
          "e" + std::to_string(random_.below(int64_t{10})) + "-" + std::to_string(number);
      const std::string text = "{\"id\":\"" + id + "\",\"state\":" + std::to_string(number) +
                               ",\"at\":\"" + at.text() + "\",\"event\":\"" + event + "\"}";
      toggles_[id].events.emplace(EventKey(at, event), number);
      const auto deliver = [&] {
        const nanoseconds late = random_.chance(25) ? random_.below(1h) : 0ns;
        return world_.now() + now + late;
      };
      broker_.publish({.text = text, .deliver_at = deliver()});
      if (random_.chance(25)) {
        broker_.publish({.text = text, .deliver_at = deliver()});
        ++tally_["events published twice"];
      }
      if (random_.chance(2)) {
        broker_.publish({.text = text.substr(1), .valid = false, .deliver_at = deliver()});
        ++tally_["malformed messages"];
      }
    }
  }

  // ---- The network

  void connect(Actor& actor) {
    actor.client.before([this, &actor](std::string_view operation, int) {
      pass_time(actor);
      return fate_of(actor, operation);
    });
    actor.client.after([this, &actor](std::string_view) { pass_time(actor); });
  }

  void pass_time(const Actor& actor) {
    nanoseconds delay = random_.below(100ms);
    if (random_.chance(actor.index == kReader ? 10 : 2)) delay = random_.below(2h);
    if (delay > kAckWait) ++tally_["pauses"];
    world_.wait_until(actor.index, world_.now() + delay);
  }

  Fate fate_of(Actor& actor, std::string_view operation) {
    if (--actor.requests_left == 0) actor.crashed = true;
    // Its last request is sent or not; it does not learn more.
    if (actor.crashed)
      return actor.requests_left == 0 && random_.chance(50) ? lose_reply() : refuse(Code::kIo);
    const bool writes =
        operation == "PutItem" || operation == "UpdateItem" || operation == "TransactWriteItems";
    switch (random_.below(int64_t{20})) {
      case 0:
        return counted("lost requests", lose_request());
      case 1:
        return counted("lost replies", lose_reply());
      case 2:
        return counted("requests that arrived twice", repeat());
      case 3:
        if (!writes) return lose_request();
        arrive_later(actor);
        return counted("late requests", delay());
      case 4:
        if (!writes) return lose_reply();
        arrive_later(actor);
        return counted("late copies", echo());
      case 5:
        return counted("throttled requests", refuse(Code::kThrottling));
      case 6:
        return counted("conflicts", operation == "TransactWriteItems"
                                        ? cancel({"TransactionConflict", "None"})
                                        : refuse(Code::kTransactionConflict));
      default:
        return pass();
    }
  }
  Fate counted(const char* what, Fate fate) {
    ++tally_[what];
    return fate;
  }
  void arrive_later(Actor& actor) {
    world_.at(world_.now() + random_.below(10min), [this, &actor] {
      const auto count = static_cast<int64_t>(actor.client.delayed());
      if (count > 0) actor.client.arrive(static_cast<std::size_t>(random_.below(count)));
    });
  }

  // ---- The table

  struct Entry {
    std::string pk;
    std::string sk;
    std::string id;
    EventKey key;
    std::optional<int64_t> expires_at;
  };
  std::vector<Entry> log() const {
    std::vector<Entry> entries;
    for (const Item& item : must(database_.scan({.table = table_})).items) {
      const std::string& pk = *item.at("pk").get_if<std::string>();
      const std::string& sk = *item.at("sk").get_if<std::string>();
      if (!sk.starts_with("LOG#")) continue;
      Entry entry{.pk = pk,
                  .sk = sk,
                  .id = pk.substr(pk.find('#') + 1),
                  .key = {Time::parse(*item.at("created_at").get_if<std::string>()).value(),
                          sk.substr(sk.rfind('#') + 1)},
                  .expires_at = {}};
      if (item.contains("expires_at")) {
        entry.expires_at = item.at("expires_at").get_if<Number>()->to_int64();
      }
      entries.push_back(std::move(entry));
    }
    return entries;
  }
  // Updates the sets of stored events. Before a deletion, so that they include the deleted ones.
  std::vector<Entry> look() {
    std::vector<Entry> entries = log();
    for (const Entry& entry : entries) toggles_[entry.id].stored.insert(entry.key);
    return entries;
  }
  // Deletes some of the expired items.
  void sweep() {
    if (!retention_) return;
    for (const Entry& entry : look()) {
      if (!entry.expires_at || *entry.expires_at > true_time(world_).unix_seconds()) continue;
      if (random_.chance(40)) continue;
      must(database_.delete_item({.table = table_, .key = {{"pk", entry.pk}, {"sk", entry.sk}}}));
      toggles_[entry.id].deleted.insert(entry.key);
      ++tally_["expired events"];
      has_deleted_ = true;
    }
  }

  // ---- Consumers

  bool is_done() {
    if (world_.now() > kEnd) fail("some messages are never settled");
    return !wrong_.empty() || broker_.all_settled();
  }

  void consume(Actor& actor) {
    while (!is_done()) {
      const AnyToggle toggle = started(actor);
      Subscription subscription(broker_, actor.crashed, [&] {
        world_.wait_until(actor.index, world_.now() + random_.below(20min));
        if (random_.chance(15)) sweep();
        return !is_done();
      });
      const auto consumed = cli::consume(
          subscription, toggle, {.rejects_file = rejects_, .parallel = 1, .time = &actor.time}, {});
      if (actor.crashed) {
        ++tally_["crashes"];
      } else if (!consumed) {
        fail("a consumer ends: " + consumed.error().message);
      } else {
        count(*consumed);
      }
    }
  }

  // Starts a process. Some use the stored retention.
  AnyToggle started(Actor& actor) {
    ToggleOptions with = options(&actor.time);
    if (changes_ || (stored_before_ && random_.chance(50))) with.retention.reset();
    if (random_.chance(50)) with.answer = Answer::kStored;
    actor.crashed = false;
    actor.requests_left = random_.chance(50) ? 1 + random_.below(int64_t{20}) : 1'000'000;
    return {actor.client, with};
  }

  void count(const Consumed& consumed) {
    tally_["newest"] += static_cast<int>(consumed.newest);
    tally_["late"] += static_cast<int>(consumed.late);
    tally_["stored"] += static_cast<int>(consumed.stored);
    tally_["duplicates"] += static_cast<int>(consumed.duplicates);
    tally_["in the future"] += static_cast<int>(consumed.left);
    first_saves_ += consumed.newest + consumed.stored;
    if (mode_ == ToggleMode::kOrderedLog) first_saves_ += consumed.late;
  }

  // ---- The reader

  void read(Actor& actor) {
    ToggleOptions with = options(&actor.time);
    if (changes_) with.retention.reset();
    const AnyToggle toggle(actor.client, with);
    // Superseded events expire after the last one was saved.
    while (!is_done() || (wrong_.empty() && world_.now() < kReading)) {
      world_.wait_until(actor.index, world_.now() + random_.below(40min));
      sweep();
      look();
      const std::string id = "t" + std::to_string(random_.below(toggle_count_));
      const std::set<EventKey> before = toggles_[id].stored;
      switch (random_.below(int64_t{changes_ ? 4 : 3})) {
        case 0:
          read_latest(toggle, id, before);
          break;
        case 1:
          read_as_of(toggle, id, before);
          break;
        case 2:
          read_history(toggle, id, before);
          break;
        default:
          change_retention(toggle);
      }
    }
  }

  // Returns false for a failure that the faults explain.
  bool is_answer(const Error& error) {
    if (!error.retryable()) return true;
    ++tally_["reads without an answer"];
    return false;
  }

  void read_latest(const AnyToggle& toggle, const std::string& id,
                   const std::set<EventKey>& before) {
    const auto found = toggle.latest({id});
    look();
    if (found) {
      judge(id, before, *found, Time() + nanoseconds::max());
    } else if (is_answer(found.error()) &&
               !(found.error().code == Code::kNotFound && before.empty())) {
      fail("latest: " + found.error().message);
    }
  }

  void read_as_of(const AnyToggle& toggle, const std::string& id,
                  const std::set<EventKey>& before) {
    // Often near the end of the retention.
    nanoseconds ago = random_.below(5h) - 15min;
    if (shortest_ && random_.chance(50)) ago = *shortest_ + random_.below(30min) - 20min;
    const Time at = true_time(world_) - ago;
    const auto found = toggle.as_of({id}, at);
    look();
    const auto known = greatest(before, at);
    if (found) return judge(id, before, *found, at);
    if (!is_answer(found.error())) return;
    if (found.error().code == Code::kExpired) {
      ++tally_["states that are unknown"];
      const Time earliest = true_time(world_) + kClose - shortest_.value_or(0s);
      if (!shortest_) fail("as_of: kExpired without a retention");
      if (close_ && at >= earliest) fail("as_of: kExpired within the retention");
    } else if (found.error().code != Code::kNotFound || (known && is_complete())) {
      fail("as_of " + at.text() + ": " + found.error().message);
    }
  }

  // Whether every state is known that as_of() returns.
  bool is_complete() const { return !retention_ || close_; }

  static std::optional<EventKey> greatest(const std::set<EventKey>& keys, Time at) {
    std::optional<EventKey> last;
    for (const EventKey& key : keys) {
      if (key.first <= at) last = key;
    }
    return last;
  }

  // Checks an event that was returned as the last one up to `at`.
  void judge(const std::string& id, const std::set<EventKey>& before,
             const Switch<AttributeValue>& found, Time at) {
    const Toggle& toggle = toggles_[id];
    const EventKey key(found.at, found.event.text);
    const auto event = toggle.events.find(key);
    if (event == toggle.events.end() || found.state != AttributeValue(event->second)) {
      return fail("an event that nobody published: " + key.second);
    }
    ++tally_["states read"];
    const bool of_all = at == Time() + nanoseconds::max();
    if (!of_all && !is_complete()) return;
    const auto least = greatest(before, at);
    const auto most = greatest(toggle.stored, at);
    if ((least && key < *least) || !most || key > *most) {
      fail("returned " + key.second + " up to " + at.text() + ", although " +
           (least ? least->second : "none") + " is stored");
    }
  }

  void read_history(const AnyToggle& toggle, const std::string& id,
                    const std::set<EventKey>& before) {
    PageOptions page{.limit = 2, .newest_first = random_.chance(50)};
    std::vector<EventKey> found;
    do {
      const auto read = toggle.history({id}, {}, page);
      if (!read) {
        if (is_answer(read.error())) fail("history: " + read.error().message);
        return;
      }
      for (const auto& entry : read->items) found.emplace_back(entry.at, entry.event.text);
      page.cursor = read->next;
    } while (!page.cursor.empty());
    look();
    ++tally_["histories read"];
    if (page.newest_first) std::ranges::reverse(found);
    if (!std::ranges::is_sorted(found, std::less_equal<>())) fail("the history repeats an event");
    if (!std::ranges::includes(toggles_[id].stored, found)) fail("the history has another event");
    if (!is_complete()) return;
    const Time kept_since = true_time(world_) + kClose - shortest_.value_or(0s);
    for (const EventKey& key : before) {
      if (shortest_ && key.first < kept_since) continue;
      if (!std::ranges::binary_search(found, key)) fail("the history lacks " + key.second);
    }
  }

  void change_retention(const AnyToggle& toggle) {
    const auto to = random_.one_of<std::chrono::seconds>({30min, 1h, 3h});
    shortest_ = std::min(*shortest_, to);  // also if the change has no response
    (void)toggle.change_retention(to);
    ++tally_["changes of the retention"];
  }

  // ---- The end

  void judge_end() {
    for (const Message& message : broker_.messages()) {
      if (message.terminated == message.valid) fail("wrong settlement of " + message.text);
    }
    const std::vector<Entry> entries = look();
    const AnyToggle reader(database_, [&] {
      ToggleOptions with = options(&actors_[kReader]->time);
      if (changes_) with.retention.reset();
      return with;
    }());
    std::size_t count = 0;
    for (const auto& [id, toggle] : toggles_) {
      count += toggle.events.size();
      if (toggle.events.empty()) continue;
      const auto latest = reader.latest({id});
      if (!latest || EventKey(latest->at, latest->event.text) != toggle.events.rbegin()->first) {
        fail("the latest is not the greatest");
      }
      std::set<EventKey> valid;
      for (const auto& [key, state] : toggle.events) valid.insert(key);
      if (mode_ == ToggleMode::kOrderedLog && toggle.stored != valid) fail("an event is missing");
      if (!std::ranges::includes(valid, toggle.stored)) fail("an event that nobody published");
    }
    if (!has_deleted_ && first_saves_ > static_cast<int64_t>(count)) {
      fail("an event was saved twice");
    }
    for (const Entry& entry : entries) judge_expiry(entry);
  }

  void judge_expiry(const Entry& entry) {
    const Toggle& toggle = toggles_[entry.id];
    if (entry.key == toggle.events.rbegin()->first) {
      if (entry.expires_at) fail("the latest event expires");
      return;
    }
    if (!retention_ && entry.expires_at) fail("an event expires without a retention");
    // A paused consumer can save an event after its expiry, and then crash.
    if (retention_ && !entry.expires_at && !toggle.deleted.contains(entry.key)) {
      fail("the superseded event " + entry.key.second + " never expires");
    }
  }

  Database& database_;
  SeededRandom random_;
  Tally& tally_;
  const std::string rejects_;
  const std::string table_;
  const ToggleMode mode_;
  const bool close_;          // no clock is more than ten minutes off
  const bool stored_before_;  // the settings are stored before the first event
  bool changes_ = false;      // the retention changes
  std::optional<std::chrono::seconds> retention_ = {};
  std::optional<std::chrono::seconds> shortest_ = {};  // the shortest retention so far
  VirtualWorld world_;
  Broker broker_{world_, random_, tally_};
  const int64_t toggle_count_ = random_.chance(70) ? 1 : 2;
  std::map<std::string, Toggle> toggles_;
  std::vector<std::unique_ptr<Actor>> actors_;
  int64_t first_saves_ = 0;
  bool has_deleted_ = false;  // a redelivered event can then be new again
  std::string wrong_;
};

TEST(ToggleConsumeSimulation, AppliesEveryValidEventOnceAndTerminatesNone) {
  const auto [first, runs] = seeds_from_environment("STATOR_TOGGLE_RUNS", kRuns);
  const TempDir directory;
  const std::string rejects = (directory.path() / "rejects").string();
  Database database = must(Database::open());
  Tally tally;
  for (uint64_t seed = first; seed < first + runs; ++seed) {
    ASSERT_EQ(History(database, seed, rejects, tally).play(), "") << "STATOR_SEED=" << seed;
  }
  for (const auto& [what, count] : tally) std::printf("%d %s\n", count, what.c_str());
  if (runs < 100) return;
  // Otherwise the histories would not test enough.
  for (const char* what : {"changes of the retention",
                           "conflicts",
                           "crashes",
                           "duplicates",
                           "events published twice",
                           "expired events",
                           "histories read",
                           "in the future",
                           "jumps of a clock",
                           "late",
                           "late copies",
                           "late requests",
                           "lost replies",
                           "lost requests",
                           "malformed messages",
                           "newest",
                           "pauses",
                           "redeliveries",
                           "requests that arrived twice",
                           "states read",
                           "states that are unknown",
                           "stored",
                           "throttled requests"}) {
    EXPECT_GT(tally[what], static_cast<int>(runs) / 50) << what;
  }
}

}  // namespace
}  // namespace stator::cli
