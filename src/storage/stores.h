// SPDX-License-Identifier: Apache-2.0
// The stores there are.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "stator/database.h"
#include "storage/transact_store.h"

namespace stator {

// Nothing on disk; as durable as the process.
std::unique_ptr<TransactStore> make_memory_store();

struct RocksStoreOptions {
  std::filesystem::path path;
  Durability durability = Durability::kSync;
  bool create_if_missing = true;
  bool read_only = false;                       // nothing is made or changed; writes fail
  std::size_t cache_bytes = 0;                  // of blocks read; 0: see DatabaseOptions
  std::size_t write_buffer_bytes = 64UL << 20;  // less on a disk below 64 GB
  std::size_t queue_bytes_max = 64UL << 20;     // of commits waiting for the disk
  // Free space that only deletes may use. 0: four write buffers, and up to 16 MB.
  uint64_t reserve_bytes = 0;
  std::string boot = {};  // names the run of the operating system; empty: the current one
  // Receives what opening did about a log that a loss of power cut short with durability `os`.
  std::function<void(const std::string&)> report = {};
};

// kLocked when another process has it open, kCorruption when it is damaged or no Stator directory
// (docs/formats/directory.md), kIo when the file system refuses or is too full to open it. Messages
// name the path and the remedy.
Result<std::unique_ptr<TransactStore>> open_rocks_store(const RocksStoreOptions& options);

struct LogRecovery {
  std::string damage = {};               // one line; empty: the log was sound, nothing was done
  std::filesystem::path set_aside = {};  // holds the damaged log; empty: there was none to keep
};

// Makes a directory with a damaged log open again, with the writes before the damage. Errors as
// open_rocks_store(); the directory must not be in use.
Result<LogRecovery> recover_rocks_store(const std::filesystem::path& path);

}  // namespace stator
