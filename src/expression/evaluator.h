// SPDX-License-Identifier: Apache-2.0
// Evaluates bound conditions on items in binary form.
#pragma once

#include <optional>

#include "expression/tree.h"
#include "value/encoded.h"

namespace stator::expression {

// An absent item has no attributes.
bool matches(const ConditionNode& node, const std::optional<ItemView>& item);

// The order of two values of one type among S, N and B: negative, zero, positive.
int compare(ValueView a, ValueView b);

}  // namespace stator::expression
