// SPDX-License-Identifier: Apache-2.0
// Opens the store that a user names: a directory, memory, or a database of PostgreSQL.
// Blocking: waits for the disk or the server.
#pragma once

#include <memory>
#include <string>

#include "storage/store_report.h"
#include "storage/stores.h"
#include "storage/transact_store.h"

namespace stator {

struct StoreOptions {
  std::string store = {};            // postgresql://…, see storage/postgres/store_url.h
  std::string schema = {};           // of the store; empty: its default
  RocksStoreOptions directory = {};  // without `store`; an empty path: in memory
  StoreReport report = {};           // about a `store`
};

// Errors: kInvalidArgument if both a store and a path are named; those of open_rocks_store() and
// open_postgres_store(). Each has one line with the problem and the remedy, without a password.
Result<std::unique_ptr<TransactStore>> open_store(const StoreOptions& options);

}  // namespace stator
