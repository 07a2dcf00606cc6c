// SPDX-License-Identifier: Apache-2.0
// Several servers of one database in virtual time: thousands of histories of engines that write,
// change tables and run jobs. They sleep and crash at any access of the database, and requests and
// responses are lost or late. STATOR_SEED repeats a history, except for what depends on the random
// parts of ids; STATOR_SERVER_RUNS sets their number.
#include <gtest/gtest.h>

#include <array>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/catalog/catalog_header.h"
#include "engine/jobs/shared_jobs_harness.h"
#include "engine/streams/streams_harness.h"
#include "support/from_environment.h"
#include "support/virtual_world.h"

namespace stator::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint64_t kRuns = 40;
#else
constexpr uint64_t kRuns = 400;
#endif
constexpr std::size_t kServers = 3;
constexpr int kSteps = 80;  // of a server
constexpr int64_t kCounters = 4;
constexpr int64_t kPlainItems = 12;
constexpr int kJobStepsMax = 2'000;
constexpr const char* kIndex = "byColor";

struct Tally {
  int written = 0;
  int unknown = 0;
  int schema_changes = 0;
  int expired = 0;
  int backups = 0;
  int restores = 0;
  int crashes = 0;
};

// The clock of a server: true time, a little wrong.
class ServerClock final : public Clock {
 public:
  ServerClock(const VirtualWorld& world, nanoseconds error) : world_(world), error_(error) {}
  std::chrono::system_clock::time_point now() const override {
    return std::chrono::system_clock::time_point(1'700'000'000s) +
           std::chrono::duration_cast<std::chrono::system_clock::duration>(world_.now() + error_);
  }

 private:
  const VirtualWorld& world_;
  const nanoseconds error_;
};

// What the servers know about a counter.
struct Counter {
  int64_t sure = 0;     // additions that were acknowledged
  int64_t started = 0;  // additions that can have happened
};

class History {
 public:
  History(uint64_t seed, Tally& tally)
      : random_(seed),
        tally_(tally),
        backend_(static_cast<uint32_t>(seed),
                 {.conflicts = 20, .lost_replies = 25, .late = 25, .outages = 800},
                 [this](SharedWait where) { wait(where); }),
        seed_(static_cast<uint32_t>(seed)) {
    for (std::size_t i = 0; i < kServers + 1; ++i) {
      clocks_.push_back(
          std::make_unique<ServerClock>(world_, random_.below(nanoseconds(2s)) - nanoseconds(1s)));
    }
  }

  void play() {
    open_first();
    std::vector<std::function<void()>> servers;
    servers.reserve(kServers);
    for (std::size_t i = 0; i < kServers; ++i) servers.emplace_back([this, i] { serve(i); });
    world_.run(servers);
    backend_.deliver_late();
    is_calm_ = true;
    finish();
  }

 private:
  // ---- Time

  void wait(SharedWait where) {
    if (is_calm_) return world_.wait(1ms);
    if (where == SharedWait::kDatabase) return world_.wait(random_.below(2ms));
    const int64_t kind = random_.below(1'000);
    world_.wait(random_.below(kind < 970 ? 20ms : kind < 996 ? nanoseconds(2s) : 20min));
    if (kind == 999 && world_.running()) stores_[*world_.running()]->cut();
  }

  // ---- A server

  std::unique_ptr<Engine> open(std::size_t server) {
    for (;;) {
      auto store = std::make_unique<HeldStore>(std::make_shared<SharedStore>(backend_, ++seed_));
      stores_[server] = store.get();
      auto opened = Engine::open(std::move(store),
                                 {.clock = clocks_[server].get(),
                                  .sweep_interval = {},
                                  .retry_delay = [](int) { return std::chrono::milliseconds(0); },
                                  .job_threads = 0,
                                  .maintenance_interval = {}});
      if (opened) return std::move(*opened);
    }
  }

  // Starts the server again if it has crashed.
  void restart(std::size_t server, std::unique_ptr<Engine>& engine) {
    if (!stores_[server]->is_cut()) return;
    ++tally_.crashes;
    engine.reset();
    engine = open(server);
  }

  void open_first() {
    // The order of the rows depends on the secret, which is random otherwise.
    CatalogHeader header{.format = kCatalogFormat};
    header.secret.fill(static_cast<uint8_t>(seed_));
    Batch batch;
    batch.put(catalog_row_key(CatalogRow::kHeader), encode_catalog_header(header));
    SharedStore store(backend_, ++seed_);
    while (write_and_wait(store, batch).outcome != CommitOutcome::kCommitted) {
    }
    const auto engine = open(kServers);
    CreateTableRequest things = hash_table();
    things.attributes.push_back({"color", ScalarType::kS});
    things.global_indexes = {index_on(kIndex, {{"color", KeyType::kHash}})};
    things.stream = StreamSpecification{.enabled = true, .view = StreamViewType::kNewAndOldImages};
    while (!engine->describe_table({.table = "Things"})) {
      static_cast<void>(engine->create_table(things));
    }
    while (!engine->administer(
        admin::kUpdateContinuousBackups,
        Item{{"TableName", "Things"},
             {"PointInTimeRecoverySpecification", Item{{"PointInTimeRecoveryEnabled", true}}}})) {
    }
  }

  void serve(std::size_t server) {
    auto engine = open(server);
    for (int step = 0; step < kSteps && !testing::Test::HasFailure(); ++step) {
      world_.wait(random_.below(random_.chance(60) ? nanoseconds(50ms) : 3s));
      const int64_t kind = random_.below(100);
      if (kind < 35) {
        add(*engine);
      } else if (kind < 55) {
        write(*engine);
      } else if (kind < 60) {
        read(*engine);
      } else if (kind < 70) {
        change_schema(*engine);
      } else if (kind < 78) {
        back_up(*engine);
      } else if (kind < 83) {
        engine->run_maintenance();
      } else if (kind < 94) {
        run_jobs(*engine);
      } else if (kind < 97) {
        be_idle(*engine);
      } else if (kind < 98) {
        world_.wait(random_.below(2h));
      } else {
        engine.reset();
        engine = open(server);
      }
      restart(server, engine);
    }
    if (random_.chance(50)) stores_[server]->cut();
  }

  void run_jobs(Engine& engine) {
    if (random_.chance(30)) tally_.expired += static_cast<int>(engine.sweep_expired());
    for (int64_t steps = random_.below(6); steps >= 0; --steps) engine.parts().jobs.run_step();
  }
  // For long enough that leases of servers that sleep or have crashed can expire.
  void be_idle(Engine& engine) {
    for (int64_t minutes = random_.below(10); minutes >= 0; --minutes) {
      engine.run_maintenance();
      run_jobs(engine);
      world_.wait(1min);
    }
  }

  // ---- Its requests

  std::string color() { return std::to_string(random_.below(3)); }
  static Item counter_key(int64_t number) { return {{"pk", "counter " + std::to_string(number)}}; }

  static bool is_unknown(const Error& error) { return error.code == Code::kInternalServerError; }

  // Adds 1 to one counter, or to two in a transaction, which is repeated until its outcome is
  // known.
  void add(Engine& engine) {
    const int64_t first = random_.below(kCounters);
    const bool is_transaction = random_.chance(40);
    std::vector<Counter*> added = {&counters_[static_cast<std::size_t>(first)]};
    UpdateItemRequest update{.table = "Things",
                             .key = counter_key(first),
                             .update = "SET color = :c ADD n :one",
                             .values = Values{{":c", color()}, {":one", 1}}};
    if (!is_transaction) {
      const auto result = call_and_wait(engine, &Engine::update_item, update);
      if (result || is_unknown(result.error())) note_add(added, result.has_value());
      return;
    }
    const int64_t second = (first + 1) % kCounters;
    added.push_back(&counters_[static_cast<std::size_t>(second)]);
    TransactWriteItemsRequest request{.client_request_token = "token " + std::to_string(++tokens_)};
    for (const int64_t number : {first, second}) {
      request.items.push_back({.action = TransactAction::kUpdate,
                               .table = "Things",
                               .item = counter_key(number),
                               .update = update.update,
                               .values = update.values});
    }
    const nanoseconds began = world_.now();
    bool can_be_done = false;
    for (int i = 0; i < 4; ++i) {
      // Tokens are forgotten after ten minutes.
      if (world_.now() - began > 9min) break;
      const auto result = call_and_wait(engine, &Engine::transact_write_items, request);
      if (can_be_done && world_.now() - began > 9min) note_add(added, false);
      if (result) return note_add(added, true);
      can_be_done = can_be_done || is_unknown(result.error());
      if (!can_be_done) return;
    }
    note_add(added, false);
  }
  void note_add(const std::vector<Counter*>& counters, bool is_sure) {
    ++(is_sure ? tally_.written : tally_.unknown);
    for (Counter* counter : counters) {
      ++counter->started;
      if (is_sure) ++counter->sure;
    }
  }

  // Puts or deletes an item, in one of the tables.
  void write(Engine& engine) {
    const std::string table = random_.chance(80) ? "Things" : "Others";
    Item key{{"pk", "item " + std::to_string(random_.below(kPlainItems))}};
    if (random_.chance(30)) {
      static_cast<void>(
          call_and_wait(engine, &Engine::delete_item, {.table = table, .key = std::move(key)}));
      return;
    }
    key["color"] = color();
    if (random_.chance(30)) {
      key["expires"] = clocks_[0]->unix_ms() / 1'000 + random_.below(7'200) - 600;
    }
    static_cast<void>(
        call_and_wait(engine, &Engine::put_item, {.table = table, .item = std::move(key)}));
  }

  // A consistent read sees what was acknowledged before it.
  void read(Engine& engine) {
    const int64_t number = random_.below(kCounters);
    const int64_t least = counters_[static_cast<std::size_t>(number)].sure;
    const auto response =
        call_and_wait(engine, &Engine::get_item,
                      {.table = "Things", .key = counter_key(number), .consistent_read = true});
    if (!response) return;
    EXPECT_GE(value_of(*response), least) << "counter " << number << " lost an addition";
  }
  static int64_t value_of(const GetItemResponse& response) {
    if (!response.item) return 0;
    return decode_item(ItemView(*response.item)).at("n").get_if<Number>()->to_int64().value();
  }

  void change_schema(Engine& engine) {
    bool done = false;
    switch (random_.below(5)) {
      case 0:
        done = engine
                   .update_table({.table = "Things",
                                  .attributes = {{{"color", ScalarType::kS}}},
                                  .global_indexes = {{{.create = index_on(
                                                           kIndex, {{"color", KeyType::kHash}})}}}})
                   .has_value();
        break;
      case 1:
        done = engine.update_table({.table = "Things", .global_indexes = {{{.remove = kIndex}}}})
                   .has_value();
        break;
      case 2:
        done = engine.create_table(hash_table("Others")).has_value();
        break;
      case 3:
        done = engine
                   .update_time_to_live(
                       {.table = "Things",
                        .specification = {.enabled = random_.chance(60), .attribute = "expires"}})
                   .has_value();
        break;
      default:
        done = engine.delete_table({.table = random_.chance(70) ? "Others" : "Copy"}).has_value();
    }
    if (done) ++tally_.schema_changes;
  }

  void back_up(Engine& engine) {
    if (random_.chance(20)) {
      if (engine.administer(admin::kRestoreTableToPointInTime,
                            Item{{"SourceTableName", "Things"},
                                 {"TargetTableName", "Copy"},
                                 {"UseLatestRestorableTime", true}})) {
        ++tally_.restores;
      }
      return;
    }
    if (random_.chance(40) || backups_.empty()) {
      const auto made = engine.administer(admin::kCreateBackup,
                                          Item{{"TableName", "Things"}, {"BackupName", "backup"}});
      if (!made) return;
      ++tally_.backups;
      const auto* details = made->at("BackupDetails").get_if<Item>();
      backups_.push_back(*details->at("BackupArn").get_if<std::string>());
      return;
    }
    const std::string arn = random_.one_of({backups_.front(), backups_.back()});
    if (random_.chance(30)) {
      static_cast<void>(engine.administer(admin::kDeleteBackup, Item{{"BackupArn", arn}}));
      return;
    }
    if (engine.administer(admin::kRestoreTableFromBackup,
                          Item{{"BackupArn", arn}, {"TargetTableName", "Copy"}})) {
      ++tally_.restores;
    }
  }

  // ---- What must hold in the end

  // A new server finishes all jobs.
  void finish() {
    auto engine = open(kServers);
    int steps = 0;
    for (int minute = 0; minute < 8; ++minute) {
      pass_a_minute(*engine);
      while (engine->parts().jobs.run_step() && steps < kJobStepsMax) ++steps;
    }
    EXPECT_LT(steps, kJobStepsMax) << "jobs did not end";
    EXPECT_EQ(engine->stats().jobs, 0U);
    expect_active(*engine);
    expect_counters(*engine);
    expect_stream(*engine);
    engine.reset();
    SharedStore store(backend_, ++seed_);
    const std::string dropped = catalog_row_key(CatalogRow::kDropped);
    EXPECT_THAT(read_range(store, {.range = {.begin = dropped, .end = prefix_end(dropped)}},
                           [](std::string_view, std::string_view) {
                             ADD_FAILURE() << "rows of a dropped table remain";
                             return false;
                           }),
                IsOk());
    // Those of servers that have crashed are lost.
    const std::string counters = catalog_row_key(CatalogRow::kCounters);
    ASSERT_THAT(store.drop_range({.begin = counters, .end = prefix_end(counters)}), IsOk());
    const VerifyReport report = verify(store, [](std::string_view, uint64_t, uint64_t) {});
    for (const Finding& finding : report.findings) ADD_FAILURE() << finding.message;
  }
  void pass_a_minute(Engine& engine) {
    world_.run({[this] { world_.wait(1min); }});
    engine.run_maintenance();
  }

  static void expect_active(Engine& engine) {
    const auto tables = must(engine.list_tables({}));
    for (const std::string& name : tables.tables) {
      const auto described = must(engine.describe_table({.table = name}));
      EXPECT_EQ(described.table.status, TableStatus::kActive) << name;
      for (const IndexDescription& index : described.table.global_indexes) {
        EXPECT_EQ(index.status, TableStatus::kActive) << name;
      }
    }
  }

  void expect_counters(Engine& engine) {
    for (int64_t number = 0; number < kCounters; ++number) {
      const auto response = must(
          call_and_wait(engine, &Engine::get_item,
                        {.table = "Things", .key = counter_key(number), .consistent_read = true}));
      const Counter& counter = counters_[static_cast<std::size_t>(number)];
      EXPECT_GE(value_of(response), counter.sure) << "counter " << number << " lost an addition";
      EXPECT_LE(value_of(response), counter.started)
          << "an addition to " << number << " was repeated";
    }
  }

  // Each change is in the stream once, in the order of its item's changes.
  static void expect_stream(Engine& engine) {
    EngineStreams source{engine};
    const auto described = must(engine.describe_table({.table = "Things"}));
    StreamReplay replay;
    for (const StreamRecord& record :
         StreamConsumer().read(source, described.table.latest_stream_arn.value())) {
      replay.apply(record);
    }
    std::map<std::string, Item> items;
    ScanRequest request{.table = "Things", .consistent_read = true};
    const auto page = must(call_and_wait(engine, &Engine::scan, request));
    EXPECT_FALSE(page.last_evaluated_key);
    for (std::size_t i = 0; i < page.items.size(); ++i) {
      Item item = decode_item(page.items[i]);
      const std::string key = to_debug_string(Item{{"pk", item.at("pk")}});
      items.emplace(key, std::move(item));
    }
    EXPECT_EQ(replay.items(), items);
  }

  SeededRandom random_;
  Tally& tally_;
  VirtualWorld world_;
  SharedBackend backend_;
  uint32_t seed_;
  bool is_calm_ = false;
  std::vector<std::unique_ptr<ServerClock>> clocks_;
  std::array<HeldStore*, kServers + 1> stores_ = {};  // of the servers' current processes
  std::array<Counter, kCounters> counters_ = {};
  std::vector<std::string> backups_;
  int tokens_ = 0;
};

TEST(ServersSimulation, LosesAndRepeatsNothing) {
  const auto [first, runs] = seeds_from_environment("STATOR_SERVER_RUNS", kRuns);
  Tally tally;
  for (uint64_t seed = first; seed < first + runs && !HasFailure(); ++seed) {
    SCOPED_TRACE("STATOR_SEED=" + std::to_string(seed));
    History(seed, tally).play();
  }
  std::cout << runs << " histories: " << tally.written << " additions, " << tally.unknown
            << " with an unknown outcome; " << tally.schema_changes << " changes of tables, "
            << tally.expired << " items expired, " << tally.backups << " backups, "
            << tally.restores << " restores, " << tally.crashes << " crashes\n";
  if (runs < kRuns) return;
  EXPECT_GT(tally.unknown, 0);
  EXPECT_GT(tally.schema_changes, static_cast<int>(runs));
  EXPECT_GT(tally.restores, 0);
  EXPECT_GT(tally.crashes, 0);
}

}  // namespace
}  // namespace stator::test
