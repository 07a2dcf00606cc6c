// SPDX-License-Identifier: Apache-2.0
// Any JSON object as a map, for documents of which nothing may be lost: a repeated member is an
// error, and a null stays.
#pragma once

#include <string_view>

#include "stator/value.h"

namespace stator::wire {

// kInvalidArgument with one line, also for more than 32 levels.
Result<Item> read_strict_object(std::string_view json);

}  // namespace stator::wire
