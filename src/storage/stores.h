// SPDX-License-Identifier: Apache-2.0
// Creates and opens the stores of one process.
// Blocking: opening and recovering a directory wait for the disk.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "stator/database.h"
#include "storage/transact_store.h"

namespace stator {

// A store without files, whose data is lost when it is destroyed.
std::unique_ptr<TransactStore> make_memory_store();

struct RocksStoreOptions {
  std::filesystem::path path;
  Durability durability = Durability::kSync;
  bool create_if_missing = true;
  bool read_only = false;                       // changes no file; writes fail
  std::size_t cache_bytes = 0;                  // limit of the caches; 0: see DatabaseOptions
  std::size_t write_buffer_bytes = 64UL << 20;  // less on a disk below 64 GB
  std::size_t queue_bytes_max = 64UL << 20;     // limit of the commits that wait for the disk
  // Free space that only deletes can use. 0: four write buffers, and up to 16 MB.
  uint64_t reserve_bytes = 0;
  std::string boot = {};  // identifies the run of the operating system; empty: the current one
  // Receives a line if opening repaired a log that a power failure truncated with durability `os`.
  std::function<void(const std::string&)> report = {};
};

// Errors: kLocked if another process has the directory open; kCorruption if it is damaged or is not
// a Stator directory (docs/formats/directory.md); kIo if a file system call fails or the disk is
// too full to open it. Messages name the path and the remedy.
Result<std::unique_ptr<TransactStore>> open_rocks_store(const RocksStoreOptions& options);

struct LogRecovery {
  std::string damage = {};               // one line; empty: none, and nothing was changed
  std::filesystem::path set_aside = {};  // the copy of the replaced log; empty: none
};

// Repairs a directory with a damaged log, which keeps the writes before the damage, or with a
// damaged `progress`, which keeps all. The directory must not be open. Errors: those of
// open_rocks_store().
Result<LogRecovery> recover_rocks_store(const std::filesystem::path& path);

}  // namespace stator
