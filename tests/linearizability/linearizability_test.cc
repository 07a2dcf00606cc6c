// SPDX-License-Identifier: Apache-2.0
// Clients race over HTTP for a few items of a server on disk that is paused, killed with -9 and
// stopped in between: what they were answered is linearizable, transactions included.
//
// Each round has items of its own and is one history, ended by reading every item.
// STATOR_LINEARIZABILITY_ROUNDS sets how many (40 unless set), STATOR_SEED what they do; how the
// clients meet is left to chance.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <iostream>
#include <mutex>
#include <optional>
#include <random>
#include <thread>

#include "linearizability/checker.h"
#include "linearizability/workload.h"
#include "stator/http_client.h"
#include "support/from_environment.h"
#include "support/server_process.h"
#include "support/temp_dir.h"

namespace stator::test {
namespace {

constexpr std::size_t kRacers = 6;
constexpr std::size_t kGroups = 2;
constexpr std::size_t kStepsPerRacer = 60;
constexpr std::size_t kFaultsPerRound = 3;

// How many steps all racers have made.
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

class Server {
 public:
  explicit Server(Lives& lives) : lives_(lives) {}

  bool start() {
    process_.emplace(STATOR_BINARY,
                     std::vector<std::string>{"--data", (directory_.path() / "data").string()});
    // One attempt: a retry is an operation of its own.
    auto client = HttpClient::open({.endpoint = process_->url(), .max_attempts = 1});
    if (!client) {
      ADD_FAILURE() << "the server did not start";
      lives_.give_up();
      return false;
    }
    lives_.begin(std::make_shared<HttpClient>(std::move(*client)));
    return true;
  }

  // False where it is not there any more.
  bool suffer(std::mt19937_64& random) {
    const auto fault = random() % 8;
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 3'000));
    if (fault < 4) {
      ::kill(process_->pid(), SIGSTOP);
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 10'000));
      ::kill(process_->pid(), SIGCONT);
    }
    if (fault < 2) return true;
    if (fault == 7) {
      EXPECT_EQ(process_->terminate(), 0);
    } else {
      process_->kill_now();
      ++kills_;
    }
    lives_.end();
    return start();
  }

  int kills() const { return kills_; }

 private:
  Lives& lives_;
  TempDir directory_;
  std::optional<ServerProcess> process_;
  int kills_ = 0;
};

std::vector<Operation> race(Lives& lives, Server& server, const std::string& name,
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
      if (!server.suffer(random)) break;
    }
  }
  racers.front().look();
  std::vector<Operation> history;
  for (const Racer& racer : racers) {
    EXPECT_EQ(racer.complaints(), "");
    history.insert(history.end(), racer.history().begin(), racer.history().end());
  }
  return history;
}

TEST(Linearizability, HoldsOverHttpWithTransactionsPausesAndCrashes) {
  const uint64_t seed = number_from_environment("STATOR_SEED", std::random_device{}());
  const uint64_t rounds = number_from_environment("STATOR_LINEARIZABILITY_ROUNDS", 40);
  SCOPED_TRACE("STATOR_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  Lives lives;
  Server server(lives);
  ASSERT_TRUE(server.start());
  for (const CreateTableRequest& table : workload_tables()) {
    ASSERT_TRUE(lives.current().client->create_table(table));
  }
  std::size_t operations = 0;
  std::size_t unknown = 0;
  for (uint64_t round = 0; round < rounds && !HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const auto history = race(lives, server, std::to_string(round), random);
    operations += history.size();
    unknown += static_cast<std::size_t>(
        std::ranges::count(history, Outcome::kUnknown, &Operation::outcome));
    const Verdict verdict = check_linearizable(history);
    EXPECT_EQ(verdict.kind, Verdict::Kind::kLinearizable) << verdict.explanation;
  }
  std::cout << operations << " operations in " << rounds << " rounds, " << server.kills()
            << " kills, " << unknown << " operations without an answer, STATOR_SEED=" << seed
            << '\n';
}

}  // namespace
}  // namespace stator::test
