// SPDX-License-Identifier: Apache-2.0
// What every attribute value must be, whoever made it: sets with elements and no duplicates,
// nesting within bounds, text in UTF-8.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stator/value.h"

namespace stator {

inline constexpr int kValueNestingMax = 32;  // lists and maps around a value

std::string duplicate_strings(const std::vector<std::string>& elements);
std::string duplicate_binaries(const std::vector<std::string>& base64_elements);

// kValidation for text that is no UTF-8, such as no request in JSON can hold.
Result<void> check_text(std::string_view text);
// kValidation with one of the texts above.
Result<void> check_value(const AttributeValue& value);
Result<void> check_attributes(const Item& item);

}  // namespace stator
