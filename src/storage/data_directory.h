// SPDX-License-Identifier: Apache-2.0
// The lock and the marker of a Stator data directory. docs/formats/directory.md.
// Thread safety: any thread can call const methods.
// Blocking: open() and mark_data_directory() wait for the disk; a held lock is an error at once.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/files.h"
#include "stator/result.h"

namespace stator {

// A data directory that only this process has open. fork() leaves the lock with the parent.
class DataDirectory {
 public:
  // Locks `path` and checks that it is a data directory of a format that this version reads.
  // Creates it if it is absent or empty and `create_if_missing` is set. Errors as
  // open_rocks_store().
  static Result<DataDirectory> open(const std::filesystem::path& path, bool create_if_missing);
  DataDirectory(DataDirectory&& other) noexcept;
  DataDirectory& operator=(DataDirectory&&) = delete;
  ~DataDirectory();  // unlocks

  // Whether no database has been created in it yet; the caller marks it when one has been.
  bool is_fresh() const { return fresh_; }

  // Errors: kIo in a child process, which has neither the lock nor the threads of the store.
  Result<void> check_process() const;

 private:
  explicit DataDirectory(int descriptor);

  int descriptor_;  // of the directory, with the lock
  bool fresh_ = false;
  uint64_t forks_;  // of this process when it was opened
};

inline constexpr const char* kDatabaseName = "rocksdb";  // the subdirectory of the rows

// Writes the marker into a directory that has a database. A marked directory without one is
// damaged.
Result<void> mark_data_directory(const std::filesystem::path& path);

}  // namespace stator
