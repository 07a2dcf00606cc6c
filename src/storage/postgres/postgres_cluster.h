// SPDX-License-Identifier: Apache-2.0
// The status of a database with or without a store, and its upgrade, for operators.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "stator/result.h"
#include "storage/postgres/postgres_store.h"

namespace stator {

struct PostgresStatus {
  std::string problem = {};         // why open_postgres_store() fails, one line; empty: it succeeds
  std::string risk = {};            // of settings that the store accepts, one line; empty: none
  std::string server_version = {};  // "15.14"
  std::string address = {};         // "192.0.2.1:5432", or "socket:5432"
  std::string database = {};
  std::string role = {};
  std::string synchronous_commit = {};
  std::string synchronous_standbys = {};  // synchronous_standby_names; empty: none
  std::optional<int> schema_version = {};
  std::optional<int64_t> rows = {};  // from statistics; absent before the first ANALYZE
  int64_t bytes = 0;                 // of tables and indexes
  int64_t connections = 0;           // all to the server
  int64_t own_connections = 0;       // of this role, by Stator
  int64_t connections_max = 0;
  // The age of the oldest running transaction that has written; streams end before it. Absent if
  // the role cannot see it, because it lacks pg_read_all_stats.
  std::optional<double> horizon_lag_s = 0.0;
  int horizon_process = 0;  // of the server; 0: no such transaction
};

// Errors: kUnavailable if the server cannot be reached; kInvalidArgument; kIo without libpq.
Result<PostgresStatus> read_postgres_status(const PostgresStoreOptions& options);

// While it exists, no process writes rows of the schema: commits and new connections wait, and fail
// after some seconds.
// Thread safety: one thread.
class PostgresWritePause {
 public:
  virtual ~PostgresWritePause() = default;
  // False if the connection was lost, so that rows might have been written.
  virtual bool holds() = 0;
};
// Waits for transactions in progress. Errors: those of open_postgres_store(); kConflict if one
// takes longer than a few seconds.
Result<std::unique_ptr<PostgresWritePause>> pause_postgres_writes(
    const PostgresStoreOptions& options);

// Upgrades the schema to the version of this program, and returns the version. There has been one
// version so far. Errors: those of open_postgres_store().
Result<int> upgrade_postgres_store(const PostgresStoreOptions& options);

}  // namespace stator
