// SPDX-License-Identifier: Apache-2.0
// The limits of an item: its size and its nesting.
#pragma once

#include <cstddef>

#include "stator/result.h"
#include "value/encoded.h"

namespace stator {

inline constexpr std::size_t kItemBytesMax = 400UL * 1024;
inline constexpr int kNestingMax = 31;  // lists and maps around a value

// Checks the result of an update. `size_bytes` is the size of `item` as DynamoDB counts it.
// Errors: kValidation with DynamoDB's message.
Result<void> check_updated_limits(ItemView item, std::size_t size_bytes);

}  // namespace stator
