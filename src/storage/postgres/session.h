// SPDX-License-Identifier: Apache-2.0
// Session: a connection that is opened again after it broke. Thread safety: one thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "storage/postgres/connection.h"
#include "storage/postgres/server.h"

namespace stator::postgres {

class Session {
 public:
  // Both must outlive it.
  Session(const ConnectionOptions& options, Server& server) : options_(options), server_(server) {}

  // Returns the open connection, or a new one. It is valid until the next call. A connection with
  // an unconfirmed commit is kept open: closing it would leave its server process running, and each
  // new connection could leave another one.
  // Errors: kUnavailable, also while the server has not responded to an earlier call.
  Result<Connection*> connected();
  // Runs `job`, which takes a Connection& and returns an SqlResult. If the connection breaks, it
  // runs `job` once more on a new one, so `job` must not change anything.
  template <class Job>
  auto read(Job job) -> Result<typename std::invoke_result_t<Job&, Connection&>::value_type> {
    for (bool again = true;; again = false) {
      STATOR_ASSIGN_OR_RETURN(Connection* const connection, connected());
      auto result = job(*connection);
      if (result) return std::move(*result);
      if (!again || !connection->is_broken()) return Failure(to_error(result.error()));
    }
  }
  // Whether the last call left a connection that works.
  bool is_connected() const { return connection_ && !connection_->is_broken(); }
  // Whether the server responds to all earlier calls within `timeout`.
  bool responds_within(std::chrono::milliseconds timeout);
  Server& server() { return server_; }

 private:
  const ConnectionOptions& options_;
  Server& server_;
  std::unique_ptr<Connection> connection_;
  uint64_t doubts_ = 0;  // of the server before the connection was opened
};

}  // namespace stator::postgres
