// SPDX-License-Identifier: Apache-2.0
// The stores there are.
#pragma once

#include <filesystem>
#include <memory>

#include "stator/database.h"
#include "storage/store.h"

namespace stator {

// Nothing on disk; as durable as the process.
std::unique_ptr<Store> make_memory_store();

struct RocksStoreOptions {
  std::filesystem::path path;
  Durability durability = Durability::kSync;
  bool create_if_missing = true;
  bool read_only = false;       // nothing is made or changed; writes fail
  std::size_t cache_bytes = 0;  // of blocks read; 0: see DatabaseOptions
  std::size_t write_buffer_bytes = 64UL << 20;
  std::size_t queue_bytes_max = 64UL << 20;  // of commits waiting for the disk
  uint64_t reserve_bytes = 64UL << 20;       // below it a disk counts as full
};

// kLocked when another process has it open, kCorruption when it is damaged or no Stator directory
// (docs/formats/directory.md), kIo when the file system refuses. Messages name the path and the
// remedy.
Result<std::unique_ptr<Store>> open_rocks_store(const RocksStoreOptions& options);

}  // namespace stator
