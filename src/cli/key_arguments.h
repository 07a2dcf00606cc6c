// SPDX-License-Identifier: Apache-2.0
// Keys on the command line: the values of the key attributes in order, typed as the table defines
// them (text, decimal numbers, base64).
#pragma once

#include <string>
#include <vector>

#include "stator/client.h"

namespace stator::cli {

// Errors: kInvalidArgument for a number or base64 that is malformed.
Result<AttributeValue> key_value(const TableDescription& table, const std::string& attribute,
                                 const std::string& text);

// The primary key. Errors: also kInvalidArgument for the wrong number of values.
Result<Item> primary_key(const TableDescription& table, const std::vector<std::string>& values);

// "id (S), at (N)".
std::string key_text(const TableDescription& table, const KeySchema& schema);

}  // namespace stator::cli
