// SPDX-License-Identifier: Apache-2.0
// Verifies a data directory that no process has open, with progress.
#pragma once

#include <filesystem>

#include "engine/verify/verify.h"
#include "stator/result.h"

namespace stator::cli {

// Does not change the directory. Errors: see open_rocks_store().
Result<VerifyReport> verify_directory(const std::filesystem::path& directory);

// Prints one line on standard output for each finding in the report, and the number of findings
// that it does not contain.
void print_findings(const VerifyReport& report);

}  // namespace stator::cli
