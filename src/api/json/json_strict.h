// SPDX-License-Identifier: Apache-2.0
// Converts a JSON object to attribute values: strings become S, numbers N, true and false BOOL,
// null NULL, arrays L, objects M. Numbers with a fraction or an exponent are read as double.
#pragma once

#include <string_view>

#include "stator/value.h"

namespace stator::wire {

// Errors: kInvalidArgument with a one-line message if the text is not one JSON object, a member is
// repeated, or the nesting has more than 32 levels.
Result<Item> read_strict_object(std::string_view json);

}  // namespace stator::wire
