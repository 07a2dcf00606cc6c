// SPDX-License-Identifier: Apache-2.0
// WHERE as a condition, SET and REMOVE as an update: the trees that the expression evaluator knows.
#pragma once

#include <vector>

#include "expression/tree.h"
#include "partiql/tree.h"
#include "stator/value.h"

namespace stator::partiql {

Result<expression::ConditionNode> condition_of(const Term& where,
                                               const std::vector<AttributeValue>& parameters);

Result<expression::UpdateTree> update_of(const std::vector<Assignment>& assignments,
                                         const std::vector<AttributeValue>& parameters);

}  // namespace stator::partiql
