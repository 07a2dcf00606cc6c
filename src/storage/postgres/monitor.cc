// SPDX-License-Identifier: Apache-2.0
#include "storage/postgres/monitor.h"

#include <fmt/format.h>

#include <utility>

namespace stator::postgres {
namespace {

constexpr std::chrono::seconds kInterval{2};
constexpr std::chrono::seconds kResponseMax{3};  // of a query that usually takes less than 1 ms

}  // namespace

Monitor::Monitor(const ConnectionOptions& connections, Server& server, StoreReport report,
                 std::chrono::milliseconds lag_reported)
    : connections_{.dsn = connections.dsn,
                   .schema = connections.schema,
                   .response_timeout = kResponseMax},
      server_(server),
      report_(std::move(report)),
      lag_reported_(lag_reported),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

std::chrono::milliseconds Monitor::horizon_lag() const {
  const std::lock_guard lock(mutex_);
  return std::chrono::duration_cast<std::chrono::milliseconds>(looked_at_ - held_since_);
}

void Monitor::run(const std::stop_token& stop) {
  Session session(connections_, server_);
  for (;;) {
    static_cast<void>(check(session));  // the session reports problems to the server
    const std::chrono::milliseconds lag = horizon_lag();
    if (report_ && lag > lag_reported_ && !is_reported_) {
      report_(LogLevel::kWarning,
              fmt::format("a transaction of the database has held back all streams for {} s; "
                          "`stator cluster status` names its process",
                          std::chrono::ceil<std::chrono::seconds>(lag).count()));
    }
    is_reported_ = lag > lag_reported_;
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, stop, kInterval, [] { return false; });
    if (stop.stop_requested()) return;
  }
}

Result<void> Monitor::check(Session& session) {
  STATOR_ASSIGN_OR_RETURN(const Rows rows, session.read([](Connection& connection) {
    return connection.execute(Statement::kHorizon);
  }));
  const uint64_t horizon = rows.number(0, 0);
  const bool is_held = horizon < rows.number(0, 1);
  const std::lock_guard lock(mutex_);
  looked_at_ = std::chrono::steady_clock::now();
  if (!is_held || horizon != horizon_) held_since_ = looked_at_;
  horizon_ = horizon;
  return {};
}

}  // namespace stator::postgres
