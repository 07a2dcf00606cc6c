// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>
#include <thread>

#include "recipes/toggle_suite.h"

namespace stator {
namespace {

using namespace std::chrono_literals;
using namespace test;

struct Event {
  std::string id;
  Time at;
  bool state;
};

class ToggleTest : public ToggleSuite {
 protected:
  void SetUp() override {
    ToggleSuite::SetUp();
    if (IsSkipped()) return;
    // Stored before the test, so that faults affect only the test's own requests.
    ASSERT_OK(Toggle<bool>(*bench.home.client, options()).save({"first"}, true, bench.time.now()));
  }

  const char* write() const { return gated() ? "TransactWriteItems" : "PutItem"; }
};

STATOR_TOGGLE_HOMES(ToggleTest, ToggleMode::kOrderedLog, ToggleMode::kGated);

// ---- The article's suite

TEST_P(ToggleTest, SavesASwitch) {
  Toggle<bool> toggle(bench.client, options());
  EXPECT_EQ(toggle.save({"123"}, true, now()).value(), Saved::kNewest);
  EXPECT_EQ(toggle.latest({"123"}).value().state, true);
}

TEST_P(ToggleTest, RetrievesTheLatestOfMany) {
  Toggle<bool> toggle(bench.client, options());
  ASSERT_OK(toggle.save({"123"}, true, now()));
  EXPECT_EQ(toggle.save({"123"}, false, now() + 10s).value(), Saved::kNewest);
  EXPECT_EQ(toggle.latest({"123"}).value().state, false);
  EXPECT_EQ(toggle.latest({"123"}).value().at, now() + 10s);
}

TEST_P(ToggleTest, IsNotSwitchedByAnEventThatArrivesLate) {
  Toggle<bool> toggle(bench.client, options());
  ASSERT_OK(toggle.save({"123"}, true, now()));
  EXPECT_EQ(toggle.save({"123"}, false, now() - 10s).value(), Saved::kLate);
  EXPECT_EQ(toggle.latest({"123"}).value().state, true);
}

// ---- Errors of the article's solution

TEST_P(ToggleTest, OrdersFractionsOfASecondAsTimes) {
  Toggle<bool> toggle(bench.client, options());
  for (const char* time : {"2024-01-01T00:00:00Z", "2024-01-01T00:00:00.1Z",
                           "2024-01-01T00:00:00.12Z", "2024-01-01T00:00:00.5Z"}) {
    EXPECT_EQ(toggle.save({"t"}, true, at(time)).value(), Saved::kNewest) << time;
  }
  EXPECT_EQ(toggle.latest({"t"}).value().at, at("2024-01-01T00:00:00.5Z"));
}

TEST_P(ToggleTest, TreatsOneInstantInTwoZonesAsOne) {
  Toggle<bool> toggle(bench.client, options());
  ASSERT_OK(toggle.save({"t"}, true, at("2024-01-01T12:00:00+02:00"), {"e"}));
  EXPECT_EQ(toggle.save({"t"}, true, at("2024-01-01T10:00:00Z"), {"e"}).value(), Saved::kDuplicate);
  EXPECT_EQ(toggle.save({"t"}, true, at("2024-01-01T11:59:59+02:00"), {"f"}).value(), Saved::kLate);
}

TEST_P(ToggleTest, OrdersTimesBefore1970) {
  Toggle<bool> toggle(bench.client, options());
  ASSERT_OK(toggle.save({"t"}, true, at("1969-12-31T23:59:59.5Z")));
  EXPECT_EQ(toggle.save({"t"}, false, at("1960-01-01T00:00:00Z")).value(), Saved::kLate);
  EXPECT_EQ(toggle.save({"t"}, false, at("1970-01-01T00:00:00Z")).value(), Saved::kNewest);
}

TEST_P(ToggleTest, BreaksTiesByEventIdInAnyOrderOfArrival) {
  Toggle<bool> toggle(bench.client, options());
  EXPECT_EQ(toggle.save({"up"}, true, now(), {"a"}).value(), Saved::kNewest);
  EXPECT_EQ(toggle.save({"up"}, false, now(), {"b"}).value(), Saved::kNewest);
  EXPECT_EQ(toggle.save({"down"}, false, now(), {"b"}).value(), Saved::kNewest);
  EXPECT_EQ(toggle.save({"down"}, true, now(), {"a"}).value(), Saved::kLate);
  EXPECT_EQ(toggle.latest({"up"}).value(), toggle.latest({"down"}).value());
  EXPECT_EQ(toggle.latest({"up"}).value().event, EventId{"b"});
}

TEST_P(ToggleTest, RejectsFutureEventsAndContinues) {
  Toggle<bool> toggle(bench.client, options());
  const int before = bench.client.sent();
  const Time far = std::chrono::sys_days(std::chrono::year(9999) / 1 / 1);
  EXPECT_FAILS(Code::kInFuture, toggle.save({"t"}, true, far));
  EXPECT_FAILS(Code::kInFuture, toggle.save({"t"}, true, now() + 10min + 1ns));
  EXPECT_EQ(bench.client.sent(), before);
  EXPECT_EQ(toggle.save({"t"}, false, now() + 10min).value(), Saved::kNewest);
}

TEST_P(ToggleTest, KeepsLateEventsInTheLogOrDiscardsThem) {
  Toggle<bool> toggle(bench.client, options());
  ASSERT_OK(toggle.save({"t"}, true, now(), {"new"}));
  ASSERT_OK(toggle.save({"t"}, false, now() - 1h, {"old"}));
  const auto history = toggle.history({"t"}).value();
  ASSERT_EQ(history.items.size(), gated() ? 1U : 2U);
  EXPECT_EQ(history.items[0].event, EventId{"new"});
  if (!gated()) {
    EXPECT_EQ(history.items[1], (Switch<bool>{false, now() - 1h, {"old"}}));
  }
}

TEST_P(ToggleTest, ReportsADuplicateAlsoAfterLaterEvents) {
  Toggle<bool> toggle(bench.client, options());
  ASSERT_OK(toggle.save({"t"}, true, now(), {"a"}));
  EXPECT_EQ(toggle.save({"t"}, true, now(), {"a"}).value(), Saved::kDuplicate);
  ASSERT_OK(toggle.save({"t"}, false, now() + 1s, {"b"}));
  EXPECT_EQ(toggle.save({"t"}, true, now(), {"a"}).value(), Saved::kDuplicate);
  EXPECT_EQ(toggle.history({"t"}).value().items.size(), 2U);
}

TEST_P(ToggleTest, RecognisesAnEventWithoutIdByTimeAndState) {
  Toggle<bool> toggle(bench.client, options());
  ASSERT_OK(toggle.save({"t"}, true, now()));
  EXPECT_EQ(toggle.save({"t"}, true, now()).value(), Saved::kDuplicate);
  ASSERT_OK(toggle.save({"t"}, false, now()));
  EXPECT_EQ(toggle.save({"t"}, false, now() + 1s).value(), Saved::kNewest);
}

TEST_P(ToggleTest, RejectsOneEventIdWithTwoStates) {
  Toggle<bool> toggle(bench.client, options());
  ASSERT_OK(toggle.save({"t"}, true, now(), {"a"}));
  EXPECT_FAILS(Code::kConflict, toggle.save({"t"}, false, now(), {"a"}));
  EXPECT_EQ(toggle.latest({"t"}).value().state, true);
}

TEST_P(ToggleTest, ReturnsNotFoundForAnAbsentToggle) {
  Toggle<bool> toggle(bench.client, options());
  EXPECT_FAILS(Code::kNotFound, toggle.latest({"none"}));
  EXPECT_FAILS(Code::kNotFound, toggle.as_of({"none"}, now()));
  EXPECT_TRUE(toggle.history({"none"}).value().items.empty());
}

TEST_P(ToggleTest, RefusesBadArgumentsBeforeAnyRequest) {
  Toggle<bool> toggle(bench.client, options());
  const int before = bench.client.sent();
  EXPECT_FAILS(Code::kInvalidArgument, toggle.save({""}, true, now()));
  EXPECT_FAILS(Code::kInvalidArgument, toggle.save({std::string(2049, 'x')}, true, now()));
  EXPECT_FAILS(Code::kInvalidArgument, toggle.save({std::string(1000, '#')}, true, now()));
  EXPECT_FAILS(Code::kInvalidArgument, toggle.save({"\xff"}, true, now()));
  EXPECT_FAILS(Code::kInvalidArgument, toggle.save({"t"}, true, now(), {std::string(901, 'e')}));
  EXPECT_FAILS(Code::kInvalidArgument, toggle.history({"t"}, {}, {.limit = 0}));
  EXPECT_FAILS(Code::kInvalidArgument, toggle.history({"t"}, {.from = now(), .to = now() - 1s}));
  EXPECT_FAILS(Code::kBadCursor, toggle.history({"t"}, {}, {.cursor = "junk"}));
  EXPECT_FAILS(Code::kInvalidArgument, toggle.latest({""}));
  EXPECT_EQ(bench.client.sent(), before);
}

TEST_P(ToggleTest, SeparatesTogglesWithAnyIds) {
  Toggle<bool> toggle(bench.client, options());
  const std::string longest(2048 - std::string("TOGGLE#").size(), 'x');
  for (const std::string& id :
       {std::string("a"), std::string("a#b"), std::string("a%23b"), std::string("TOGGLE#a"),
        std::string("a#"), std::string("#"), std::string("żółw 🐢"), longest}) {
    EXPECT_EQ(toggle.save({id}, true, now(), {"LATEST"}).value(), Saved::kNewest) << id;
    EXPECT_EQ(toggle.history({id}).value().items.size(), 1U);
  }
  EXPECT_FAILS(Code::kInvalidArgument, toggle.save({longest + "x"}, true, now()));
}

TEST_P(ToggleTest, ReportsARepetitionAfterALostReplyAsTheFirst) {
  Toggle<bool> toggle(bench.client, options());
  bench.client.first(write(), 1, lose_reply());
  EXPECT_EQ(toggle.save({"t"}, true, now(), {"a"}).value(), Saved::kNewest);
  bench.client.first(write(), 1, lose_request());
  EXPECT_EQ(toggle.save({"t"}, false, now() + 1s, {"b"}).value(), Saved::kNewest);
  bench.client.first(write(), 1, repeat());
  EXPECT_EQ(toggle.save({"t"}, true, now() + 2s, {"c"}).value(), Saved::kNewest);
  EXPECT_EQ(toggle.history({"t"}).value().items.size(), 3U);
}

TEST_P(ToggleTest, BehavesTheSameIfRefusalsHaveNoItems) {
  bench.client.withhold_items();
  Toggle<bool> toggle(bench.client, options());
  const Time time = now();
  bench.client.first(write(), 1, lose_reply());
  EXPECT_EQ(toggle.save({"t"}, true, time, {"a"}).value(), Saved::kNewest);
  EXPECT_EQ(toggle.save({"t"}, true, time, {"a"}).value(), Saved::kDuplicate);
  EXPECT_FAILS(Code::kConflict, toggle.save({"t"}, false, time, {"a"}));
  EXPECT_EQ(toggle.save({"t"}, true, time - 1s, {"b"}).value(), Saved::kLate);
}

TEST_P(ToggleTest, StopsAfterALimitedNumberOfThrottledAttempts) {
  Toggle<bool> toggle(bench.client, options());
  bench.client.before([](std::string_view, int) { return refuse(Code::kThrottling); });
  const int before = bench.client.sent();
  EXPECT_FAILS(Code::kThrottling, toggle.save({"t"}, true, now()));
  EXPECT_EQ(bench.client.sent() - before, RetryPolicy().max_attempts);
}

TEST_P(ToggleTest, DoesNotTreatAFailureAsTheFirstWrite) {
  Toggle<bool> toggle(bench.client, options());
  bench.client.before([this](std::string_view operation, int) {
    if (operation != write()) return pass();
    return gated() ? cancel({"ValidationError", "None"}) : refuse(Code::kValidation);
  });
  const int before = bench.client.sent(write());
  const auto saved = toggle.save({"t"}, true, now());
  EXPECT_FAILS(Code::kValidation, saved);
  EXPECT_THAT(saved.error().message, testing::StartsWith("event: "));
  EXPECT_EQ(bench.client.sent(write()) - before, 1);
  bench.client.before(nullptr);
  EXPECT_FAILS(Code::kNotFound, toggle.latest({"t"}));
}

TEST_P(ToggleTest, DoesNotTreatAFullCollectionAsAnErrorOfTheEvent) {
  Toggle<bool> toggle(bench.client, options());
  bench.client.before([this](std::string_view operation, int) {
    if (operation != write()) return pass();
    return gated() ? cancel({"None", "ItemCollectionSizeLimitExceeded"})
                   : refuse(Code::kItemCollectionSizeLimitExceeded);
  });
  const auto saved = toggle.save({"t"}, true, now());
  EXPECT_FAILS(gated() ? Code::kTransactionCanceled : Code::kItemCollectionSizeLimitExceeded,
               saved);
  EXPECT_THAT(saved.error().message, testing::Not(testing::StartsWith("event: ")));
  bench.client.before(nullptr);
}

// ---- Beyond the article

TEST_P(ToggleTest, AgreesForAnyOrderAndDuplicationOfTheEvents) {
  const std::vector<Event> events{{"a", now() - 3s, true},
                                  {"b", now() - 2s, false},
                                  {"c", now() - 2s, true},
                                  {"d", now() - 1ns, false}};
  Toggle<bool> toggle(bench.client, options());
  std::vector<std::size_t> order{0, 1, 2, 3, 0, 3};
  std::ranges::sort(order);
  int round = 0;
  do {
    if (++round % 7 != 0) continue;  // every seventh of the 180 orders
    const ToggleId id{"t" + std::to_string(round)};
    for (const std::size_t i : order) {
      ASSERT_OK(toggle.save(id, events[i].state, events[i].at, {events[i].id}));
    }
    EXPECT_EQ(toggle.latest(id).value(), (Switch<bool>{false, now() - 1ns, {"d"}}));
    if (!gated()) {
      EXPECT_EQ(toggle.history(id).value().items.size(), events.size());
    }
  } while (std::ranges::next_permutation(order).found);
}

TEST_P(ToggleTest, AgreesWhenEventsAreSavedConcurrently) {
  ToggleOptions patient = options();
  patient.retry = {.max_attempts = 200, .backoff_base = 1ms, .backoff_max = 20ms};
  patient.time = nullptr;
  patient.max_skew = 24h * 365 * 100;
  Toggle<bool> toggle(bench.client, patient);
  constexpr int kThreads = 4;
  constexpr int kEvents = 40;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        std::vector<int> order(kEvents);
        for (int i = 0; i < kEvents; ++i) order[static_cast<std::size_t>(i)] = i;
        std::ranges::shuffle(order, std::mt19937(static_cast<unsigned>(thread)));
        for (const int i : order) {
          EXPECT_OK(toggle.save({"t"}, i % 2 == 0, now() + std::chrono::milliseconds(i / 2),
                                {"e" + std::to_string(100 + i)}));
        }
      });
    }
  }
  EXPECT_EQ(toggle.latest({"t"}).value(),
            (Switch<bool>{false, now() + std::chrono::milliseconds(19), {"e139"}}));
  if (!gated()) {
    EXPECT_EQ(toggle.history({"t"}).value().items.size(), static_cast<std::size_t>(kEvents));
  }
}

TEST_P(ToggleTest, ReturnsTheStateAsOfAnyTime) {
  Toggle<bool> toggle(bench.client, options());
  ASSERT_OK(toggle.save({"t"}, true, at("2024-01-01T00:00:00Z"), {"a"}));
  ASSERT_OK(toggle.save({"t"}, false, at("2024-01-02T00:00:00Z"), {"b"}));
  EXPECT_FAILS(Code::kNotFound, toggle.as_of({"t"}, at("2023-12-31T23:59:59.999999999Z")));
  EXPECT_EQ(toggle.as_of({"t"}, at("2024-01-01T00:00:00Z")).value().event, EventId{"a"});
  EXPECT_EQ(toggle.as_of({"t"}, at("2024-01-01T23:59:59.999999999Z")).value().event, EventId{"a"});
  EXPECT_EQ(toggle.as_of({"t"}, at("2024-01-02T00:00:00Z")).value().event, EventId{"b"});
  EXPECT_EQ(toggle.as_of({"t"}, at("9999-01-01T00:00:00Z")).value().event, EventId{"b"});
}

TEST_P(ToggleTest, PagesThroughTheLogBothWaysWithoutRepeatsOrSkips) {
  Toggle<bool> toggle(bench.client, options());
  std::vector<Time> times;
  for (int i = 0; i < 23; ++i) {
    times.push_back(at("2024-01-01T00:00:00Z") + std::chrono::milliseconds(i));
    ASSERT_OK(toggle.save({"t"}, i % 2 == 0, times.back()));
  }
  for (const bool newest_first : {true, false}) {
    for (const int limit : {1, 5, 23, 100}) {
      std::vector<Time> seen;
      PageOptions page{.limit = limit, .newest_first = newest_first};
      do {
        const auto part = toggle.history({"t"}, {}, page).value();
        EXPECT_LE(part.items.size(), static_cast<std::size_t>(limit));
        EXPECT_FALSE(part.items.empty());
        for (const auto& entry : part.items) seen.push_back(entry.at);
        page.cursor = part.next;
      } while (!page.cursor.empty());
      if (newest_first) std::ranges::reverse(seen);
      EXPECT_EQ(seen, times);
    }
  }
}

TEST_P(ToggleTest, BoundsTheLogByTimeFromIncludedToExcluded) {
  Toggle<bool> toggle(bench.client, options());
  const Time start = at("2024-01-01T00:00:00Z");
  for (int i = 0; i < 5; ++i) ASSERT_OK(toggle.save({"t"}, true, start + std::chrono::hours(i)));
  const auto part = toggle.history({"t"}, {.from = start + 1h, .to = start + 3h}).value();
  ASSERT_EQ(part.items.size(), 2U);
  EXPECT_EQ(part.items[0].at, start + 2h);
  EXPECT_EQ(part.items[1].at, start + 1h);
  EXPECT_TRUE(toggle.history({"t"}, {.from = start, .to = start}).value().items.empty());
}

TEST_P(ToggleTest, RejectsACursorOfAnotherQuery) {
  Toggle<bool> toggle(bench.client, options());
  for (int i = 0; i < 3; ++i) ASSERT_OK(toggle.save({"t"}, true, now() + std::chrono::seconds(i)));
  const std::string cursor = toggle.history({"t"}, {}, {.limit = 1}).value().next;
  ASSERT_FALSE(cursor.empty());
  EXPECT_FAILS(Code::kBadCursor, toggle.history({"u"}, {}, {.cursor = cursor}));
  EXPECT_FAILS(Code::kBadCursor,
               toggle.history({"t"}, {}, {.cursor = cursor, .newest_first = false}));
  EXPECT_FAILS(Code::kBadCursor, toggle.history({"t"}, {.from = now()}, {.cursor = cursor}));
  EXPECT_OK(toggle.history({"t"}, {}, {.limit = 7, .cursor = cursor}));
}

TEST_P(ToggleTest, ExpiresSupersededEventsButNeverTheLatest) {
  ToggleOptions kept = options();
  kept.retention = 24h;
  Toggle<bool> toggle(bench.client, kept);
  ASSERT_OK(toggle.save({"t"}, true, now() - 2s, {"a"}));
  ASSERT_OK(toggle.save({"t"}, false, now() - 1s, {"b"}));
  ASSERT_OK(toggle.save({"t"}, true, now() - 3s, {"late"}));
  const auto items = bench.client.query({.table = "Toggles",
                                         .key_condition = "pk = :pk AND begins_with(sk, :log)",
                                         .values = Values{{":pk", "TOGGLE#t"}, {":log", "LOG#"}}});
  ASSERT_OK(items);
  ASSERT_EQ(items->items.size(), gated() ? 2U : 3U);
  for (std::size_t i = 0; i + 1 < items->items.size(); ++i) {
    const Item& item = items->items[i];
    ASSERT_TRUE(item.contains("expires_at")) << to_debug_string(item);
    EXPECT_EQ(item.at("expires_at"), AttributeValue((now() + 24h + 10min).unix_seconds()));
  }
  EXPECT_FALSE(items->items.back().contains("expires_at"));
}

TEST_P(ToggleTest, KeepsALateEventThatIsTooLargeForAnExpiry) {
  if (gated()) return;  // stores no late events
  ToggleOptions kept = options();
  kept.retention = 24h;
  AnyToggle toggle(bench.client, kept);
  const Time at = now() - 2s;
  AttributeValue state;
  Result<Saved> saved = Saved::kLate;
  std::size_t size = 400 * 1024;
  do {
    state = std::string(--size, 'x');
    saved = toggle.save({"a"}, state, at, {"e"});
  } while (!saved && saved.error().code == Code::kValidation);
  ASSERT_OK(saved);
  ASSERT_OK(toggle.save({"b"}, false, now(), {"later"}));
  for (const Saved expected : {Saved::kLate, Saved::kDuplicate}) {
    saved = toggle.save({"b"}, state, at, {"e"});
    ASSERT_OK(saved);
    EXPECT_EQ(*saved, expected);
  }
}

TEST_P(ToggleTest, SharesATableOfOtherKeyNamesWithOtherEntities) {
  ToggleOptions others = options();
  others.table = "Entities";
  others.partition_key = "id#";
  others.sort_key = "range";
  others.id_prefix = "";
  bench.create(AnyToggle::table_definition(others));
  // Items of another program: the same partition, and keys before and after the toggle's.
  for (const char* range : {"A", "LATEST_SWITCH", "SWITCH#2024-01-01T00:00:00Z", "Z"}) {
    ASSERT_OK(bench.client.put_item(
        {.table = "Entities", .item = {{"id#", "123"}, {"range", range}, {"on", false}}}));
  }
  const Toggle<bool> toggle(bench.client, others);
  EXPECT_FAILS(Code::kNotFound, toggle.latest({"123"}));
  EXPECT_EQ(toggle.save({"123"}, true, now()).value(), Saved::kNewest);
  EXPECT_EQ(toggle.save({"123"}, false, now() - 1s).value(), Saved::kLate);
  EXPECT_EQ(toggle.latest({"123"}).value().state, true);
  const auto log = toggle.history({"123"}, {}, {.limit = 1});
  ASSERT_OK(log);
  EXPECT_EQ(log->items.size(), 1U);
  ToggleOptions other_mode = others;
  other_mode.mode = gated() ? ToggleMode::kOrderedLog : ToggleMode::kGated;
  EXPECT_FAILS(Code::kLimitsDisagree, Toggle<bool>(bench.client, other_mode).latest({"123"}));
  for (const auto change : {&ToggleOptions::partition_key, &ToggleOptions::sort_key}) {
    ToggleOptions wrong = others;
    wrong.*change = "";
    EXPECT_FAILS(Code::kInvalidArgument, Toggle<bool>(bench.client, wrong).latest({"123"}));
  }
}

TEST_P(ToggleTest, AcceptsTimesFromTheYear1To9999) {
  ToggleOptions patient = options();
  patient.max_skew = std::chrono::hours(24 * 366 * 200);
  const Toggle<bool> toggle(bench.client, patient);
  const Time first = at("0001-01-01T00:00:00Z");
  ASSERT_OK(toggle.save({"old"}, true, first));
  EXPECT_EQ(toggle.latest({"old"}).value().at, first);
  EXPECT_EQ(toggle.as_of({"old"}, at("9999-12-31T23:59:59.999999999Z")).value().at, first);
  EXPECT_FAILS(Code::kInFuture, toggle.save({"old"}, true, at("9999-12-31T23:59:59Z")));
}

TEST_P(ToggleTest, SavesManyAsOneByOne) {
  std::vector<ToggleEvent> events;
  for (int i = 0; i < 100; ++i) {
    events.push_back({.id = {"many"},
                      .state = i,
                      .at = now() - std::chrono::seconds(i % 50),
                      .event = {std::to_string(i % 50)}});
  }
  events.push_back({.id = {""}, .state = 1, .at = now()});
  const AnyToggle toggle(bench.client, options());
  const auto results = toggle.save_all(events, 8);
  ASSERT_EQ(results.size(), events.size());
  EXPECT_FAILS(Code::kInvalidArgument, results.back());
  EXPECT_EQ(toggle.latest({"many"}).value().event.text, "0");
  for (const Result<Saved>& result : toggle.save_all(events, 0)) {
    EXPECT_FAILS(Code::kInvalidArgument, result);
  }
  std::stop_source stop;
  stop.request_stop();
  for (const Result<Saved>& result : toggle.save_all(events, 8, stop.get_token())) {
    EXPECT_FAILS(Code::kCancelled, result);
  }
}

TEST_P(ToggleTest, StoresOtherTypesAndRejectsMismatches) {
  Toggle<std::string> text(bench.client, options());
  Toggle<int64_t> number(bench.client, options());
  ASSERT_OK(text.save({"text"}, "dimmed", now()));
  ASSERT_OK(number.save({"number"}, -7, now()));
  EXPECT_EQ(text.latest({"text"}).value().state, "dimmed");
  EXPECT_EQ(number.latest({"number"}).value().state, -7);
  EXPECT_FAILS(Code::kConflict, number.latest({"text"}));
  EXPECT_FAILS(Code::kConflict, text.history({"number"}));
  AnyToggle any(bench.client, options());
  const AttributeValue scene(Map{{"lamp", 1}, {"tags", StringSet{"a", "b"}}});
  ASSERT_OK(any.save({"any"}, scene, now()));
  EXPECT_EQ(any.latest({"any"}).value().state, scene);
}

TEST_P(ToggleTest, ItsTableExpiresSupersededEventsIfThereIsARetention) {
  STATOR_NEEDS(Ability::kTimeToLive);
  const auto expiry_of = [&](const ToggleOptions& of) {
    EXPECT_OK(create_table_if_missing(bench.client, AnyToggle::table_definition(of)));
    return bench.client.describe_time_to_live({.table = of.table}).value().attribute;
  };
  EXPECT_EQ(expiry_of(options()), "");
  ToggleOptions kept = options();
  kept.retention = std::chrono::hours(1);
  // Several create the table at the same time, then again.
  std::vector<std::jthread> others;
  for (int i = 0; i < 4; ++i)
    others.emplace_back([&] { EXPECT_EQ(expiry_of(kept), "expires_at"); });
  others.clear();
  EXPECT_EQ(expiry_of(kept), "expires_at");
  RecipeTable other = AnyToggle::table_definition(kept);
  other.expiry = "gone_at";
  EXPECT_FAILS(Code::kConflict, create_table_if_missing(bench.client, other));
}

TEST_P(ToggleTest, ItsTableHasNoTimeToLiveWithoutARetention) {
  ToggleOptions kept = options();
  kept.retention = std::chrono::hours(1);
  const RecipeTable table = AnyToggle::table_definition(kept);
  for (const char* operation : {"UpdateTimeToLive", "DescribeTimeToLive"}) {
    bench.client.first(operation, 1, refuse(Code::kUnknownOperation));
    EXPECT_OK(create_table_if_missing(bench.client, table)) << operation;
  }
}

TEST_P(ToggleTest, CostsTheDocumentedUnits) {
  if (gated()) STATOR_NEEDS(Ability::kUnitsOfTransactions);
  ToggleOptions plain = options();
  plain.answer = Answer::kStored;
  Toggle<bool> stored(bench.client, plain);
  Toggle<bool> exact(bench.client, options());
  // Each toggle reads the table's settings with its first request.
  EXPECT_FAILS(Code::kNotFound, stored.latest({"none"}));
  EXPECT_FAILS(Code::kNotFound, exact.latest({"none"}));
  for (const Time time : {now(), now() + 1s}) {  // the first save costs as much as later ones
    const auto cost = bench.cost_of([&] {
      EXPECT_EQ(stored.save({"s"}, true, time).value(), gated() ? Saved::kNewest : Saved::kStored);
    });
    EXPECT_EQ(cost.requests, 1);
    EXPECT_EQ(cost.write_units, gated() ? 4 : 1);
  }
  const auto cost = bench.cost_of([&] { ASSERT_OK(exact.save({"e"}, true, now())); });
  EXPECT_EQ(cost.requests, gated() ? 1 : 2);
  EXPECT_EQ(cost.read_units, gated() ? 0 : 1);
  EXPECT_EQ(bench.cost_of([&] { ASSERT_OK(exact.latest({"e"})); }).requests, 1);
}

class GatedToggleTest : public ToggleTest {};
STATOR_TOGGLE_HOMES(GatedToggleTest, ToggleMode::kGated);

TEST_P(GatedToggleTest, RetriesConflictsAndDoesNotMistakeThem) {
  Toggle<bool> toggle(bench.client, options());
  bench.client.first("TransactWriteItems", 3, cancel({"TransactionConflict", "None"}));
  EXPECT_EQ(toggle.save({"t"}, true, bench.time.now()).value(), Saved::kNewest);

  bench.client.first("TransactWriteItems", 1'000'000, cancel({"None", "TransactionConflict"}));
  const int before = bench.client.sent();
  const auto refused = toggle.save({"t"}, false, bench.time.now() + 1s);
  EXPECT_FAILS(Code::kTransactionConflict, refused);
  EXPECT_TRUE(refused.error().retryable());
  EXPECT_EQ(bench.client.sent() - before, RetryPolicy().max_attempts);
}

TEST_P(GatedToggleTest, RepeatsAThrottledTransaction) {
  Toggle<bool> toggle(bench.client, options());
  bench.client.first("TransactWriteItems", 2, cancel({"ThrottlingError", "None"}));
  EXPECT_EQ(toggle.save({"t"}, true, bench.time.now()).value(), Saved::kNewest);
}

}  // namespace
}  // namespace stator
