// SPDX-License-Identifier: Apache-2.0
// Reading RocksDB's write-ahead logs before the database is opened: opening changes them.
//
// A log is a sequence of blocks of 32 KB. A record is one write: a checksum, a length, a type and a
// part of the write for each block that it spans. A write begins with the number of its first row
// and the number of its rows. After the last record, a log can have zeros (rocks_zeroed_log.h).
// docs/formats/directory.md explains the checks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/result.h"
#include "storage/progress.h"

namespace stator {

uint32_t crc32c(std::string_view bytes);

struct LogFile {
  enum class End {
    kWhole,      // only zeros, or nothing, follow the last record
    kTruncated,  // the end of the last record is missing, or zeros are in its place
    kGarbled,    // bytes that are not a record
  };
  std::filesystem::path path;
  uint64_t number = 0;
  uint64_t bytes = 0;
  uint64_t sound_bytes = 0;  // up to the end of the last record before the first damage
  End end = End::kWhole;
  bool has_later_records = false;          // a later write begins after the damage
  std::optional<uint64_t> first_row = {};  // absent: no sound record
  uint64_t next_row = 0;                   // after the sound records
};

// Errors: kIo if the file cannot be read.
Result<LogFile> read_log_file(const std::filesystem::path& path, uint64_t number);

// From the manifest: rows up to `last_row` are in table files or in logs from `first_log` on.
struct ManifestState {
  uint64_t last_row = 0;
  uint64_t first_log = 0;
};

struct LogState {
  std::vector<LogFile> files;   // needed for recovery, in order
  std::string damage = {};      // one line; empty: none, or only what a loss of power leaves
  bool is_excused = false;      // a power loss with durability `os` explains the damage
  std::size_t sound_files = 0;  // number of files before the damage, with the one where it starts
  uint64_t last_row = 0;        // number of the last row that opening recovers
  std::optional<Progress> progress = {};  // that the logs were compared with
};

// Compares the logs in `directory` with the manifest and with the acknowledged writes. Errors: kIo
// if a file cannot be read.
Result<LogState> check_logs(const std::filesystem::path& directory, const ManifestState& manifest,
                            const std::optional<Progress>& progress, std::string_view boot);

// Moves the logs, from the damage on, to a new directory in `home`. Of the first one, this is a
// copy, and its sound part stays in `directory`. Returns the new directory, or an empty path if no
// log is left. Durable on return. After an error, the directory and moved logs can remain.
Result<std::filesystem::path> set_logs_aside(const LogState& state,
                                             const std::filesystem::path& directory,
                                             const std::filesystem::path& home);

}  // namespace stator
