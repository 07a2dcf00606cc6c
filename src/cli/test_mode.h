// SPDX-License-Identifier: Apache-2.0
// Reads the rules of a test mode from a command-line argument.
#pragma once

#include <string>

#include "stator/result.h"

namespace stator::cli {

// The rules in JSON: `given` if it begins with {, otherwise the text of the file that it names.
// Errors: kIo.
Result<std::string> read_test_mode(const std::string& given);

}  // namespace stator::cli
