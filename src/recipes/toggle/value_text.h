// SPDX-License-Identifier: Apache-2.0
// Digests of values: equal values have the same digest on every machine and in every version.
#pragma once

#include <string>

#include "stator/value.h"

namespace stator::recipes {

// 32 hexadecimal digits: the first half of an HMAC-SHA256 of the value's type and content.
std::string digest_of(const AttributeValue& value);

}  // namespace stator::recipes
