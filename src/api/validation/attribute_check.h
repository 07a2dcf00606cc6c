// SPDX-License-Identifier: Apache-2.0
// Checks of attribute values: nonempty sets without duplicates, bounded nesting, UTF-8 text.
// Checks of key attributes, which need the table: engine/items/key_checks.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/model/layer.h"
#include "stator/value.h"

namespace stator {

inline constexpr int kValueNestingMax = 31;  // lists and maps around a value

// The messages about sets with duplicates; elements as in the request.
std::string duplicate_strings(std::vector<std::string> elements, Layer layer);
std::string duplicate_binaries(std::vector<Binary> elements, Layer layer);
std::string duplicate_numbers(Layer layer);

// kValidation for names of attributes that are empty or longer than 65,535 bytes.
Result<void> check_attribute_name(std::string_view name);
// kValidation for text that is not UTF-8, which only in-process requests can contain.
Result<void> check_text(std::string_view text);
// kValidation with one of the messages above.
Result<void> check_value(const AttributeValue& value, Layer layer = Layer::kOlder);
Result<void> check_attributes(const Item& item, Layer layer = Layer::kOlder);

}  // namespace stator
