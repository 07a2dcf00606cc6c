// SPDX-License-Identifier: Apache-2.0
// The rules of a test mode, as an argument.
#pragma once

#include <string>

#include "stator/result.h"

namespace stator::cli {

// The rules in JSON: `given` itself, or the file that it names. Errors: kIo.
Result<std::string> read_test_mode(const std::string& given);

}  // namespace stator::cli
