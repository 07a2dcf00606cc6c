// SPDX-License-Identifier: Apache-2.0
// Parses expressions into trees whose names and values are still placeholders.
//
// Errors: kValidation with DynamoDB's message, without the leading parameter name.
#pragma once

#include <string_view>

#include "expression/expression.h"
#include "expression/tree.h"
#include "stator/result.h"

namespace stator::expression {

Result<ConditionNode> parse_condition(std::string_view text, ExpressionLimits limits);
Result<UpdateTree> parse_update(std::string_view text, ExpressionLimits limits);
Result<ProjectionTree> parse_projection(std::string_view text, ExpressionLimits limits);

}  // namespace stator::expression
