// SPDX-License-Identifier: Apache-2.0
// Copying a data directory, and putting the copy where it belongs.
#pragma once

#include <filesystem>

#include "storage/transact_store.h"

namespace stator {

// Copies a file's bytes to `to`, which must not exist; it is synced, but its name is not. kIo.
Result<void> copy_file(const std::filesystem::path& from, const std::filesystem::path& to,
                       FunctionRef<void(std::size_t bytes)> copied);

// Copies `from`, which no process may have open, into `to`, which must not exist. All of it is on
// the disk on return; after a failure, what there is of it is to be removed. kLocked, kCorruption,
// kIo as open_rocks_store(); what the files hold is not looked at.
Result<void> copy_data_directory(const std::filesystem::path& from, const std::filesystem::path& to,
                                 BytesVisitor progress);

// Renames a directory to a name that nothing has, durably. kAlreadyExists where something has it.
Result<void> rename_directory(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace stator
