// SPDX-License-Identifier: Apache-2.0
// Translates a planned statement into the key that it names or the write that it makes.
//
// Errors: kValidation with DynamoDB's message.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "engine/catalog/catalog.h"
#include "engine/items/write_action.h"
#include "partiql/planner.h"

namespace stator {

// Finds the table of a statement. Errors: kResourceNotFound.
Result<TablePtr> find_statement_table(const CatalogSnapshot& snapshot, std::string_view name);

// The conditions that AND joins.
std::vector<const expression::ConditionNode*> conjuncts(const expression::ConditionNode& node);
// The value, if the condition is `attribute` = value; otherwise null.
const AttributeValue* equal_to(const expression::ConditionNode& node, std::string_view attribute);

struct WantedKey {
  Item key;
  bool nothing_else = false;  // the condition contains only the key
};
// Returns the primary key that a condition requires; absent if it does not determine the whole key.
Result<std::optional<WantedKey>> wanted_key(const KeyShape& shape,
                                            const std::optional<expression::ConditionNode>& where);

// The write of an INSERT, UPDATE, DELETE or EXISTS, before the checks of its key and its item.
struct StatementWrite {
  WriteAction action;
  Item item;  // of an INSERT; the key of the others
};
Result<StatementWrite> statement_write(TablePtr table, partiql::Plan plan,
                                       ReturnValuesOnConditionCheckFailure on_condition_failure);
Result<WriteAction> checked_action(StatementWrite write);
// Both.
Result<WriteAction> statement_action(TablePtr table, partiql::Plan plan,
                                     ReturnValuesOnConditionCheckFailure on_condition_failure);

// Returns the attributes that RETURNING requests.
std::optional<EncodedItem> returning_item(ReturnValues wanted, const WriteAction& action,
                                          const WriteEffect& effect);

}  // namespace stator
