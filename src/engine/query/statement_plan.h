// SPDX-License-Identifier: Apache-2.0
// A SELECT as ranges of rows: the partitions that its WHERE names, or everything.
//
// The whole WHERE filters what is read, so the ranges only decide what is examined, and in which
// order. Branches of an OR that all name partitions are read partition by partition.
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

// The values of the partition key `attribute` whose partitions a SELECT with this WHERE reads,;
// absent: it may read everything. The plan of plan_select() follows the same rules.
std::optional<std::vector<const AttributeValue*>> partitions_named(
    const expression::ConditionNode& where, std::string_view attribute);

struct SelectOptions {
  std::optional<int64_t> limit = {};
  bool consistent_read = false;
  std::optional<Item> start_key = {};  // where the page before ended
};

// kValidation for an index whose key has several HASH or several RANGE attributes: no statement may
// read it. Null is no index.
Result<void> check_statement_index(const Index* index);

// kValidation with the service's text. The result borrows the table alone.
Result<RangePlan> plan_select(const Table& table, partiql::Plan plan, const SelectOptions& options);

}  // namespace stator
