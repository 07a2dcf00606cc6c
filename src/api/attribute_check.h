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

inline constexpr const char* kNestedTooDeeply =
    "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels "
    "beyond supported limit";
inline constexpr const char* kEmptyValue =
    "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes";
inline constexpr const char* kFalseNull =
    "One or more parameter values were invalid: Null attribute value types must have the value of "
    "true";
inline constexpr const char* kEmptyStringSet =
    "One or more parameter values were invalid: An string set  may not be empty";
inline constexpr const char* kEmptyNumberSet =
    "One or more parameter values were invalid: An number set  may not be empty";
inline constexpr const char* kEmptyBinarySet =
    "One or more parameter values were invalid: Binary sets should not be empty";
inline constexpr const char* kDuplicateNumbers = "Input collection contains duplicates";
std::string duplicate_strings(const std::vector<std::string>& elements);
std::string duplicate_binaries(const std::vector<std::string>& base64_elements);

// kValidation for text that is no UTF-8, such as no request in JSON can hold.
Result<void> check_text(std::string_view text);
// kValidation with one of the texts above.
Result<void> check_value(const AttributeValue& value);
Result<void> check_attributes(const Item& item);

}  // namespace stator
