// SPDX-License-Identifier: Apache-2.0
// Plan: a statement with its parameters as bound conditions, updates and items. Planning does not
// access tables.
//
// Errors: kValidation with DynamoDB's message.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "expression/expression.h"
#include "expression/tree.h"
#include "partiql/tree.h"
#include "stator/requests.h"

namespace stator::partiql {

struct OrderKey {
  std::string attribute;
  bool descending = false;
};

struct Plan {
  StatementKind kind = StatementKind::kSelect;
  std::string table;  // as written: a name or an ARN
  std::optional<std::string> index = {};
  std::vector<expression::ProjectionColumn> columns = {};  // none: whole items
  std::optional<expression::ConditionNode> where = {};
  std::vector<OrderKey> order = {};
  Item item = {};                      // INSERT
  expression::UpdateTree update = {};  // UPDATE
  std::optional<ReturnValues> returning = {};

  bool reads() const { return kind == StatementKind::kSelect; }
};

Result<Plan> plan(std::string_view statement, const std::vector<AttributeValue>& parameters);

}  // namespace stator::partiql
