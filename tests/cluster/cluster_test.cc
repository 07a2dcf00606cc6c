// SPDX-License-Identifier: Apache-2.0
// Two `stator serve` processes, and programs with a Database, on one PostgreSQL database.
//
// STATOR_CLUSTER_ROUNDS sets how often a server or PostgreSQL stops under load (default: 4), and
// STATOR_SEED the clients' writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "cli/stator_program.h"
#include "stator/database.h"
#include "stator/http_client.h"
#include "storage/postgres/postgres_fixture.h"
#include "support/from_environment.h"
#include "support/ledger.h"
#include "support/must.h"
#include "support/paths.h"
#include "support/poll_until.h"
#include "support/raw_connection.h"
#include "support/server_process.h"
#include "support/stream_consumer.h"

namespace stator::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

constexpr std::size_t kServers = 2;

RawAnswer get_page(const ServerProcess& server, const std::string& path) {
  RawConnection connection(port_in(server.url()));
  EXPECT_TRUE(connection.send("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  return connection.read_answer();
}

class Cluster : public ::testing::Test {
 protected:
  // The servers start at once, on a schema without a header row.
  Cluster() {
    std::vector<std::jthread> starts;
    for (std::size_t i = 0; i < kServers; ++i) starts.emplace_back([this, i] { start(i); });
  }

  void start(std::size_t server) {
    servers_[server].emplace(stator_binary(),
                             std::vector<std::string>{"--store", postgres_url(), "--schema",
                                                      schema_.name(), "--expire-every", "0.1"});
    ASSERT_FALSE(servers_[server]->url().empty()) << "the server did not start";
    // One attempt: a retry would hide whether the first one was acknowledged.
    clients_[server] = std::make_unique<HttpClient>(
        must(HttpClient::open({.endpoint = servers_[server]->url(), .max_attempts = 1})));
  }
  ServerProcess& server(std::size_t i) { return *servers_[i]; }
  Client& client(std::size_t i) { return *clients_[i % kServers]; }

  void create_table(const StreamSpecification& stream = {}) {
    ASSERT_THAT(client(0).create_table({.table = "Tab",
                                        .attributes = {{"pk", ScalarType::kS}},
                                        .key_schema = {{"pk", KeyType::kHash}},
                                        .billing_mode = BillingMode::kPayPerRequest,
                                        .stream = stream}),
                IsOk());
  }
  std::optional<Item> get(std::size_t through, const std::string& pk) {
    const auto got =
        client(through).get_item({.table = "Tab", .key = {{"pk", pk}}, .consistent_read = true});
    EXPECT_THAT(got, IsOk());
    return got ? got->item : std::nullopt;
  }
  // The items of the table, or of one of its indexes.
  std::map<std::string, Item> items_by_key(std::size_t through, std::optional<std::string> index) {
    ScanRequest request{.table = "Tab", .index = std::move(index)};
    request.consistent_read = !request.index;
    std::map<std::string, Item> items;
    do {
      auto page = must(client(through).scan(request));
      for (Item& item : page.items) {
        const std::string pk = *item.at("pk").get_if<std::string>();
        items[pk] = std::move(item);
      }
      request.exclusive_start_key = std::move(page.last_evaluated_key);
    } while (request.exclusive_start_key);
    return items;
  }
  // Runs `work` on threads, each with the client of one of the servers in turn.
  template <class Work>
  void race(std::size_t threads, Work work) {
    std::vector<std::jthread> racers;
    racers.reserve(threads);
    for (std::size_t i = 0; i < threads; ++i) {
      racers.emplace_back([&, i] { work(client(i), i); });
    }
  }

  PostgresSchema schema_;
  std::optional<ServerProcess> servers_[kServers];
  std::unique_ptr<HttpClient> clients_[kServers];
};

TEST_F(Cluster, EachServerSeesTheWritesOfTheOther) {
  create_table();
  ASSERT_THAT(client(1).put_item({.table = "Tab", .item = {{"pk", "a"}, {"n", 1}}}), IsOk());
  EXPECT_EQ(get(0, "a"), (Item{{"pk", "a"}, {"n", 1}}));
  ASSERT_THAT(
      client(0).update_table(
          {.table = "Tab",
           .attributes = {{{"n", ScalarType::kN}}},
           .global_indexes =
               {{{.create = IndexDefinition{.name = "ByN",
                                            .key_schema = {{"n", KeyType::kHash}},
                                            .projection = {.type = ProjectionType::kAll}}}}}}),
      IsOk());
  // The index must contain the item even if this server has not noticed the index yet.
  ASSERT_THAT(client(1).put_item({.table = "Tab", .item = {{"pk", "b"}, {"n", 1}}}), IsOk());
  EXPECT_TRUE(poll_until([&] {
    const auto found = client(1).describe_table({.table = "Tab"});
    return found && found->table.global_indexes.size() == 1 &&
           found->table.global_indexes[0].status == TableStatus::kActive;
  }));
  const auto found = client(1).query(
      {.table = "Tab", .index = "ByN", .key_condition = "n = :n", .values = Values{{":n", 1}}});
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(found->items.size(), 2U);
  ASSERT_THAT(client(1).delete_table({.table = "Tab"}), IsOk());
  EXPECT_THAT(client(0).get_item({.table = "Tab", .key = {{"pk", "a"}}}),
              FailsWith(Code::kResourceNotFound, ""));
}

TEST_F(Cluster, ConditionsApplyAcrossServers) {
  create_table();
  constexpr std::size_t kRacers = 6;
  constexpr int kKeys = 40;
  std::atomic<int> created = 0;
  std::atomic<int> counted = 0;
  race(kRacers, [&](Client& through, std::size_t racer) {
    for (int key = 0; key < kKeys; ++key) {
      const auto put = through.put_item(
          {.table = "Tab",
           .item = {{"pk", std::to_string(key)}, {"by", static_cast<int64_t>(racer)}},
           .condition = "attribute_not_exists(pk)"});
      if (put) ++created;
      if (!put) {
        EXPECT_EQ(put.error().code, Code::kConditionalCheckFailed) << put.error().message;
      }
      const auto added = through.update_item({.table = "Tab",
                                              .key = {{"pk", "counter"}},
                                              .update = "ADD n :one",
                                              .values = Values{{":one", 1}}});
      // With many concurrent writers, a request can get a conflict.
      if (added) ++counted;
      if (!added) {
        EXPECT_EQ(added.error().code, Code::kTransactionConflict) << added.error().message;
      }
    }
  });
  EXPECT_EQ(created, kKeys);
  EXPECT_GT(counted, 0);
  EXPECT_EQ(get(0, "counter"), (Item{{"pk", "counter"}, {"n", counted.load()}}));
}

TEST_F(Cluster, AStreamOfOneServerHasTheChangesOfAll) {
  create_table({.enabled = true, .view = StreamViewType::kNewAndOldImages});
  constexpr int kWrites = 60;
  race(4, [&](Client& through, std::size_t) {
    for (int i = 0; i < kWrites; ++i) {
      EXPECT_THAT(
          through.put_item({.table = "Tab",
                            .item = {{"pk", std::to_string(i % 10)}, {"at", std::to_string(i)}}}),
          IsOk());
    }
  });
  const auto described = client(1).describe_table({.table = "Tab"});
  ASSERT_THAT(described, IsOk());
  std::vector<Item> stored;
  const auto scanned = client(0).scan({.table = "Tab", .consistent_read = true});
  ASSERT_THAT(scanned, IsOk());
  StreamConsumer consumer;
  StreamReplay replay;
  const auto holds_all = [&] {
    for (const StreamRecord& record :
         consumer.read(client(1), *described->table.latest_stream_arn)) {
      replay.apply(record);
    }
    return replay.items().size() == scanned->items.size() &&
           std::ranges::all_of(scanned->items, [&](const Item& item) {
             const auto found = replay.items().find(to_debug_string(Item{{"pk", item.at("pk")}}));
             return found != replay.items().end() && found->second == item;
           });
  };
  EXPECT_TRUE(poll_until(holds_all));
}

// Its change could still be committed with a version below those of later ones.
TEST_F(Cluster, AStreamEndsBeforeATransactionInProgress) {
  create_table({.enabled = true, .view = StreamViewType::kKeysOnly});
  const auto described = client(0).describe_table({.table = "Tab"});
  ASSERT_THAT(described, IsOk());
  StreamConsumer consumer;
  std::vector<std::string> seen;
  const auto read = [&](std::size_t through) {
    for (const StreamRecord& record :
         consumer.read(client(through), *described->table.latest_stream_arn)) {
      seen.push_back(*record.keys.at("pk").get_if<std::string>());
    }
    return seen.size();
  };
  const auto put = [&](std::size_t through, const std::string& pk) {
    ASSERT_THAT(client(through).put_item({.table = "Tab", .item = {{"pk", pk}}}), IsOk());
  };
  put(0, "before");
  ASSERT_TRUE(poll_until([&] { return read(1) == 1; }));
  OpenTransaction other;
  put(0, "during");
  put(1, "during, through the other server");
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(read(static_cast<std::size_t>(i)), 1U);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  other.commit();
  EXPECT_TRUE(poll_until([&] { return read(0) == 3; }));
  EXPECT_THAT(seen, UnorderedElementsAre("before", "during", "during, through the other server"));
}

TEST_F(Cluster, ATransactionCanChangeTheEntriesOfAllIndexesForAllItems) {
  constexpr int kGlobal = 20;
  constexpr int kLocal = 5;
  constexpr int kItems = 100;
  CreateTableRequest request{
      .table = "Wide",
      .attributes = {{"pk", ScalarType::kS}, {"sk", ScalarType::kN}},
      .key_schema = {{"pk", KeyType::kHash}, {"sk", KeyType::kRange}},
      .local_indexes = std::vector<IndexDefinition>{},
      .global_indexes = std::vector<IndexDefinition>{},
      .billing_mode = BillingMode::kPayPerRequest,
  };
  for (int i = 0; i < kGlobal + kLocal; ++i) {
    const std::string name = "a" + std::to_string(i);
    request.attributes.push_back({name, ScalarType::kN});
    IndexDefinition index{.name = "By" + name};
    if (i < kGlobal) {
      index.key_schema = {{name, KeyType::kHash}};
      request.global_indexes->push_back(std::move(index));
    } else {
      index.key_schema = {{"pk", KeyType::kHash}, {name, KeyType::kRange}};
      request.local_indexes->push_back(std::move(index));
    }
  }
  ASSERT_THAT(client(0).create_table(request), IsOk());
  ASSERT_THAT(client(0).update_time_to_live(
                  {.table = "Wide", .specification = {.enabled = true, .attribute = "end"}}),
              IsOk());
  const int64_t end = 4'102'444'800;  // in 2100
  for (const int value : {1, 2}) {
    TransactWriteItemsRequest change{.client_request_token = "token" + std::to_string(value)};
    for (int i = 0; i < kItems; ++i) {
      Item item{{"pk", "a"}, {"sk", i}, {"end", end + value}};
      for (int a = 0; a < kGlobal + kLocal; ++a) item["a" + std::to_string(a)] = value;
      change.items.push_back({.table = "Wide", .item = std::move(item)});
    }
    ASSERT_THAT(client(0).transact_write_items(change), IsOk()) << value;
  }
  const auto found = client(1).query(
      {.table = "Wide", .index = "Bya0", .key_condition = "a0 = :a", .values = Values{{":a", 2}}});
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(found->items.size(), static_cast<std::size_t>(kItems));
}

TEST_F(Cluster, ADatabaseInAProgramSharesTheTables) {
  create_table();
  Database database = must(Database::open({.store = postgres_url(), .schema = schema_.name()}));
  ASSERT_THAT(database.put_item({.table = "Tab", .item = {{"pk", "a"}}}), IsOk());
  EXPECT_EQ(get(0, "a"), (Item{{"pk", "a"}}));
  EXPECT_THAT(client(1).put_item(
                  {.table = "Tab", .item = {{"pk", "a"}}, .condition = "attribute_not_exists(pk)"}),
              FailsWith(Code::kConditionalCheckFailed, ""));
  const TempDir directory;
  EXPECT_THAT(database.backup(directory.path() / "copy"),
              FailsWith(Code::kInvalidArgument, "the tables are not in a directory"));
  EXPECT_THAT(Database::open({.path = directory.path() / "data", .store = postgres_url()}),
              FailsWith(Code::kInvalidArgument, "name one of them"));
}

TEST_F(Cluster, AServerIsReadyWhileItReachesPostgres) {
  if (own_postgres() == nullptr) GTEST_SKIP() << "the server is not the test's own";
  EXPECT_THAT(get_page(server(0), "/health/ready").body,
              AllOf(StartsWith("ready\ndatabase: socket:5432\nstream horizon lag: 0.0 s\n"),
                    HasSubstr(" of 4 connections busy, 0 calls waiting\n")));
  const std::string metrics = get_page(server(0), "/metrics").body;
  EXPECT_THAT(metrics, AllOf(HasSubstr("\nstator_store_writable 1\n"),
                             HasSubstr("\nstator_stream_horizon_lag_seconds 0\n"),
                             HasSubstr("\nstator_database_info{address=\"socket:5432\"} 1\n"),
                             HasSubstr("\nstator_database_connections{pool=\"reads\"} 4\n"),
                             HasSubstr("\nstator_database_connections_busy{pool=\"commits\"} "),
                             HasSubstr("\nstator_database_queue_length{pool=\"locked\"} 0\n")));
  own_postgres()->stop();
  EXPECT_TRUE(poll_until([&] { return get_page(server(0), "/health/ready").status == 503; }));
  EXPECT_THAT(get_page(server(0), "/health/ready").body, HasSubstr("not ready: "));
  EXPECT_EQ(get_page(server(0), "/health/live").status, 200);
  EXPECT_THAT(get_page(server(0), "/metrics").body, HasSubstr("\nstator_ready 0\n"));
  own_postgres()->start();
  EXPECT_TRUE(poll_until([&] { return get_page(server(0), "/health/ready").status == 200; }));
}

// Its requests in progress began with a definition that is older than the index.
TEST_F(Cluster, AServerThatSleepsThroughASchemaChangeMaintainsTheNewIndex) {
  const uint64_t seed = number_from_environment("STATOR_SEED", std::random_device{}());
  SCOPED_TRACE("STATOR_SEED=" + std::to_string(seed));
  create_table();
  std::mt19937_64 naps(seed);
  constexpr int kKept = 1'000;  // items that nobody changes, so that an index takes some time
  for (int i = 0; i < kKept; i += 25) {
    std::vector<WriteRequest> batch;
    for (int n = i; n < i + 25; ++n) {
      batch.push_back({.put = Item{{"pk", "kept" + std::to_string(n)}, {"color", "color0"}}});
    }
    ASSERT_THAT(client(1).batch_write_item({.items = {{"Tab", std::move(batch)}}}), IsOk());
  }
  constexpr int kRounds = 6;
  for (int round = 0; round < kRounds; ++round) {
    const std::string index = "byColor" + std::to_string(round);
    std::atomic<bool> stop = false;
    std::jthread writers([&] {
      race(6, [&](Client& through, std::size_t writer) {
        std::mt19937_64 random(seed + writer);
        while (!stop) {
          // Its own items: another server cannot repair what this one missed.
          const std::string pk = std::to_string(writer) + "-" + std::to_string(random() % 50);
          // The result does not matter: a request to the sleeping server can time out.
          if (random() % 4 == 0) {
            static_cast<void>(through.delete_item({.table = "Tab", .key = {{"pk", pk}}}));
          } else {
            const std::string color = "color" + std::to_string(random() % 5);
            static_cast<void>(
                through.put_item({.table = "Tab", .item = {{"pk", pk}, {"color", color}}}));
          }
        }
      });
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ASSERT_EQ(kill(server(0).pid(), SIGSTOP), 0);
    EXPECT_THAT(
        client(1).update_table(
            {.table = "Tab",
             .attributes = {{{"pk", ScalarType::kS}, {"color", ScalarType::kS}}},
             .global_indexes = {{{.create = IndexDefinition{.name = index,
                                                            .key_schema = {{"color",
                                                                            KeyType::kHash}}}}}}}),
        IsOk());
    const auto wake = [&] { EXPECT_EQ(kill(server(0).pid(), SIGCONT), 0); };
    if (round % 2 == 0) {  // most likely before the index is complete
      std::this_thread::sleep_for(std::chrono::milliseconds(naps() % 40));
      wake();
    }
    EXPECT_TRUE(poll_until([&] {
      const auto described = must(client(1).describe_table({.table = "Tab"}));
      return described.table.global_indexes.back().status == TableStatus::kActive;
    }));
    if (round % 2 == 1) wake();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop = true;
    writers.join();
    EXPECT_EQ(items_by_key(0, index), items_by_key(1, {}));
    EXPECT_THAT(client(0).update_table({.table = "Tab", .global_indexes = {{{.remove = index}}}}),
                IsOk());
    EXPECT_TRUE(poll_until([&] {
      return must(client(1).describe_table({.table = "Tab"})).table.global_indexes.empty();
    }));
  }
}

// ---- Under load

class ClusterFaults : public Cluster {
 protected:
  static constexpr std::size_t kWriters = 8;

  ClusterFaults() : random_(seed_), ledger_(kWriters, random_()) {
    const auto created = Ledger::create(client(0));
    EXPECT_TRUE(created) << created.error().message;
  }

  // Makes half of the writers use each server, calls `fault`, and then stops the remaining writers.
  template <class Fault>
  std::vector<Result<void>> write_during(Fault fault) {
    std::vector<Result<void>> ends(kWriters);
    std::atomic<bool> stop = false;
    {
      std::vector<std::jthread> writers;
      writers.reserve(kWriters);
      for (std::size_t i = 0; i < kWriters; ++i) {
        writers.emplace_back([&, i] { ends[i] = ledger_.write(client(i), i, stop); });
      }
      // The time of each fault is not reproducible.
      std::this_thread::sleep_for(std::chrono::milliseconds(20 + random_() % 300));
      fault();
      stop = true;
    }
    return ends;
  }
  // Waits until the statements of a killed server have ended.
  void wait_for_the_last_statements() {
    EXPECT_TRUE(poll_until([&] {
      return run_sql(
                 "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'stator' AND "
                 "state <> 'idle' AND pid <> pg_backend_pid()",
                 schema_.name()) == "0";
    }));
  }
  void settle(Client& through) {
    ledger_.settle(through, Kept::kAcknowledged);
    ledger_.repeat_transactions(through);
  }

  const uint64_t seed_ = number_from_environment("STATOR_SEED", std::random_device{}());
  const uint64_t rounds_ = number_from_environment("STATOR_CLUSTER_ROUNDS", 4);
  std::mt19937_64 random_;
  Ledger ledger_;
};

TEST_F(ClusterFaults, AKilledServerLosesNothingAndTheOtherOneContinues) {
  SCOPED_TRACE("STATOR_SEED=" + std::to_string(seed_));
  ledger_.settle(client(0), Kept::kAcknowledged);
  for (uint64_t round = 0; round < rounds_ && !HasFailure(); ++round) {
    const std::size_t killed = round % kServers;
    const auto ends = write_during([&] {
      server(killed).kill_now();
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    });
    std::size_t cut_off = 0;  // not all: a writer can end before its next request
    for (std::size_t i = 0; i < kWriters; ++i) {
      if (i % kServers != killed) {
        EXPECT_THAT(ends[i], IsOk());
      } else if (!ends[i]) {
        ++cut_off;
      }
    }
    EXPECT_GT(cut_off, 0U);
    wait_for_the_last_statements();
    settle(client(killed + 1));
    ASSERT_NO_FATAL_FAILURE(start(killed));
    ledger_.check(client(killed), Kept::kAcknowledged);
  }
  EXPECT_GT(ledger_.acknowledged(), 0U) << "no round wrote anything";
  std::cout << rounds_ << " kills, " << ledger_.acknowledged() << " writes, STATOR_SEED=" << seed_
            << '\n';
}

TEST_F(ClusterFaults, ARestartOfPostgresLosesNothing) {
  if (own_postgres() == nullptr) GTEST_SKIP() << "the server is not the test's own";
  SCOPED_TRACE("STATOR_SEED=" + std::to_string(seed_));
  ledger_.settle(client(0), Kept::kAcknowledged);
  for (uint64_t round = 0; round < rounds_ && !HasFailure(); ++round) {
    const auto ends = write_during([&] {
      own_postgres()->stop(round % 2 == 0 ? SIGINT : SIGQUIT);
      own_postgres()->start();
    });
    for (const auto& end : ends) {
      if (end) continue;
      const Code code = end.error().code;
      EXPECT_TRUE(end.error().retryable() || code == Code::kInternalServerError)
          << code_name(code) << ": " << end.error().message;
    }
    for (std::size_t i = 0; i < kServers; ++i) {
      EXPECT_TRUE(poll_until([&] { return get_page(server(i), "/health/ready").status == 200; }));
    }
    wait_for_the_last_statements();
    settle(client(round));
  }
  EXPECT_GT(ledger_.acknowledged(), 0U) << "no round wrote anything";
}

}  // namespace
}  // namespace stator::test
