// SPDX-License-Identifier: Apache-2.0
#include "storage/postgres/postgres_cluster.h"

#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <string_view>
#include <utility>

#include "storage/postgres/contents.h"
#include "storage/postgres/schema.h"

namespace stator {
namespace {

using postgres::Connection;
using postgres::Rows;
using postgres::SqlResult;

// {} is the schema. A role sees the start times only of its own transactions, but all transaction
// ids.
constexpr std::string_view kServer = R"(
SELECT current_setting('server_version'),
  coalesce(host(inet_server_addr()), 'socket') || ':' || current_setting('port'),
  current_database(), current_user,
  current_setting('synchronous_commit'), current_setting('synchronous_standby_names'),
  current_setting('max_connections'),
  (SELECT sum(numbackends) FROM pg_stat_database),
  (SELECT count(*) FROM pg_stat_activity
   WHERE application_name = 'stator' AND usename = current_user),
  (SELECT sum(c.reltuples)::int8 FROM pg_class AS c JOIN pg_inherits AS i ON i.inhrelid = c.oid
     JOIN pg_class AS kv ON kv.oid = i.inhparent
   WHERE kv.relnamespace = to_regnamespace('"{0}"') AND kv.relname = 'kv' AND c.reltuples >= 0),
  (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::int8 FROM pg_class AS c
   WHERE c.relnamespace = to_regnamespace('"{0}"') AND c.relkind = 'r'),
  w.pid, extract(epoch FROM clock_timestamp() - w.xact_start),
  current_setting('fsync'), current_setting('full_page_writes')
FROM (SELECT 1) AS one LEFT JOIN LATERAL
  (SELECT pid, xact_start FROM pg_stat_activity WHERE backend_xid IS NOT NULL
   ORDER BY age(backend_xid) DESC LIMIT 1) AS w ON true
)";

template <class Number>
std::optional<Number> number_in(const Rows& rows, int column) {
  if (rows.is_null(0, column)) return std::nullopt;
  const std::string_view text = rows.bytes(0, column);
  Number number{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() ? std::optional(number) : std::nullopt;
}

postgres::ConnectionOptions connections_of(const PostgresStoreOptions& options) {
  return {
      .dsn = options.dsn, .schema = options.schema, .response_timeout = options.response_timeout};
}

PostgresStatus status_of(const Rows& rows) {
  const auto text = [&](int column) { return std::string(rows.bytes(0, column)); };
  PostgresStatus status{
      .risk = postgres::risk_of({.fsync = text(13) == "on", .full_page_writes = text(14) == "on"}),
      .server_version = text(0),
      .address = text(1),
      .database = text(2),
      .role = text(3),
      .synchronous_commit = text(4),
      .synchronous_standbys = text(5),
      .rows = number_in<int64_t>(rows, 9),
      .bytes = number_in<int64_t>(rows, 10).value_or(0),
      .connections = number_in<int64_t>(rows, 7).value_or(0),
      .own_connections = number_in<int64_t>(rows, 8).value_or(0),
      .connections_max = number_in<int64_t>(rows, 6).value_or(0)};
  if (const auto process = number_in<int>(rows, 11)) {
    status.horizon_process = *process;
    status.horizon_lag_s = number_in<double>(rows, 12);
  }
  return status;
}

}  // namespace

Result<PostgresStatus> read_postgres_status(const PostgresStoreOptions& options) {
  const postgres::ConnectionOptions connections = connections_of(options);
  STATOR_RETURN_IF_ERROR(postgres::check_options(connections));
  const auto checked = postgres::check_server_and_data(connections);
  auto connection = Connection::connect(connections, false);
  if (!connection)
    return Failure(checked ? postgres::to_error(connection.error()) : checked.error());
  const auto rows = (*connection)->run_script(fmt::format(kServer, options.schema));
  if (!rows) return Failure(checked ? postgres::to_error(rows.error()) : checked.error());
  PostgresStatus status = status_of(*rows);
  if (!checked) status.problem = checked.error().message;
  const auto version =
      (*connection)->run_script(fmt::format("SELECT version FROM \"{}\".meta", options.schema));
  if (version && version->count() > 0) status.schema_version = number_in<int>(*version, 0);
  return status;
}

namespace {

class LockedRows final : public PostgresWritePause {
 public:
  explicit LockedRows(std::unique_ptr<Connection> connection)
      : connection_(std::move(connection)) {}
  bool holds() override { return connection_->is_usable(); }

 private:
  std::unique_ptr<Connection> connection_;  // its transaction has the lock
};

}  // namespace

Result<std::unique_ptr<PostgresWritePause>> pause_postgres_writes(
    const PostgresStoreOptions& options) {
  const postgres::ConnectionOptions connections = connections_of(options);
  STATOR_RETURN_IF_ERROR(postgres::check_server_and_data(connections));
  auto connection = Connection::connect(connections, true);
  if (!connection) return Failure(postgres::to_error(connection.error()));
  const auto locked = (*connection)
                          ->run_script(fmt::format(
                              "BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; "
                              "SET LOCAL lock_timeout = '5s'; LOCK TABLE \"{}\".kv IN SHARE MODE",
                              options.schema));
  if (!locked) return Failure(postgres::to_error(locked.error()));
  return std::make_unique<LockedRows>(*std::move(connection));
}

Result<int> upgrade_postgres_store(const PostgresStoreOptions& options) {
  STATOR_RETURN_IF_ERROR(postgres::check_server_and_data(connections_of(options)));
  return postgres::kSchemaVersion;
}

}  // namespace stator
