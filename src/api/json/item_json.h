// SPDX-License-Identifier: Apache-2.0
// Items as DynamoDB JSON ({"pk": {"S": "a"}}) and plain JSON ({"pk": "a"}), for tools.
#pragma once

#include <string>
#include <string_view>

#include "stator/requests.h"
#include "stator/value.h"

namespace stator::wire {

std::string item_to_json(const Item& item);
Result<Item> item_from_json(std::string_view json);
// Reads {"Item": {…}}, a line of an export. Errors: kCorruption if the text is not JSON;
// kSerialization and kValidation if it is not an item.
Result<PutItemRequest> exported_item_from_json(std::string_view json);
// Also reads the condition of a line for a bulk put: ConditionExpression, ExpressionAttributeNames
// and ExpressionAttributeValues.
Result<PutItemRequest> exported_put_from_json(std::string_view json);
std::string item_to_plain_json(const Item& item);  // sets as arrays, binaries in base64
// Objects become maps, and arrays become lists; numbers are exact. Errors: kInvalidArgument if the
// text is not a JSON object.
Result<Item> item_from_plain_json(std::string_view json);

}  // namespace stator::wire
