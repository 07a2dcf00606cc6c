// SPDX-License-Identifier: Apache-2.0
// Gives the placeholders of a tree their meaning and checks what syntax alone cannot: reserved
// words, operand types, paths that overlap.
//
// Errors: kValidation with the service's text, without the parameter's name in front.
#pragma once

#include "expression/expression.h"
#include "expression/tree.h"

namespace stator::expression {

Result<void> bind(ConditionNode& node, Placeholders& placeholders);
Result<void> bind(UpdateTree& tree, Placeholders& placeholders);
Result<void> bind(ProjectionTree& paths, Placeholders& placeholders);

// bind()'s checks alone, of trees whose names and values are known from the start.
Result<void> check(const ConditionNode& node);
Result<void> check(const UpdateTree& tree);

bool is_reserved_word(std::string_view word);  // in any case

// Puts the parameter's name in front of a complaint: "Invalid FilterExpression: …".
Failure invalid(std::string_view parameter, Error error);

}  // namespace stator::expression
