// SPDX-License-Identifier: Apache-2.0
// Monitor: checks the PostgreSQL server every two seconds, on a thread with its own connection. So
// `Server` knows of a failure and of a recovery without requests.
//
// Thread safety: any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <thread>

#include "storage/postgres/session.h"

namespace stator::postgres {

class Monitor {
 public:
  // The server must outlive it. The thread calls `report` once when the lag exceeds `lag_reported`,
  // and again only after the lag has fallen.
  Monitor(const ConnectionOptions& connections, Server& server, StoreReport report,
          std::chrono::milliseconds lag_reported);
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;
  ~Monitor() = default;  // waits for a check in progress

  // How long one transaction has held back the safe position, and so hidden newer commits from
  // readers of the log. Zero until two checks in a row have seen the transaction; unchanged while
  // checks fail.
  std::chrono::milliseconds horizon_lag() const;

 private:
  using Time = std::chrono::steady_clock::time_point;

  void run(const std::stop_token& stop);
  Result<void> check(Session& session);

  const ConnectionOptions connections_;
  Server& server_;
  const StoreReport report_;
  const std::chrono::milliseconds lag_reported_;
  bool is_reported_ = false;  // used by its thread only
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  uint64_t horizon_ = 0;
  Time held_since_ = {};
  Time looked_at_ = {};
  std::jthread thread_;  // last: it uses the others
};

}  // namespace stator::postgres
