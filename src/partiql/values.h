// SPDX-License-Identifier: Apache-2.0
// Literals and parameters as attribute values.
#pragma once

#include <string>
#include <vector>

#include "partiql/tree.h"
#include "stator/value.h"

namespace stator::partiql {

// Whether a term is a value by itself: a literal or a parameter.
bool is_value(const Term& term);

// Errors: kValidation if the term is not an attribute value.
Result<AttributeValue> value_of(const Term& term, const std::vector<AttributeValue>& parameters);

// INSERT's item: {'name': value, …}
Result<Item> item_of(const Term& term, const std::vector<AttributeValue>& parameters);

}  // namespace stator::partiql
