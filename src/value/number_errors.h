// SPDX-License-Identifier: Apache-2.0
// DynamoDB's errors about numbers, for other readers than Number::parse(). All are kValidation.
#pragma once

#include <string_view>

#include "stator/result.h"

namespace stator {

// Echoes the text; a very long one is truncated at a UTF-8 character boundary.
Failure not_a_number(std::string_view text);
Failure number_underflow();

}  // namespace stator
