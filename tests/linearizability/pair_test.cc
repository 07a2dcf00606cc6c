// SPDX-License-Identifier: Apache-2.0
// Clients race for a few items of two engines on one backend, like two servers, and select an
// engine for each request. The backend delays requests, injects conflicts, loses replies, delivers
// requests late, and leaves some outcomes unknown. Concurrently, indexes, streams and TTL are
// enabled and disabled through either engine. The responses must be linearizable.
//
// Each round drops the tables and creates them again through one of the engines, and then uses the
// same keys. A client that reads with a dropped definition sees another history.
// STATOR_LINEARIZABILITY_ROUNDS sets the number of rounds (default: 15), and STATOR_SEED their
// operations. The interleaving is not reproducible.
#include <gtest/gtest.h>

#include <array>
#include <iostream>
#include <thread>

#include "client/database_on_store.h"
#include "engine/engine.h"
#include "linearizability/checker.h"
#include "linearizability/workload.h"
#include "stator/database.h"
#include "support/from_environment.h"
#include "support/must.h"
#include "support/shared_store.h"

namespace stator::test {
namespace {

constexpr std::size_t kRacers = 4;
constexpr std::size_t kSteps = 60;
constexpr SharedFaults kFaults{
    .conflicts = 60, .lost_replies = 60, .late = 60, .outages = 500, .slow = 3};

// A change can be rejected because another one is in progress, and its outcome can be unknown.
void change_schemas(Client& client, std::mt19937_64& random, std::array<int, 3>& changes) {
  const std::string table = random() % 2 == 0 ? "Even" : "Odd";
  const auto count = [](const auto& result, int& changed) { changed += result ? 1 : 0; };
  switch (random() % 3) {
    case 0: {
      UpdateTableRequest request{.table = table, .global_indexes = {{GlobalIndexChange()}}};
      if (random() % 2 == 0) {
        request.global_indexes->front().remove = "ByValue";
      } else {
        request.attributes = {{{"v", ScalarType::kN}}};
        request.global_indexes->front().create = IndexDefinition{
            .name = "ByValue", .key_schema = {{"v", KeyType::kHash}}, .projection = {}};
      }
      return count(client.update_table(request), changes[0]);
    }
    case 1: {
      StreamSpecification stream{.enabled = random() % 2 == 0};
      if (stream.enabled) stream.view = StreamViewType::kNewImage;
      return count(client.update_table({.table = table, .stream = stream}), changes[1]);
    }
    default:
      return count(client.update_time_to_live(
                       {.table = table,
                        .specification = {.enabled = random() % 2 == 0, .attribute = "until"}}),
                   changes[2]);
  }
}

class Pair {
 public:
  explicit Pair(uint64_t seed) : backend_(static_cast<uint32_t>(seed), kFaults) {
    std::vector<std::shared_ptr<Client>> clients;
    for (uint32_t i = 0; i < 2; ++i) {
      clients.push_back(std::make_shared<Database>(database_on(must_soon([&] {
        auto store = std::make_unique<SharedStore>(backend_, static_cast<uint32_t>(seed) + 1 + i);
        return Engine::open(std::move(store), {.retry_delay = [](int) { return kRetryDelay; }});
      }))));
    }
    lives_.begin_endless(std::move(clients));
  }

  Lives& lives() { return lives_; }
  Client& client(std::mt19937_64& random) { return *lives_.current(random()).client; }

  // Repeats until both are certain. The other engine is not notified.
  static void recreate(const CreateTableRequest& table, Client& through) {
    while (through.delete_table({.table = table.table}) ||
           through.describe_table({.table = table.table})) {
    }
    while (!through.create_table(table)) {
      if (through.describe_table({.table = table.table})) break;
    }
  }

 private:
  static constexpr std::chrono::milliseconds kRetryDelay{1};

  SharedBackend backend_;
  Lives lives_;
};

std::vector<Operation> race(Pair& pair, std::mt19937_64& random, std::array<int, 3>& changes) {
  std::vector<std::unique_ptr<Group>> groups;
  groups.push_back(std::make_unique<Group>("a"));
  std::atomic<int64_t> next_value = 0;
  std::vector<Racer> racers;
  racers.reserve(kRacers);
  for (std::size_t i = 0; i < kRacers; ++i) {
    racers.emplace_back(pair.lives(), groups, next_value, random());
  }
  std::atomic<std::size_t> racing = kRacers;
  {
    std::vector<std::jthread> threads;
    threads.reserve(kRacers);
    for (Racer& racer : racers) {
      threads.emplace_back([&] {
        for (std::size_t i = 0; i < kSteps; ++i) racer.step();
        --racing;
      });
    }
    // Uses one engine for several changes, so that the other one is behind.
    for (std::size_t i = 0; racing > 0; ++i) {
      change_schemas(*pair.lives().current(i / 8).client, random, changes);
    }
  }
  racers.front().look();
  return history_of(racers);
}

TEST(PairLinearizability, HoldsWhileSchemasChange) {
  const uint64_t seed = number_from_environment("STATOR_SEED", std::random_device{}());
  const uint64_t rounds = number_from_environment("STATOR_LINEARIZABILITY_ROUNDS", 15);
  SCOPED_TRACE("STATOR_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  Pair pair(seed);
  Rounds played;
  std::array<int, 3> changes = {};
  for (uint64_t round = 0; round < rounds && !HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Client& one = pair.client(random);
    for (const CreateTableRequest& table : workload_tables()) Pair::recreate(table, one);
    played.add(race(pair, random, changes));
  }
  for (const int changed : changes) EXPECT_GT(changed, 0);
  std::cout << played.operations << " operations in " << rounds << " rounds, " << played.unknown
            << " of unknown outcome, changes: " << changes[0] << " of indexes, " << changes[1]
            << " of streams, " << changes[2] << " of TTL, STATOR_SEED=" << seed << '\n';
}

}  // namespace
}  // namespace stator::test
