// SPDX-License-Identifier: Apache-2.0
#include "cli/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "cli/key_arguments.h"
#include "cli/statements.h"
#include "cli/table_access.h"
#include "expression/paths.h"
#include "partiql/planner.h"

namespace stator::cli {
namespace {

using expression::Comparator;
using expression::ConditionKind;
using expression::ConditionNode;
using expression::Operand;
using expression::OperandKind;

bool is_attribute(const Operand& operand, std::string_view name) {
  return operand.kind == OperandKind::kPath && operand.path.size() == 1 &&
         expression::top_level_name(operand.path) == name;
}

bool is_value(const Operand& operand) {
  return operand.kind == OperandKind::kValue;
}

// Whether items fulfill `node` only if `attribute` is one of the values that it lists.
bool lists_values(const ConditionNode& node, std::string_view attribute) {
  const auto child_lists = [&](const ConditionNode& child) {
    return lists_values(child, attribute);
  };
  switch (node.kind) {
    case ConditionKind::kAnd:
      return std::ranges::any_of(node.children, child_lists);
    case ConditionKind::kOr:
      return std::ranges::all_of(node.children, child_lists);
    case ConditionKind::kCompare:
      return node.comparator == Comparator::kEqual &&
             ((is_attribute(node.operands[0], attribute) && is_value(node.operands[1])) ||
              (is_attribute(node.operands[1], attribute) && is_value(node.operands[0])));
    case ConditionKind::kIn:
      return is_attribute(node.operands[0], attribute) &&
             std::all_of(node.operands.begin() + 1, node.operands.end(), is_value);
    default:
      return false;
  }
}

std::string access_text(const partiql::Plan& plan, const TableDescription& table,
                        const KeySchema& schema) {
  const std::string source = plan.index
                                 ? fmt::format("index {} of table {}", *plan.index, table.table)
                                 : fmt::format("table {}", table.table);
  if (!plan.reads()) return fmt::format("writes one item of {} by its key", source);
  const bool has_partition =
      plan.where && std::ranges::all_of(schema, [&](const KeySchemaElement& element) {
        return element.type != KeyType::kHash || lists_values(*plan.where, element.name);
      });
  if (!has_partition) {
    return fmt::format("Scan: reads all of {}, since WHERE does not list values of {}", source,
                       schema.front().name);
  }
  return fmt::format("Query: reads partitions of {} by {}", source, key_text(table, schema));
}

}  // namespace

Result<std::vector<std::pair<std::string, std::string>>> explain(Client& client,
                                                                 std::string_view statement) {
  STATOR_TRY(const partiql::Plan plan, partiql::plan(statement, {}));
  STATOR_TRY(const DescribeTableResult described, client.describe_table({.table = plan.table}));
  STATOR_TRY(const KeySchema schema, key_schema_of(described.table, plan.index.value_or("")));
  std::vector<std::pair<std::string, std::string>> lines = {
      {"plan", access_text(plan, described.table, schema)}};
  if (!plan.reads()) return lines;
  const auto start = std::chrono::steady_clock::now();
  ExecuteStatementRequest request{.statement = std::string(statement),
                                  .return_capacity = ReturnConsumedCapacity::kTotal};
  std::size_t items = 0;
  double units = 0;
  int pages = 0;
  STATOR_CHECK_OK(run_statement(client, std::move(request), [&](ExecuteStatementResult& page) {
    items += page.items.size();
    if (page.capacity) units += page.capacity->total.units;
    ++pages;
  }));
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - start);
  lines.emplace_back("items",
                     fmt::format("{} in {} {}", items, pages, pages == 1 ? "page" : "pages"));
  lines.emplace_back("capacity", fmt::format("{} read units", units));
  lines.emplace_back("time", fmt::format("{} ms", ms.count()));
  return lines;
}

}  // namespace stator::cli
