// SPDX-License-Identifier: Apache-2.0
// The marker that makes a directory a Stator data directory. docs/formats/directory.md.
#pragma once

#include <filesystem>

#include "stator/result.h"

namespace stator {

// Makes sure that `path` is a data directory of a format that this version reads, creating it where
// it is absent or empty and `create_if_missing` allows. Errors as open_rocks_store().
Result<void> prepare_data_directory(const std::filesystem::path& path, bool create_if_missing);

// Writes the marker into a directory that holds a copy of the data.
Result<void> mark_data_directory(const std::filesystem::path& path);

}  // namespace stator
