// SPDX-License-Identifier: Apache-2.0
// Progress: how far a store has acknowledged writes, in a file next to the database.
//
// When a directory is opened, it shows whether the log has lost acknowledged writes at its end. The
// file is written without a sync after each group of writes, so it survives the process. It never
// claims more than was acknowledged, and after a loss of power it can claim less. Reserved commit
// versions are synced before they are used.
// Layout: docs/formats/directory.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/files.h"
#include "stator/result.h"

namespace stator {

struct Progress {
  uint64_t last_row = 0;             // the number of the last acknowledged row
  uint64_t commit_versions_end = 0;  // above all commit versions shown or reserved; 0: unknown
  bool synced = true;                // false: the writes had only reached the operating system
  std::string boot = {};             // the boot_id() at that time

  // The first commit version that no reader can have seen. A version is at most its row's number.
  uint64_t unused_versions() const { return std::max(commit_versions_end, last_row + 1); }
};

// Identifies one run of the operating system; empty if unknown.
std::string boot_id();

// Thread safety: one thread at a time.
class ProgressFile {
 public:
  // Opens or creates the file. A new file is durable on return, and so is a damaged one, which then
  // contains no progress. Errors: kIo.
  static Result<ProgressFile> open(const std::filesystem::path& path);
  // Absent if the file does not exist or was not written yet. Errors: kIo; kCorruption if it is
  // damaged.
  static Result<std::optional<Progress>> read(const std::filesystem::path& path);

  // Survives a loss of power only after sync(). A failure leaves the earlier progress in place: the
  // file then claims less. Errors: kIo.
  Result<void> write(const Progress& progress);
  Result<void> sync();  // Errors: kIo.
  // Whether the file was deleted after it was opened.
  bool is_deleted() const;

 private:
  explicit ProgressFile(int descriptor, std::filesystem::path path)
      : descriptor_(descriptor), path_(std::move(path)) {}

  Descriptor descriptor_;
  std::filesystem::path path_;
  uint64_t writes_ = 0;
};

}  // namespace stator
