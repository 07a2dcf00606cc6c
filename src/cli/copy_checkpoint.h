// SPDX-License-Identifier: Apache-2.0
// CopyCheckpoint: the file that stores the positions of `stator copy` in each table.
//
// Durability: a stored position survives a crash. All items up to it must be stored in the target
// before it is saved.
#pragma once

#include <map>
#include <string>

#include "cli/table_scan.h"
#include "stator/client.h"

namespace stator::cli {

class CopyCheckpoint {
 public:
  // `ends` identifies the source and the target. With an empty path, nothing is stored. Errors:
  // kInvalidArgument if the file is not a checkpoint of the same ends; kIo.
  static Result<CopyCheckpoint> load(const std::string& path, const std::string& ends);

  // Null if this copy has not created or accepted the target table. A table that was deleted and
  // created again is another table.
  const ScanPositions* find(const TableDescription& source, const TableDescription& target) const;
  Result<void> save(const TableDescription& source, const TableDescription& target,
                    ScanPositions positions);
  // Deletes the file: the next copy starts over.
  Result<void> remove();

  bool is_kept() const { return !path_.empty(); }

 private:
  CopyCheckpoint(std::string path, std::string ends)
      : path_(std::move(path)), ends_(std::move(ends)) {}

  std::string path_;
  std::string ends_;
  std::map<std::string, ScanPositions> tables_;  // by the identities of the source and the target
};

}  // namespace stator::cli
