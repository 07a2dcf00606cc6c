// SPDX-License-Identifier: Apache-2.0
// Clients race over HTTP for a few items of a server on disk, or of two servers on one PostgreSQL
// database. Servers are paused, killed with -9 and stopped. The responses must be linearizable,
// including those of transactions.
//
// Each round uses its own items, is one history, and ends with reads of all items.
// STATOR_LINEARIZABILITY_ROUNDS sets the number of rounds (default: 40), and STATOR_SEED their
// operations. The interleaving is not reproducible.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <iostream>
#include <iterator>
#include <mutex>
#include <optional>
#include <random>
#include <thread>

#include "linearizability/checker.h"
#include "linearizability/workload.h"
#include "stator/http_client.h"
#include "storage/postgres/postgres_fixture.h"
#include "support/from_environment.h"
#include "support/paths.h"
#include "support/server_process.h"
#include "support/temp_dir.h"

namespace stator::test {
namespace {

constexpr std::size_t kRacers = 6;
constexpr std::size_t kGroups = 2;
constexpr std::size_t kStepsPerRacer = 60;
constexpr std::size_t kFaultsPerRound = 3;

// Counts the steps of all racers.
class Progress {
 public:
  void advance() {
    {
      const std::lock_guard lock(mutex_);
      ++steps_;
    }
    changed_.notify_all();
  }
  void await(std::size_t steps) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return steps_ >= steps; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t steps_ = 0;
};

// One server on a directory, or several on one database. The directory or database outlives them.
class Servers {
 public:
  Servers(Lives& lives, std::size_t count, std::vector<std::string> arguments)
      : lives_(lives), arguments_(std::move(arguments)), processes_(count), clients_(count) {}

  bool start() {
    for (std::size_t i = 0; i < processes_.size(); ++i) {
      if (!start(i)) return false;
    }
    return true;
  }

  // Pauses, kills or stops one of the servers at random. Returns false if it did not start again.
  bool suffer(std::mt19937_64& random) {
    const std::size_t i = random() % processes_.size();
    const auto fault = random() % 8;
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 3'000));
    if (fault < 4) {
      ::kill(processes_[i]->pid(), SIGSTOP);
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 10'000));
      ::kill(processes_[i]->pid(), SIGCONT);
    }
    if (fault < 2) return true;
    if (fault == 7) {
      EXPECT_EQ(processes_[i]->terminate(), 0);
    } else {
      processes_[i]->kill_now();
      ++kills_;
    }
    clients_[i].reset();
    if (!are_several()) {
      lives_.end();
    } else {
      lives_.begin_endless(living());
    }
    return start(i);
  }

  int kills() const { return kills_; }

 private:
  bool are_several() const { return processes_.size() > 1; }
  std::vector<std::shared_ptr<Client>> living() const {
    std::vector<std::shared_ptr<Client>> living;
    std::ranges::copy_if(clients_, std::back_inserter(living),
                         [](const auto& client) { return client != nullptr; });
    return living;
  }

  bool start(std::size_t i) {
    processes_[i].emplace(stator_binary(), arguments_);
    // One attempt, because each retry is a separate operation.
    auto client = HttpClient::open({.endpoint = processes_[i]->url(), .max_attempts = 1});
    if (!client) {
      ADD_FAILURE() << "the server did not start";
      lives_.give_up();
      return false;
    }
    clients_[i] = std::make_shared<HttpClient>(std::move(*client));
    if (are_several()) {
      lives_.begin_endless(living());
    } else {
      lives_.begin(clients_[i]);
    }
    return true;
  }

  Lives& lives_;
  const std::vector<std::string> arguments_;
  std::deque<std::optional<ServerProcess>> processes_;
  std::vector<std::shared_ptr<Client>> clients_;
  int kills_ = 0;
};

std::vector<Operation> race(Lives& lives, Servers& servers, const std::string& name,
                            std::mt19937_64& random) {
  std::vector<std::unique_ptr<Group>> groups;
  groups.reserve(kGroups);
  for (std::size_t i = 0; i < kGroups; ++i) {
    groups.push_back(std::make_unique<Group>(name + "/" + std::to_string(i)));
  }
  std::atomic<int64_t> next_value = 0;
  std::vector<Racer> racers;
  racers.reserve(kRacers);
  for (std::size_t i = 0; i < kRacers; ++i)
    racers.emplace_back(lives, groups, next_value, random());

  Progress progress;
  std::vector<std::size_t> moments;
  moments.reserve(kFaultsPerRound);
  for (std::size_t i = 0; i < kFaultsPerRound; ++i) {
    moments.push_back(random() % (kRacers * kStepsPerRacer * 9 / 10));
  }
  std::ranges::sort(moments);
  {
    std::vector<std::jthread> threads;
    threads.reserve(kRacers);
    for (Racer& racer : racers) {
      threads.emplace_back([&] {
        for (std::size_t i = 0; i < kStepsPerRacer; ++i) {
          racer.step();
          progress.advance();
        }
      });
    }
    for (const std::size_t moment : moments) {
      progress.await(moment);
      if (!servers.suffer(random)) break;
    }
  }
  racers.front().look();
  return history_of(racers);
}

void play(std::size_t count, const std::vector<std::string>& arguments) {
  const uint64_t seed = number_from_environment("STATOR_SEED", std::random_device{}());
  const uint64_t rounds = number_from_environment("STATOR_LINEARIZABILITY_ROUNDS", 40);
  SCOPED_TRACE("STATOR_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  Lives lives;
  Servers servers(lives, count, arguments);
  ASSERT_TRUE(servers.start());
  for (const CreateTableRequest& table : workload_tables()) {
    ASSERT_TRUE(lives.current().client->create_table(table));
  }
  Rounds played;
  for (uint64_t round = 0; round < rounds && !::testing::Test::HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    played.add(race(lives, servers, std::to_string(round), random));
  }
  std::cout << played.operations << " operations in " << rounds << " rounds, " << servers.kills()
            << " kills, " << played.unknown << " operations without an answer, STATOR_SEED=" << seed
            << '\n';
}

TEST(Linearizability, HoldsOverHttpWithTransactionsPausesAndCrashes) {
  const TempDir directory;
  play(1, {"--data", (directory.path() / "data").string()});
}

// Each client selects one of the servers for each request.
TEST(Linearizability, HoldsOverTwoServersOnPostgres) {
  const PostgresSchema schema;
  play(2, {"--store", postgres_url(), "--schema", schema.name()});
}

}  // namespace
}  // namespace stator::test
