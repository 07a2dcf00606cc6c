// SPDX-License-Identifier: Apache-2.0
// The cost of the four recipes, measured with ReturnConsumedCapacity, in one table. It must match
// the pages in docs/recipes and must not exceed the project's goals.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "recipes/recipe_test.h"
#include "stator/recipes/feed.h"
#include "stator/recipes/semaphore.h"
#include "stator/recipes/sensors.h"
#include "stator/recipes/toggle.h"
#include "support/paths.h"
#include "support/read_file.h"

namespace stator::test {
namespace {

using namespace std::chrono_literals;

// The cost of the reference implementation, and the limits of Stator's recipe.
struct Goal {
  const char* article;
  double requests;
  double units;  // read and write
};

struct Row {
  std::string page;
  std::string operation;
  examples::Cost cost;
  std::optional<Goal> goal;

  std::string figures() const {
    return fmt::format("| {} | {:g} | {:g} |", cost.requests, cost.write_units, cost.read_units);
  }
};

constexpr const char* kHead =
    "| operation | requests | write units | read units |\n| --- | --- | --- | --- |\n";
constexpr const char* kHeadWithArticle =
    "| operation | reference implementation | requests | write units | read units |\n"
    "| --- | --- | --- | --- | --- |\n";

TEST(CountingClient, CountsStatementsThatReadAsReads) {
  Bench bench("memory");
  ASSERT_OK(bench.client.create_table({.table = "Things",
                                       .attributes = {{"pk", ScalarType::kS}},
                                       .key_schema = {{"pk", KeyType::kHash}},
                                       .billing_mode = BillingMode::kPayPerRequest}));
  const auto written = bench.cost_of([&] {
    ASSERT_OK(
        bench.client.execute_statement({.statement = "INSERT INTO Things VALUE {'pk': 'a'}"}));
  });
  EXPECT_EQ(written.write_units, 1);
  EXPECT_EQ(written.read_units, 0);
  const std::string select = "\n select * FROM Things WHERE pk = 'a'";
  const auto read = bench.cost_of([&] {
    ASSERT_OK(bench.client.execute_statement({.statement = select}));
    ASSERT_OK(bench.client.batch_execute_statement({.statements = {{.statement = select}}}));
    ASSERT_OK(bench.client.execute_transaction({.statements = {{.statement = select}}}));
  });
  EXPECT_EQ(read.write_units, 0);
  EXPECT_EQ(read.read_units, 0.5 + 0.5 + 2);
}

class RecipeCosts : public testing::Test {
 protected:
  template <class F>
  void measure(const char* page, std::string operation, F action, std::optional<Goal> goal = {}) {
    rows_.push_back({page, std::move(operation), bench_.cost_of(action), goal});
  }

  void toggle();
  void semaphore();
  void feed();
  void streamed_feed();
  void merged_feed();
  void sensors(SensorLayout layout);
  void roll_ups();

  // The rows of a page in docs/recipes.
  std::string table_of(const std::string& page) const {
    std::string table = kHead;
    for (const Row& row : rows_) {
      if (row.page == page) table += "| " + row.operation + " " + row.figures() + "\n";
    }
    return table;
  }
  std::string table_beside_the_articles() const {
    std::string table = kHeadWithArticle;
    for (const Row& row : rows_) {
      if (!row.goal) continue;
      table += fmt::format("| {}: {} | {} {}\n", row.page, row.operation, row.goal->article,
                           row.figures());
    }
    return table;
  }

  Bench bench_{"memory"};
  std::vector<Row> rows_;
};

void RecipeCosts::toggle() {
  const Time now = bench_.time.now();
  for (const ToggleMode mode : {ToggleMode::kOrderedLog, ToggleMode::kGated}) {
    const bool log = mode == ToggleMode::kOrderedLog;
    const std::string name = log ? "`kOrderedLog`" : "`kGated`";
    const double units = log ? 1 : 4;
    ToggleOptions options{.table = log ? "Toggles" : "GatedToggles",
                          .mode = mode,
                          .answer = Answer::kStored,
                          .time = &bench_.time};
    bench_.create(AnyToggle::table_definition(options));
    const Toggle<bool> stored(bench_.client, options);
    ASSERT_OK(stored.save({"another"}, true, now));  // reads and stores the settings
    measure(
        "toggle", "first save, " + name, [&] { ASSERT_OK(stored.save({"door"}, true, now)); },
        Goal{"up to 8 WCU in 2 requests", 1, units});
    measure(
        "toggle", "later save, " + name, [&] { ASSERT_OK(stored.save({"door"}, false, now + 1s)); },
        Goal{"4 WCU in 1 request", 1, units});
    options.answer = Answer::kExact;
    const Toggle<bool> exact(bench_.client, options);
    ASSERT_OK(exact.latest({"another"}));
    if (log) {
      measure("toggle", "the same, telling newest from late",
              [&] { ASSERT_OK(exact.save({"door"}, true, now + 2s)); });
    }
    measure("toggle", "`latest`, " + name, [&] { ASSERT_OK(exact.latest({"door"})); });
    measure("toggle", "`as_of`, " + name, [&] { ASSERT_OK(exact.as_of({"door"}, now)); });
  }
}

void RecipeCosts::semaphore() {
  const SemaphoreOptions options{.table = "Locks", .time = &bench_.time};
  bench_.create(Semaphore::table_definition(options));
  Semaphore locks(bench_.client, options);
  Semaphore others(bench_.client, options);
  measure(
      "semaphore", "acquire and release", [&] { ASSERT_OK(locks.acquire("a")->release()); },
      Goal{"6 WCU in 2 requests", 2, 2});
  auto lease = locks.acquire("a", {.lease = 10s});
  ASSERT_OK(lease);
  measure("semaphore", "renew", [&] { ASSERT_OK(lease->renew()); });
  measure("semaphore", "commit of one small item: twice the item, twice the lock", [&] {
    ASSERT_OK(lease->commit({.items = {{.table = "Locks", .item = {{"pk", "record"}}}}}));
  });
  EXPECT_FAILS(Code::kHeld, others.acquire("a"));
  bench_.time.advance(takeover_after(10s));
  Result<Lease> taken = fail(Code::kHeld, "not yet");
  measure(
      "semaphore", "take over, after observing", [&] { taken = others.acquire("a"); },
      Goal{"5 WCU in 1 request", 1, 1});
  ASSERT_OK(taken);
  measure("semaphore", "the holder's release, and acquire by waiting in line", [&] {
    // The holder releases the lock when the waiter polls.
    bench_.client.before([&](std::string_view operation, int) {
      if (operation == "GetItem") {
        EXPECT_OK(taken->release());
      }
      return pass();
    });
    EXPECT_OK(locks.acquire("a", {.wait = 1h, .order = Order::kFifo}));
    bench_.client.before(nullptr);
  });
}

void RecipeCosts::feed() {
  const FeedOptions options{.table = "Feeds", .followers_table = "Followers", .time = &bench_.time};
  for (const auto& table : Feed::table_definitions(options)) bench_.create(table);
  const Feed feed(bench_.client, options);
  ASSERT_OK(feed.deliver_pending());  // reads and stores the settings
  for (int i = 0; i < 1'000; ++i) ASSERT_OK(feed.follow({"f" + std::to_string(i)}, {"ann"}));
  measure(
      "feed", "publish, `Outbox::kIndex`", [&] { ASSERT_OK(feed.publish({"ann"}, "hello")); },
      Goal{"1,001 requests, one after the other", 1, 2});
  measure(
      "feed", "delivery of a post to 1,000 followers", [&] { ASSERT_OK(feed.deliver_pending()); },
      Goal{"none", 45, 1'150});
  for (int i = 0; i < 19; ++i) ASSERT_OK(feed.publish({"ann"}, "hello"));
  measure(
      "feed", "page of 20", [&] { EXPECT_EQ(feed.read({"ann"}, 20)->items.size(), 20U); },
      Goal{"up to 1 MB read", 1, 1});
  const PostId id = feed.read({"ann"}, 1)->items[0].id;
  ASSERT_OK(feed.deliver_pending());
  measure("feed", "edit, `Outbox::kIndex`", [&] { ASSERT_OK(feed.edit({"ann"}, id, "hello!")); });
  measure("feed", "delivery of an edit to 1,000 followers",
          [&] { ASSERT_OK(feed.deliver_pending()); });
  measure("feed", "follow", [&] { ASSERT_OK(feed.follow({"early"}, {"ann"})); });
  measure("feed", "follow, with 20 posts of backfill",
          [&] { ASSERT_OK(feed.follow({"late"}, {"ann"}, 20)); });
  measure("feed", "trim of 15 posts", [&] { EXPECT_EQ(feed.trim({"late"}, 5).value(), 15); });
  measure("feed", "unfollow", [&] { ASSERT_OK(feed.unfollow({"late"}, {"ann"})); });
  measure("feed", "retract, `Outbox::kIndex`", [&] { ASSERT_OK(feed.retract({"ann"}, id)); });
  measure("feed", "delivery of a retraction to 1,002 users, one of them a former follower",
          [&] { ASSERT_OK(feed.deliver_pending()); });
}

void RecipeCosts::streamed_feed() {
  const FeedOptions options{.table = "Streamed",
                            .followers_table = "StreamedFollowers",
                            .outbox = Outbox::kStream,
                            .time = &bench_.time};
  for (const auto& table : Feed::table_definitions(options)) bench_.create(table);
  const Feed feed(bench_.client, options);
  PostId id;
  measure(
      "feed", "publish, `Outbox::kStream`", [&] { id = feed.publish({"ann"}, "hello").value().id; },
      Goal{"1,001 requests, one after the other", 1, 1});
  measure("feed", "edit, `Outbox::kStream`", [&] { ASSERT_OK(feed.edit({"ann"}, id, "hello!")); });
  measure("feed", "retract, `Outbox::kStream`", [&] { ASSERT_OK(feed.retract({"ann"}, id)); });
}

void RecipeCosts::merged_feed() {
  const FeedOptions options{.table = "Merged",
                            .followers_table = "MergedFollowers",
                            .merge_over = 3,
                            .time = &bench_.time};
  for (const auto& table : Feed::table_definitions(options)) bench_.create(table);
  const Feed feed(bench_.client, options);
  ASSERT_OK(feed.deliver_pending());
  bench_.time.advance(15min);  // since a worker stored that it merges
  measure("feed", "page of 20, with merging, before anybody's posts are merged",
          [&] { ASSERT_OK(feed.read({"f0"}, 20)); });
  for (const char* author : {"star", "moon"}) {
    for (int i = 0; i < 4; ++i) ASSERT_OK(feed.follow({"f" + std::to_string(i)}, {author}));
    for (int i = 0; i < 10; ++i) ASSERT_OK(feed.publish({author}, "hello"));
  }
  ASSERT_OK(feed.deliver_pending());
  ASSERT_OK(feed.publish({"star"}, "hello"));
  measure("feed", "delivery of a merged post", [&] { ASSERT_OK(feed.deliver_pending()); });
  measure("feed", "page of 20, merged with the posts of two authors",
          [&] { EXPECT_EQ(feed.read({"f0"}, 20)->items.size(), 20U); });
}

void RecipeCosts::sensors(SensorLayout layout) {
  const bool indexed = layout == SensorLayout::kIndexed;
  const std::string name = indexed ? ", indexed" : ", location items";
  const SensorOptions options{
      .table = indexed ? "Sensors" : "PlacedSensors", .layout = layout, .time = &bench_.time};
  bench_.create(SensorRegistry::table_definition(options));
  const SensorRegistry registry(bench_.client, options);
  ASSERT_OK(
      registry.add({.id = {"another"},
                    .location = {.city = "Gdansk", .building = "A", .floor = "1", .room = "2"}}));
  const Location place{.city = "Poznan", .building = "A", .floor = "1", .room = "2"};
  Result<Sensor> sensor = fail(Code::kNotFound, "not yet");
  measure(
      "sensors", "`add`" + name, [&] { sensor = registry.add({.id = {"s"}, .location = place}); },
      Goal{indexed ? "2 WCU" : "4 WCU", 1, indexed ? 2.0 : 4.0});
  ASSERT_OK(sensor);
  Location next = place;
  next.room = "3";
  measure(
      "sensors", "`move`" + name, [&] { ASSERT_OK(registry.move(*sensor, next)); },
      indexed ? std::optional(Goal{"cannot", 1, 3}) : std::nullopt);
  std::vector<Reading> readings;
  for (int i = 0; i < 25; ++i) {
    readings.push_back({{"s"}, bench_.time.now() - std::chrono::seconds(i), i, "ppm"});
  }
  if (indexed) {
    measure(
        "sensors", "`record` of 25 readings",
        [&] { ASSERT_OK(registry.record(readings, Check::kNone)); }, Goal{"25 requests", 1, 25});
    measure("sensors", "the same, checked", [&] { ASSERT_OK(registry.record(readings)); });
    SensorOptions careful = options;
    careful.duplicates = Duplicates::kRefuse;
    for (Reading& reading : readings) reading.at = reading.at - 1h;
    const SensorRegistry refusing(bench_.client, careful);
    ASSERT_OK(refusing.latest({"another"}, 1));
    measure("sensors", "the same, `kKeepFirst` or `kRefuse`",
            [&] { ASSERT_OK(refusing.record(readings, Check::kNone)); });
    measure("sensors", "`latest`, 10 readings", [&] { ASSERT_OK(registry.latest({"s"}, 10)); });
  }
  measure("sensors", "`at`, a city of one sensor" + name,
          [&] { ASSERT_OK(registry.at({.city = "Poznan"})); });
  measure("sensors", "`decommission`" + name, [&] { ASSERT_OK(registry.decommission({"s"})); });
}

void RecipeCosts::roll_ups() {
  const SensorRegistry registry(bench_.client, {.table = "Sensors", .time = &bench_.time});
  const Time hour = at("2024-05-01T11:00:00Z");
  std::vector<Reading> readings;
  for (int i = 0; i < 60; ++i) readings.push_back({{"r"}, hour + i * 1min, i, "ppm"});
  ASSERT_OK(registry.record(readings, Check::kNone));
  const auto roll_up = [&] { ASSERT_OK(registry.roll_up(readings, Period::kHour)); };
  measure("sensors", "`roll_up` of an hour of 60 readings", roll_up);
  measure("sensors", "the same again, nothing having changed", roll_up);
}

std::string page_text(const std::string& page) {
  return read_file(source_path("docs/recipes/" + page + ".md"));
}

TEST_F(RecipeCosts, MatchTheDocumentationAndTheGoals) {
  toggle();
  semaphore();
  feed();
  streamed_feed();
  merged_feed();
  sensors(SensorLayout::kIndexed);
  sensors(SensorLayout::kLocationItems);
  roll_ups();

  std::set<std::string> pages;
  for (const Row& row : rows_) {
    pages.insert(row.page);
    if (!row.goal) continue;
    EXPECT_LE(static_cast<double>(row.cost.requests), row.goal->requests) << row.operation;
    EXPECT_LE(row.cost.write_units + row.cost.read_units, row.goal->units) << row.operation;
  }
  for (const std::string& page : pages) {
    std::printf("\n%s\n%s", page.c_str(), table_of(page).c_str());
    EXPECT_NE(page_text(page).find(table_of(page)), std::string::npos)
        << "docs/recipes/" << page << ".md has other figures than were measured:\n"
        << table_of(page);
  }
  const std::string overview = table_beside_the_articles();
  EXPECT_NE(page_text("README").find(overview), std::string::npos)
      << "docs/recipes/README.md has other figures than were measured:\n"
      << overview;
}

}  // namespace
}  // namespace stator::test
