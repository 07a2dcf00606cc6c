// SPDX-License-Identifier: Apache-2.0
// Translates WHERE into a condition, and SET and REMOVE into an update (expression/tree.h).
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
