// SPDX-License-Identifier: Apache-2.0
// The marker that makes a directory a Stator data directory. docs/formats/directory.md.
#pragma once

#include <filesystem>

#include "stator/result.h"

namespace stator {

// A data directory that this process alone has open.
class DataDirectory {
 public:
  // Locks `path` and makes sure that it is a data directory of a format that this version reads,
  // creating it where it is absent or empty and `create_if_missing` allows. Errors as
  // open_rocks_store().
  static Result<DataDirectory> open(const std::filesystem::path& path, bool create_if_missing);
  DataDirectory(DataDirectory&& other) noexcept;
  DataDirectory& operator=(DataDirectory&&) = delete;
  ~DataDirectory();  // unlocks

  // No database has been made in it yet: mark it once one is there.
  bool is_fresh() const { return fresh_; }

 private:
  explicit DataDirectory(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;  // of the directory, with the lock
  bool fresh_ = false;
};

inline constexpr const char* kDatabaseName = "rocksdb";  // what holds the rows, within it

// Makes durable which names a directory holds.
Result<void> sync_directory(const std::filesystem::path& path);

// Writes the marker into a directory that holds the data: from now on their absence is damage.
Result<void> mark_data_directory(const std::filesystem::path& path);

}  // namespace stator
