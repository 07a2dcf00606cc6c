// SPDX-License-Identifier: Apache-2.0
// Opens a RocksDB database: its options, the checks before, and the recovery of a damaged log.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "storage/progress.h"
#include "storage/rocks_space.h"
#include "storage/row_cache.h"
#include "storage/stores.h"

namespace stator {

// The members are destroyed in reverse order.
struct OpenedDatabase {
  std::unique_ptr<rocksdb::Env> env;
  std::unique_ptr<rocksdb::DB> db = {};
  std::unique_ptr<RocksSpace> space = {};
  std::unique_ptr<RowCache> rows = {};
  std::optional<ProgressFile> file = {};  // absent if the database is open for reading only
  Progress progress = {};                 // as last written to the file
  std::string log_damage = {};            // of a database open for reading; empty: none found
};

// Opens the database of a locked data directory; `fresh`: it is created if missing. Errors as
// open_rocks_store().
Result<OpenedDatabase> open_database(rocksdb::Env& env, const RocksStoreOptions& options,
                                     bool fresh);

// The error of a read. Codes: kCorruption, kIo.
Failure read_failure(const rocksdb::Status& status);

}  // namespace stator
