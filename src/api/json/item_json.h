// SPDX-License-Identifier: Apache-2.0
// Items alone, for tools: DynamoDB JSON ({"pk": {"S": "a"}}) and plain JSON ({"pk": "a"}).
#pragma once

#include <string>
#include <string_view>

#include "stator/value.h"

namespace stator::wire {

std::string item_to_json(const Item& item);
Result<Item> item_from_json(std::string_view json);
// {"Item": {…}}, a line of an export. kCorruption where the text is no JSON, kSerialization and
// kValidation where it is no item.
Result<Item> exported_item_from_json(std::string_view json);
std::string item_to_plain_json(const Item& item);  // sets as arrays, binaries in base64
// Objects as maps, arrays as lists; numbers exact. kInvalidArgument where the text is no such
// object.
Result<Item> item_from_plain_json(std::string_view json);

}  // namespace stator::wire
