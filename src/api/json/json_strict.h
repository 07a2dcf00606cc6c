// SPDX-License-Identifier: Apache-2.0
// Reads any JSON object as a map without losing information: a repeated member is an error, and
// nulls are kept.
#pragma once

#include <string_view>

#include "stator/value.h"

namespace stator::wire {

// Errors: kInvalidArgument with one line, also for more than 32 levels.
Result<Item> read_strict_object(std::string_view json);

}  // namespace stator::wire
