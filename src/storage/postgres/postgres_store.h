// SPDX-License-Identifier: Apache-2.0
// A TransactStore in PostgreSQL, which several processes share (docs/decisions/0031).
//
// Callbacks run on threads of the store, which have a connection each. A connection that broke is
// opened again by the next call that needs it. While the server cannot be reached, calls fail at
// once, and a thread of the store looks whether it is back. Each new connection checks the server.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "stator/result.h"
#include "storage/transact_store.h"

namespace stator {

struct PostgresStoreOptions {
  std::string dsn;                // a connection string or URI of libpq
  std::string schema = "stator";  // lower-case letters, digits and '_'
  // Connections: of reads, of commits, and of transactions that other ones kept interrupting.
  std::size_t read_connections = 4;
  std::size_t commit_connections = 4;
  std::size_t locked_connections = 2;
  std::size_t queued_reads_max = 10'000;     // and locked transactions; kThrottling beyond
  std::size_t queue_bytes_max = 64UL << 20;  // of commits that wait; kThrottling beyond
  std::chrono::milliseconds response_timeout{10'000};
  // How long a lost reply to a commit is looked for before its outcome stays unknown.
  std::chrono::milliseconds settle_timeout{10'000};
};

// Creates the tables and functions in the named schema. Does nothing if they are there.
// Errors: kInvalidArgument from data of a newer version, a schema of another program or an
// unsuitable server; kAccessDenied; kUnavailable; kIo without libpq.
Result<void> initialize_postgres_store(const PostgresStoreOptions& options);

// Errors: as above, and kNotFound if the schema is not initialized. Messages name the remedy.
Result<std::unique_ptr<TransactStore>> open_postgres_store(const PostgresStoreOptions& options);

}  // namespace stator
