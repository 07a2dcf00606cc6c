// SPDX-License-Identifier: Apache-2.0
// Copies a data directory, and renames the finished copy.
#pragma once

#include <filesystem>

#include "storage/transact_store.h"

namespace stator {

// Copies a file's bytes to `to`, which must not exist; it is synced, but its name is not. kIo.
Result<void> copy_file(const std::filesystem::path& from, const std::filesystem::path& to,
                       FunctionRef<void(std::size_t bytes)> copied);

// Copies `from`, which no process may have open, into `to`, which must not exist. All of it is on
// the disk on return. After a failure the caller removes `to`. Errors: kLocked, kCorruption and kIo
// as open_rocks_store(); the contents of the files are not checked.
Result<void> copy_data_directory(const std::filesystem::path& from, const std::filesystem::path& to,
                                 BytesVisitor progress);

// Renames a directory durably. kAlreadyExists if `to` exists.
Result<void> rename_directory(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace stator
