// SPDX-License-Identifier: Apache-2.0
// Server: the state of a server, which all connections of a store share.
//
// While the server cannot be reached, only one thread tries to connect; all callers fail at once.
// So an address that does not respond costs only one caller a timeout, and the store recovers even
// if it is not called.
// Thread safety: any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "storage/postgres/schema.h"
#include "storage/store_report.h"

namespace stator::postgres {

class Server {
 public:
  // `options`: for the connections that test an unreachable server. `report` gets a line with
  // the server's first address and each later one, and a line if the server becomes unreachable or
  // reachable, or has settings that risk the data. It must not call this object.
  Server(const ConnectionOptions& options, StoreReport report);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  // Waits for a connection attempt in progress.
  ~Server();

  // Errors: kUnavailable, for every problem of the server.
  Result<std::unique_ptr<Connection>> connect(const ConnectionOptions& options);
  // Call it after a connection broke: one caller of connect() checks the server, and the others
  // wait for its result.
  void doubt();
  // The number of calls of doubt(). Connections that were opened before the last one are not used
  // any more: they can be to a primary that was stopped and replaced, and continues with old data.
  uint64_t doubts() const { return doubts_.load(); }
  std::string problem() const;  // one line; empty: the last attempt to connect succeeded
  std::string address() const;  // of the last connection; empty: none so far

  // Records an acknowledged commit, after which the server assigns only commit versions from `end`
  // on.
  void acknowledge(LogPosition end);
  LogPosition acknowledged() const { return LogPosition{acknowledged_.load()}; }

 private:
  // Connects without the lock, and records the result for those who wait for the lock. A success
  // clears a problem only if no other attempt has failed since this one began, because its checks
  // of the server can be older.
  Result<std::unique_ptr<Connection>> attempt(const ConnectionOptions& options,
                                              std::unique_lock<std::mutex>& lock);
  void look(const std::stop_token& stop);

  const ConnectionOptions options_;
  const StoreReport report_;
  std::atomic<uint64_t> acknowledged_ = 0;
  std::atomic<uint64_t> doubts_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::string problem_;
  std::string address_;
  std::string risk_;       // that was reported last
  uint64_t failures_ = 0;  // of attempts to connect
  bool doubted_ = false;
  bool finding_out_ = false;
  std::jthread looking_;
};

}  // namespace stator::postgres
