// SPDX-License-Identifier: Apache-2.0
// The tables and functions of the store in a PostgreSQL database, by version; connections to them.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "stator/result.h"
#include "storage/postgres/connection.h"
#include "storage/transact_store.h"

namespace stator::postgres {

inline constexpr int kSchemaVersion = 1;

// Version and settings of a server.
struct ServerFacts {
  std::string name = {};  // that of version()
  int version = 0;        // 150004 is 15.4
  bool is_standby = false;
  bool is_read_only = false;
  std::string synchronous_commit = {};
  bool has_synchronous_standbys = false;
  bool fsync = true;
  bool full_page_writes = true;
  int max_prepared_transactions = 0;
  bool has_data = false;  // of Stator, in the schema
};

struct DataFacts {
  int version = 0;
  bool is_moved = false;  // restored from a dump: commit versions would repeat
  LogPosition next = {};  // the lowest commit version that the server can still assign
};

// Creates the tables and functions in the named schema if they are missing, and adapts the data of
// a restored dump. Otherwise it does nothing. At most one process at a time changes them.
// Errors: kInvalidArgument for data of a newer version, tables of another program and an unsuitable
// server; kAccessDenied; kUnavailable.
Result<void> initialize(const ConnectionOptions& options);

enum class Target { kAny, kReadWrite };  // applies if the connection string has none

// Loads libpq and checks the schema's name. Errors: kIo, kInvalidArgument.
Result<void> check_options(const ConnectionOptions& options);
// Checks whether a store can be opened, including the tables of the schema and the role's
// privileges.
// Errors: those of initialize(); kNotFound if the schema has no data.
Result<void> check_server_and_data(const ConnectionOptions& options);

// Opens a connection with the store's prepared statements. It checks that the server is suitable
// and has the data, because an address can lead to a different server than before. `acknowledged`:
// a position that the server must have reached; if it has not, it has lost commits.
// Errors: those of check_server_and_data().
Result<std::unique_ptr<Connection>> open_connection(const ConnectionOptions& options, Target target,
                                                    LogPosition acknowledged = {});

// Returns one line about settings with which a power failure can damage the data; empty: none. Test
// systems use them for speed, so the store accepts them.
std::string risk_of(const ServerFacts& facts);
// Check whether the store can use the server, and the data. Errors have one line with the remedy.
Result<void> check_server(const ServerFacts& facts);
Result<void> check_data(const DataFacts& facts, const std::string& schema,
                        LogPosition acknowledged);

}  // namespace stator::postgres
