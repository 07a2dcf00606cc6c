// SPDX-License-Identifier: Apache-2.0
// ZeroedLog: a log of RocksDB with zeros after its last record.
//
// A sync of a file that has grown, or that has used new blocks, makes a file system write its own
// log too: the disk is waited for twice. So zeros are written in advance, and synced together with
// a record. Later records replace them, and their syncs write nothing else. Readers of a log find
// its end at the zeros (rocks_log.h). Closing a log removes them.
//
// Thread safety: a file is used by one thread at a time; OpenLogs by any thread.
#pragma once

#include <rocksdb/file_system.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace stator {

// The sizes of logs that are written, without the zeros.
class OpenLogs {
 public:
  using Size = std::shared_ptr<std::atomic<uint64_t>>;
  // Returns the size of a new log, which counts as open until the result is destroyed.
  Size add(const std::string& name);
  // Absent if the log is not open.
  std::optional<uint64_t> size_of(const std::string& name) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::weak_ptr<std::atomic<uint64_t>>> sizes_;
};

// Whether `directory` is on ext4 or XFS. Those that copy on write gain nothing from zeros. NFS can
// report that an earlier write failed as an error of a later one, and errors of zeros are ignored.
bool gains_from_zeros(const std::filesystem::path& directory);

// `file`: new and empty. If its PositionedAppend fails, zeros are omitted.
std::unique_ptr<rocksdb::FSWritableFile> make_zeroed_log(
    std::unique_ptr<rocksdb::FSWritableFile> file, OpenLogs::Size size);

}  // namespace stator
