// SPDX-License-Identifier: Apache-2.0
// Checking a data directory that no process has open, with progress.
#pragma once

#include <filesystem>

#include "engine/verify/verify.h"
#include "stator/result.h"

namespace stator::cli {

// The directory is only read. Errors as open_rocks_store().
Result<VerifyReport> verify_directory(const std::filesystem::path& directory);

// One line on standard output for each finding that the report names, and one where it names not
// all of them.
void print_findings(const VerifyReport& report);

}  // namespace stator::cli
