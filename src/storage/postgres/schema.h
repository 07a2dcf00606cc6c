// SPDX-License-Identifier: Apache-2.0
// The tables and functions of the store in a PostgreSQL database, by version.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stator/result.h"
#include "storage/postgres/connection.h"

namespace stator::postgres {

inline constexpr int kSchemaVersion = 1;

// What a server says about itself and the data, as opening the store needs it.
struct ServerFacts {
  int version = 0;  // 150004 is 15.4
  bool is_standby = false;
  bool is_read_only = false;
  std::string synchronous_commit = {};
  int max_prepared_transactions = 0;
  std::optional<int> schema_version = {};  // none: no data of Stator
  bool is_moved = false;                   // restored from a dump: commit versions would repeat
};

// Creates the tables and functions in the named schema if they are missing, and adapts them to a
// restored copy. Does nothing if they are there. At most one process at a time changes them.
// Errors: kInvalidArgument from a newer version or an unsuitable server; kUnavailable.
Result<void> initialize(const ConnectionOptions& options);

// Errors as initialize(); kNotFound if there is no data.
Result<void> check_server_and_data(const ConnectionOptions& options);

// One line with a remedy, unless the store can use the server. kNotFound: no data.
Result<void> check_server(const ServerFacts& facts);
Result<void> check_data(const ServerFacts& facts, const std::string& schema);

}  // namespace stator::postgres
