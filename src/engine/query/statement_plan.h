// SPDX-License-Identifier: Apache-2.0
// Plans a SELECT as ranges of rows: the partitions that its WHERE clause names, or the whole space.
//
// The whole WHERE clause filters the rows, so the ranges determine only which rows are examined,
// and in which order. If every branch of an OR names a partition, the partitions are read in turn.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "engine/query/range_plan.h"
#include "expression/paths.h"
#include "partiql/planner.h"

namespace stator {

// Whether `operand` is the top-level attribute `name`.
inline bool is_attribute(const expression::Operand& operand, std::string_view name) {
  return operand.kind == expression::OperandKind::kPath && operand.path.size() == 1 &&
         expression::top_level_name(operand.path) == name;
}

// Returns the values of the partition key `attribute` whose partitions a SELECT with this WHERE
// clause reads; absent if it can read everything. plan_select() follows the same rules.
std::optional<std::vector<const AttributeValue*>> partitions_named(
    const expression::ConditionNode& where, std::string_view attribute);

struct SelectOptions {
  std::optional<int64_t> limit = {};
  bool consistent_read = false;
  std::optional<Item> start_key = {};  // the last key of the previous page
};

// Errors: kValidation for an index with several HASH or several RANGE attributes, which statements
// cannot read. `index` is null if the statement reads the table.
Result<void> check_statement_index(const Index* index);

// The result borrows only the table. Errors: kValidation with DynamoDB's message.
Result<RangePlan> plan_select(const Table& table, partiql::Plan plan, const SelectOptions& options);

}  // namespace stator
