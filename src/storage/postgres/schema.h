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

// What a server says about itself.
struct ServerFacts {
  int version = 0;  // 150004 is 15.4
  bool is_standby = false;
  bool is_read_only = false;
  std::string synchronous_commit = {};
  bool has_synchronous_standbys = false;
  int max_prepared_transactions = 0;
  bool has_data = false;  // of Stator, in the schema
};

struct DataFacts {
  int version = 0;
  bool is_moved = false;  // restored from a dump: commit versions would repeat
  LogPosition next = {};  // commit versions that the server will give are not below
};

// Creates the tables and functions in the named schema if they are missing, and adapts them to a
// restored copy. Does nothing if they are there. At most one process at a time changes them.
// Errors: kInvalidArgument from a newer version, tables of another program or an unsuitable server;
// kAccessDenied; kUnavailable.
Result<void> initialize(const ConnectionOptions& options);

enum class Target { kAny, kReadWrite };  // of a connection string that does not say

// Loads libpq and checks the schema's name. Errors: kIo, kInvalidArgument.
Result<void> check_options(const ConnectionOptions& options);
// Whether a store can be opened: also the tables of the schema, and the role's privileges. Errors
// as initialize(); kNotFound if there is no data.
Result<void> check_server_and_data(const ConnectionOptions& options);

// Opens a connection with the store's prepared statements. Each one makes sure that its server is
// suitable and has the data: an address can lead to another server than before. `acknowledged`: a
// position that the server must have reached, unless it lost commits.
// Errors as check_server_and_data().
Result<std::unique_ptr<Connection>> open_connection(const ConnectionOptions& options, Target target,
                                                    LogPosition acknowledged = {});

// One line with a remedy, unless the store can use the server, and the data.
Result<void> check_server(const ServerFacts& facts);
Result<void> check_data(const DataFacts& facts, const std::string& schema,
                        LogPosition acknowledged);

}  // namespace stator::postgres
