// SPDX-License-Identifier: Apache-2.0
// A planned statement on its table: the key that it names, the write that it stands for.
//
// Errors: kValidation with the service's text.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "engine/catalog/catalog.h"
#include "engine/items/write_action.h"
#include "partiql/planner.h"

namespace stator {

// The table of a statement; kResourceNotFound.
Result<TablePtr> find_statement_table(const CatalogSnapshot& snapshot, std::string_view name);

// The parts that all must hold.
std::vector<const expression::ConditionNode*> conjuncts(const expression::ConditionNode& node);
// Whether a condition is `attribute` = value, and the value.
const AttributeValue* equal_to(const expression::ConditionNode& node, std::string_view attribute);

struct WantedKey {
  Item key;
  bool nothing_else = false;  // the condition is the key alone
};
// The primary key that a condition demands; absent where it demands less than the whole.
Result<std::optional<WantedKey>> wanted_key(const KeyShape& shape,
                                            const std::optional<expression::ConditionNode>& where);

// INSERT, UPDATE, DELETE, EXISTS. The action has been checked.
Result<WriteAction> statement_action(TablePtr table, partiql::Plan plan,
                                     ReturnValuesOnConditionCheckFailure on_condition_failure);

// What RETURNING shows of a write: the paths that it names, as they are in the item.
std::optional<EncodedItem> returning_item(ReturnValues wanted, const WriteAction& action,
                                          const WriteEffect& effect);

}  // namespace stator
