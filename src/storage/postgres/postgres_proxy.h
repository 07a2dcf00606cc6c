// SPDX-License-Identifier: Apache-2.0
// PostgresProxy: a proxy in front of a test's PostgreSQL server. It counts round trips, and breaks
// connections around the commits that a test chooses.
//
// Thread safety: any thread. `fate` is called from the proxy's threads.
// Lifetime: the destructor closes all connections.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "storage/postgres/statements.h"
#include "support/loopback_listener.h"

namespace stator::test {

class PostgresProxy {
 public:
  enum class Fate {
    kPass,
    kLoseRequest,  // the connection breaks, and the pipeline does not arrive
    kLoseReply,    // the pipeline is executed, then the connection breaks
    kLoseEnd,      // the statements are executed and reply, but their transaction does not end
    kRace,         // the pipeline arrives, and the connection breaks immediately
    kDeliverLate,  // the connection breaks; deliver_late() delivers the pipeline
  };
  // A pipeline that commits.
  struct CommitPipeline {
    bool is_locked = false;  // it ends a transaction that holds locks
    std::string_view bytes = {};
  };

  // `socket`: the path of the server's socket.
  PostgresProxy(std::string socket, std::function<Fate(CommitPipeline)> fate);
  PostgresProxy(const PostgresProxy&) = delete;
  PostgresProxy& operator=(const PostgresProxy&) = delete;
  ~PostgresProxy();

  std::string dsn() const;
  std::string url() const;  // the same
  // The number of open connections.
  int connections() const { return connections_; }
  // The number of pipelines for whose end a client waits.
  uint64_t round_trips() const { return round_trips_; }
  // Those of a call: the fewest of some repetitions, because a connection is opened when it is
  // first used, and jobs and the monitor send statements too.
  template <class Call>
  uint64_t fewest_round_trips(Call call) const {
    constexpr int kRepetitions = 8;
    uint64_t fewest = std::numeric_limits<uint64_t>::max();
    for (int i = 0; i < kRepetitions; ++i) {
      const uint64_t before = round_trips_;
      call();
      fewest = std::min(fewest, round_trips_ - before);
    }
    return fewest;
  }
  // What happens to new connections.
  enum class Greeting {
    kPass,
    kRefuse,
    kSilence,  // they are accepted, but nothing is ever sent
    kPooler,   // as from a pooler: the client receives the id of another server process
  };
  void greet(Greeting greeting) { greeting_ = greeting; }
  // Breaks the existing connections.
  void drop_all() { ++dropped_; }
  // Breaks the connection of the pipeline that executes a statement next.
  struct Cut {
    postgres::Statement statement{};
    bool of_reply = false;  // in the reply instead of the pipeline
    int half_messages = 0;  // that arrive; if there are fewer, nothing breaks
  };
  void cut_next(const Cut& cut) {
    const std::lock_guard lock(mutex_);
    cut_ = cut;
  }
  int cuts() const { return cuts_; }
  // The largest number of connections that met silence at the same time.
  int silent_max() const { return silent_max_; }
  // Delivers the late commits, and waits until the server has executed them.
  void deliver_late();

 private:
  struct Late {
    int server = -1;
    std::string bytes;
  };

  void be_silent(int client, const std::stop_token& stop);
  void serve(int client, const std::stop_token& stop);
  // Forwards the complete pipelines at the beginning of `bytes`. Returns false if the connection
  // ends; `server` is then closed or kept for late delivery, as in the methods that follow.
  bool forward_pipelines(std::string& bytes, int server, int client);
  bool meet(Fate fate, std::string_view pipeline, int server, int client);
  bool cut(const Cut& cut, std::string_view pipeline, int server, int client);
  std::optional<Cut> take_cut(const std::vector<postgres::Statement>& statements);

  const std::string socket_;
  const std::function<Fate(CommitPipeline)> fate_;
  std::atomic<int> connections_ = 0;
  std::atomic<uint64_t> round_trips_ = 0;
  std::atomic<Greeting> greeting_ = Greeting::kPass;
  std::atomic<int> dropped_ = 0;
  std::atomic<int> cuts_ = 0;
  std::atomic<int> silent_ = 0;
  std::atomic<int> silent_max_ = 0;
  std::mutex mutex_;
  std::optional<Cut> cut_;
  std::vector<Late> late_;
  std::vector<std::jthread> closing_;  // of connections whose replies are lost
  std::optional<LoopbackListener> listener_;
};

}  // namespace stator::test
