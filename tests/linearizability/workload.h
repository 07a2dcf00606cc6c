// SPDX-License-Identifier: Apache-2.0
// Clients that race for a few items with all operations on items. They record calls and responses
// for the checker.
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

// The lives of a server that is stopped and restarted, or of several servers that share data which
// outlives them.
// Thread safety: every method can be called from any thread at once.
class Lives {
 public:
  struct Life {
    std::size_t number = 0;
    std::shared_ptr<Client> client;
    bool ends = true;  // false: an unanswered operation can take effect at any time
  };

  void begin(std::shared_ptr<Client> client);
  // One client per running server. A racer selects one of them for each call.
  void begin_endless(std::vector<std::shared_ptr<Client>> clients);
  void end();      // the process has ended: unfinished operations never take effect
  void give_up();  // the server will not start again

  // Waits for a life. Its client is null after give_up(). `choice` selects one of several servers.
  Life current(std::size_t choice = 0);
  // Returns the end of a life, or kNever if it has not ended in time.
  int64_t ended_ns(const Life& life);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<Client>> clients_;  // empty between two lives
  bool ends_ = true;
  std::vector<int64_t> ended_ns_;  // by number
  bool given_up_ = false;
};

// The items of one group, and the state that its racers share.
struct Group {
  static constexpr std::size_t kItems = 3;

  explicit Group(const std::string& name);

  std::vector<std::string> keys;
  std::vector<std::atomic<int64_t>> last_seen;  // hints, so that some conditions are true
};

std::vector<CreateTableRequest> workload_tables();

// One client. Thread safety: one thread at a time.
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
  // Responses that no operation here may get, one per line.
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

// The records of all racers, as one history. Complaints fail the test.
std::vector<Operation> history_of(const std::vector<Racer>& racers);

// Counts the operations of all rounds.
struct Rounds {
  std::size_t operations = 0;
  std::size_t unknown = 0;  // without a response

  // Fails the test if the history of the round is not linearizable.
  void add(const std::vector<Operation>& history);
};

}  // namespace stator::test
