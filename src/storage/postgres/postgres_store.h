// SPDX-License-Identifier: Apache-2.0
// A TransactStore in PostgreSQL, which several processes share (docs/decisions/0031).
//
// Callbacks run on threads of the store, each of which has a connection. The next call that needs a
// broken connection opens it again. While the server cannot be reached, calls fail at once, and a
// thread of the store tries to reconnect. Each new connection checks the server.
// Blocking: initialize_postgres_store() and open_postgres_store() wait for the server.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "stator/result.h"
#include "storage/store_report.h"
#include "storage/transact_store.h"

namespace stator {

struct PostgresStoreOptions {
  std::string dsn;                // a connection string or URI of libpq
  std::string schema = "stator";  // lower-case letters, digits and '_'
  // Connections for reads, for commits, and for transactions with repeated conflicts.
  std::size_t read_connections = 4;
  std::size_t commit_connections = 4;
  std::size_t locked_connections = 2;
  std::size_t queued_reads_max = 10'000;     // limit of reads and locked transactions; kThrottling
  std::size_t queue_bytes_max = 64UL << 20;  // limit of waiting commits; kThrottling
  std::chrono::milliseconds response_timeout{10'000};
  // If the reply to a commit is lost, the store queries the database for the outcome of the commit
  // for up to this time. After that, the caller gets kUnknown.
  std::chrono::milliseconds settle_timeout{10'000};
  StoreReport report = {};
  // How long a transaction can hold back safe_position() before that is reported.
  std::chrono::milliseconds lag_reported{60'000};
};

// Creates the tables and functions in the named schema. Does nothing if they exist.
// Errors: kInvalidArgument for data of a newer version, a schema of another program and an
// unsuitable server; kAccessDenied; kUnavailable; kIo without libpq.
Result<void> initialize_postgres_store(const PostgresStoreOptions& options);

// Errors: those above, and kNotFound if the schema is not initialized. Messages name the remedy.
Result<std::unique_ptr<TransactStore>> open_postgres_store(const PostgresStoreOptions& options);

}  // namespace stator
