// SPDX-License-Identifier: Apache-2.0
// Statements in PartiQL.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-iam.html
#include <string_view>

#include "access/gather.h"
#include "api/model/enums.h"
#include "api/model/table_name.h"
#include "engine/query/statement_plan.h"
#include "partiql/planner.h"

namespace stator::access {
namespace {

using partiql::StatementKind;
using policy::Key;

std::string_view action_of(StatementKind kind) {
  switch (kind) {
    case StatementKind::kSelect:
    case StatementKind::kExists:
      return "PartiQLSelect";
    case StatementKind::kInsert:
      return "PartiQLInsert";
    case StatementKind::kUpdate:
      return "PartiQLUpdate";
    case StatementKind::kDelete:
      return "PartiQLDelete";
  }
  return "";
}

void add_plan_attributes(Need& need, const partiql::Plan& plan) {
  add_attributes(need, plan.item);
  add_attributes(need, plan.update);
  if (plan.where) add_attributes(need, *plan.where);
  for (const expression::ProjectionColumn& column : plan.columns) add_attributes(need, column.path);
  for (const partiql::OrderKey& order : plan.order) add_attribute(need, order.attribute);
}

Need& add_plan_once(Needs& needs, const partiql::Plan& plan, ReturnConsumedCapacity capacity,
                    ReturnValuesOnConditionCheckFailure on_failure, std::string_view enclosing) {
  const std::string_view table = table_name_in(plan.table);
  Need& need = needs.on_index(action_of(plan.kind), table, plan.index);
  policy::Context& context = need.context;
  context.return_consumed_capacity = wire::enum_name(capacity);
  if (!enclosing.empty()) context.enclosing_operation = enclosing;
  const bool selects = plan.kind == StatementKind::kSelect;
  if (selects) {
    context.select = wire::enum_name(!plan.columns.empty() ? Select::kSpecificAttributes
                                     : plan.index          ? Select::kAllProjectedAttributes
                                                           : Select::kAllAttributes);
  } else if (on_failure == ReturnValuesOnConditionCheckFailure::kAllOld) {
    context.return_values = wire::enum_name(ReturnValues::kAllOld);
  } else if (plan.kind == StatementKind::kUpdate || plan.kind == StatementKind::kDelete) {
    context.return_values = wire::enum_name(plan.returning.value_or(ReturnValues::kNone));
  }
  if (needs.wants(Key::kAttributes)) add_plan_attributes(need, plan);
  if (!needs.wants(Key::kLeadingKeys) && !needs.wants(Key::kFullTableScan)) return need;
  const auto partition_key = needs.view().partition_key(table, plan.index);
  add_leading_key(need, partition_key, plan.item);
  if (!selects) {
    if (partition_key && plan.where) add_demanded_keys(need, *partition_key, *plan.where);
    return need;
  }
  const auto keys =
      partition_key && plan.where ? partitions_named(*plan.where, *partition_key) : std::nullopt;
  context.full_table_scan = keys ? "false" : "true";
  if (!keys) return need;
  for (const AttributeValue* key : *keys) add_leading_key(need, *key);
  return need;
}

// Adds one need, or two if a write can return the old item of a failed condition or other values.
void add_plan(Needs& needs, const partiql::Plan& plan, ReturnConsumedCapacity capacity,
              ReturnValuesOnConditionCheckFailure on_failure, std::string_view enclosing) {
  const Need& need = add_plan_once(needs, plan, capacity, on_failure, enclosing);
  const bool writes = plan.kind == StatementKind::kUpdate || plan.kind == StatementKind::kDelete;
  if (!writes || on_failure != ReturnValuesOnConditionCheckFailure::kAllOld || !plan.returning) {
    return;
  }
  needs.repeat(need).context.return_values = wire::enum_name(*plan.returning);
}

}  // namespace

Result<void> gather(Needs& needs, const ExecuteStatementRequest& request) {
  STATOR_ASSIGN_OR_RETURN(
      const partiql::Plan plan,
      partiql::plan(request.statement, request.parameters.value_or(std::vector<AttributeValue>())));
  add_plan(needs, plan, request.return_capacity, request.on_condition_failure, "");
  return {};
}

// Skips an invalid statement: the engine uses the same planner, and only that statement fails.
Result<void> gather(Needs& needs, const BatchExecuteStatementRequest& request) {
  for (const BatchStatement& statement : request.statements) {
    const auto plan = partiql::plan(statement.statement,
                                    statement.parameters.value_or(std::vector<AttributeValue>()));
    if (!plan) continue;
    add_plan(needs, *plan, request.return_capacity, statement.on_condition_failure, "");
  }
  return {};
}

Result<void> gather(Needs& needs, const ExecuteTransactionRequest& request) {
  for (const ParameterizedStatement& statement : request.statements) {
    STATOR_ASSIGN_OR_RETURN(const partiql::Plan plan,
                            partiql::plan(statement.statement, statement.parameters.value_or(
                                                                   std::vector<AttributeValue>())));
    add_plan(needs, plan, request.return_capacity, statement.on_condition_failure,
             "ExecuteTransaction");
  }
  return {};
}

}  // namespace stator::access
