// SPDX-License-Identifier: Apache-2.0
// Binds the placeholders of a tree and makes the checks that need them: reserved words, operand
// types, overlapping paths.
//
// Errors: kValidation with DynamoDB's message, without the leading parameter name.
#pragma once

#include "expression/expression.h"
#include "expression/tree.h"

namespace stator::expression {

Result<void> bind(ConditionNode& node, Placeholders& placeholders);
Result<void> bind(UpdateTree& tree, Placeholders& placeholders);
Result<void> bind(ProjectionTree& paths, Placeholders& placeholders);

// Only the checks of bind(), for trees without placeholders.
Result<void> check(const ConditionNode& node);
Result<void> check(const UpdateTree& tree);

bool is_reserved_word(std::string_view word);  // in any case

// Prepends the parameter's name to an error: "Invalid FilterExpression: …".
Failure invalid(std::string_view parameter, Error error);

}  // namespace stator::expression
