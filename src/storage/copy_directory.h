// SPDX-License-Identifier: Apache-2.0
// Copies a data directory, and renames the finished copy.
// Blocking: all functions wait for the disk.
#pragma once

#include <filesystem>

#include "storage/transact_store.h"

namespace stator {

// Copies a file to `to`, which must not exist. The content is synced, its name in the directory is
// not. Errors: kIo.
Result<void> copy_file(const std::filesystem::path& from, const std::filesystem::path& to,
                       FunctionRef<void(std::size_t bytes)> copied);

// Copies `from`, which no process may have open, to `to`, which must not exist. The copy is synced.
// After a failure, the caller must remove `to`. Errors: kLocked, kCorruption and kIo, see
// open_rocks_store(). The contents of the files are not checked.
Result<void> copy_data_directory(const std::filesystem::path& from, const std::filesystem::path& to,
                                 BytesVisitor progress);

// Renames a directory durably. Errors: kAlreadyExists if `to` exists; kIo.
Result<void> rename_directory(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace stator
