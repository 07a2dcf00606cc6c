// SPDX-License-Identifier: Apache-2.0
// Server: what the connections of a store know together about their server.
//
// As long as the server cannot be reached, only a thread of its own tries to; everybody else is
// refused at once. So an address that is silent costs one caller its timeout, and the store
// recovers without being called.
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

namespace stator::postgres {

class Server {
 public:
  // The options are those of the connections that look whether the server is back.
  explicit Server(const ConnectionOptions& options);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  // Waits for an attempt to connect that is under way.
  ~Server();

  // Errors: kUnavailable, whatever is wrong with the server.
  Result<std::unique_ptr<Connection>> connect(const ConnectionOptions& options);
  // A connection broke, so perhaps the others did: one caller of connect() finds out, and the
  // others wait for what it finds.
  void doubt();
  std::string problem() const;  // one line; empty: the last connection was made

  // The server has committed, as durably as it does, and gives only commit versions above `end`.
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
  std::atomic<uint64_t> acknowledged_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::string problem_;
  uint64_t failures_ = 0;  // of attempts to connect
  bool doubted_ = false;
  bool finding_out_ = false;
  std::jthread looking_;
};

}  // namespace stator::postgres
