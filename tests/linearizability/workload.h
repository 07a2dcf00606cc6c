// SPDX-License-Identifier: Apache-2.0
// Clients that race over a few items by every kind of operation on items, and write down what they
// called and were answered, as the checker reads it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "linearizability/checker.h"
#include "stator/client.h"

namespace stator::test {

int64_t monotonic_ns();

// The lives of a server that is stopped and started again, or of several servers that share their
// data and live on.
// Thread safety: every method from any thread at once.
class Lives {
 public:
  struct Life {
    std::size_t number = 0;
    std::shared_ptr<Client> client;
    bool ends = true;  // false: what it did not answer it can do at any time
  };

  void begin(std::shared_ptr<Client> client);
  // One client per server that is there now. A racer takes any of them for each call.
  void begin_endless(std::vector<std::shared_ptr<Client>> clients);
  void end();      // the process is gone: what it had not done by now it never does
  void give_up();  // it does not start again

  // Waits while there is none; its client is null where there will be none. `choice` selects one of
  // several servers.
  Life current(std::size_t choice = 0);
  // When a life ended. kNever where it has not after a time in which it should have.
  int64_t ended_ns(const Life& life);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<Client>> clients_;  // none between two lives
  bool ends_ = true;
  std::vector<int64_t> ended_ns_;  // by number
  bool given_up_ = false;
};

// The items of one group, and what is shared by those who race for them.
struct Group {
  static constexpr std::size_t kItems = 3;

  explicit Group(const std::string& name);

  std::vector<std::string> keys;
  std::vector<std::atomic<int64_t>> last_seen;  // hints, so that conditions hold at times
};

std::vector<CreateTableRequest> workload_tables();

// One client; for one thread.
class Racer {
 public:
  Racer(Lives& lives, std::vector<std::unique_ptr<Group>>& groups, std::atomic<int64_t>& next_value,
        uint64_t seed)
      : lives_(lives), groups_(groups), next_value_(next_value), random_(seed) {}

  // Calls one operation and records it, unless it was certainly not executed.
  void step();
  // Reads every item.
  void look();

  const std::vector<Operation>& history() const { return history_; }
  // Answers that no operation here may get, one a line.
  const std::string& complaints() const { return complaints_; }

 private:
  Operation choose(Group& group);
  Action choose_action(Group& group, std::size_t item, bool in_transaction);
  void call(Operation operation, Group& group);
  void remember(const Operation& operation, Group& group);
  std::size_t below(std::size_t bound) { return random_() % bound; }

  Lives& lives_;
  std::vector<std::unique_ptr<Group>>& groups_;
  std::atomic<int64_t>& next_value_;
  std::mt19937_64 random_;
  std::vector<Operation> history_;
  std::string complaints_;
};

// What all racers recorded, as one history. Complaints fail the test.
std::vector<Operation> history_of(const std::vector<Racer>& racers);

// Counts the operations of all rounds.
struct Rounds {
  std::size_t operations = 0;
  std::size_t unknown = 0;  // without an answer

  // Fails the test if the history of the round is not linearizable.
  void add(const std::vector<Operation>& history);
};

}  // namespace stator::test
