// SPDX-License-Identifier: Apache-2.0
#include "partiql/planner.h"

#include <set>

#include "api/validation/attribute_check.h"
#include "expression/paths.h"
#include "partiql/conditions.h"
#include "partiql/messages.h"
#include "partiql/parser.h"
#include "partiql/refusal.h"
#include "partiql/values.h"

namespace stator::partiql {
namespace {

// The name of a path's value in the response: the last attribute, then the indexes that follow it.
std::string column_name(const expression::Path& path) {
  std::string name;
  for (const expression::PathStep& step : path) {
    if (const auto* attribute = std::get_if<expression::PathName>(&step)) {
      name = attribute->text;
    } else {
      name += fmt::format("[{}]", std::get<uint32_t>(step));
    }
  }
  return name;
}

Result<void> plan_columns(Plan& plan, const Statement& statement) {
  std::set<std::string> names;
  std::vector<expression::Path> paths;
  for (const Term& column : statement.columns) {
    if (column.kind != TermKind::kPath) {
      return refused(message::kPathComponent, to_string(column.at));
    }
    std::string name = column_name(column.path);
    if (!names.insert(name).second) return refused(message::kDuplicateColumns, name);
    paths.push_back(column.path);
    plan.columns.push_back({.path = column.path, .name = std::move(name)});
  }
  return expression::check_apart(paths);
}

Result<void> plan_order(Plan& plan, const Statement& statement) {
  if (!statement.order.empty() && !statement.where) return refused(message::kOrderWithoutWhere);
  for (const OrderTerm& order : statement.order) {
    if (order.term.kind != TermKind::kPath || order.term.path.size() != 1) {
      const bool is_path = order.term.kind == TermKind::kPath;
      return refused(message::kOrderTerm, is_path ? std::string("PATH") : order.term.text);
    }
    plan.order.push_back({.attribute = order.term.text, .descending = order.descending});
  }
  return {};
}

Result<void> plan_source(Plan& plan, const Statement& statement) {
  if (statement.source.size() > 2) return refused(message::kPathParts);
  plan.table = statement.source[0];
  if (statement.source.size() == 1) return {};
  plan.index = statement.source[1];
  if (plan.kind == StatementKind::kInsert) return refused(message::kOneTable);
  if (plan.kind == StatementKind::kUpdate || plan.kind == StatementKind::kDelete) {
    return refused(message::kWriteOnIndex);
  }
  return {};
}

Result<void> plan_returning(Plan& plan, const Statement& statement) {
  if (!statement.returning) return {};
  const auto [modified, fresh] = *statement.returning;
  if (plan.kind == StatementKind::kDelete && (modified || fresh)) {
    return refused(message::kReturningDelete,
                   fmt::format("{} {}", modified ? "MODIFIED" : "ALL", fresh ? "NEW" : "OLD"));
  }
  if (modified) {
    plan.returning = fresh ? ReturnValues::kUpdatedNew : ReturnValues::kUpdatedOld;
  } else {
    plan.returning = fresh ? ReturnValues::kAllNew : ReturnValues::kAllOld;
  }
  return {};
}

}  // namespace

Result<Plan> plan(std::string_view text, const std::vector<AttributeValue>& parameters) {
  STATOR_ASSIGN_OR_RETURN(const Statement statement, parse(text));
  Plan plan{.kind = statement.kind};
  STATOR_RETURN_IF_ERROR(plan_source(plan, statement));
  STATOR_RETURN_IF_ERROR(plan_columns(plan, statement));
  STATOR_RETURN_IF_ERROR(plan_order(plan, statement));
  STATOR_RETURN_IF_ERROR(plan_returning(plan, statement));
  if (statement.parameters > parameters.size()) return refused(message::kParameterCount);
  for (const AttributeValue& parameter : parameters) STATOR_RETURN_IF_ERROR(check_value(parameter));
  if (statement.item) {
    STATOR_ASSIGN_OR_RETURN(plan.item, item_of(*statement.item, parameters));
  }
  STATOR_ASSIGN_OR_RETURN(plan.update, update_of(statement.assignments, parameters));
  if (statement.where) {
    STATOR_ASSIGN_OR_RETURN(plan.where, condition_of(*statement.where, parameters));
  }
  return plan;
}

}  // namespace stator::partiql
