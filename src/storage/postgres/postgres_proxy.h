// SPDX-License-Identifier: Apache-2.0
// PostgresProxy: a proxy in front of a test's PostgreSQL server. It counts pipelines, and breaks
// connections around the commits that a test chooses.
//
// Thread safety: any thread. `fate` is called from the proxy's threads.
// Lifetime: the destructor closes all connections.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace stator::test {

class PostgresProxy {
 public:
  enum class Fate {
    kPass,
    kLoseRequest,  // the connection breaks, and nothing arrives
    kLoseReply,    // it is executed, and then the connection breaks
    kRace,         // it arrives, and the connection breaks at once
    kDeliverLate,  // the connection breaks, and it arrives with deliver_late()
  };
  // A pipeline that calls commit_batches().
  struct CommitPipeline {
    bool is_locked = false;  // it ends a transaction that holds locks
  };

  // `socket`: the path of the server's.
  PostgresProxy(std::string socket, std::function<Fate(CommitPipeline)> fate);
  PostgresProxy(const PostgresProxy&) = delete;
  PostgresProxy& operator=(const PostgresProxy&) = delete;
  ~PostgresProxy();

  std::string dsn() const;
  // Pipelines of clients that were forwarded.
  uint64_t pipelines() const { return pipelines_; }
  // Whether new connections fail.
  void refuse(bool refuses) { refuses_ = refuses; }
  // Delivers the commits that are late, and waits until the server has executed them.
  void deliver_late();

 private:
  struct Late {
    int server = -1;
    std::string bytes;
  };

  void accept_all(const std::stop_token& stop);
  void serve(int client, const std::stop_token& stop);
  // Takes the whole pipelines from the beginning of `bytes`. False: the connection ends.
  bool forward_pipelines(std::string& bytes, int server);
  bool meet(Fate fate, std::string_view pipeline, int server);

  const std::string socket_;
  const std::function<Fate(CommitPipeline)> fate_;
  int listener_ = -1;
  uint16_t port_ = 0;
  std::atomic<uint64_t> pipelines_ = 0;
  std::atomic<bool> refuses_ = false;
  std::mutex mutex_;
  std::vector<Late> late_;
  std::vector<std::jthread> closing_;  // of connections whose replies are lost
  std::jthread accepting_;
};

}  // namespace stator::test
