// SPDX-License-Identifier: Apache-2.0
#include "engine/query/statement_plan.h"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/errors/messages.h"
#include "engine/items/key_checks.h"
#include "engine/query/statement_actions.h"
#include "expression/paths.h"

namespace stator {
namespace {

using expression::Comparator;
using expression::ConditionKind;
using expression::ConditionNode;
using expression::Operand;
using expression::OperandKind;
using Conjuncts = std::vector<const ConditionNode*>;
using KeyRangeCondition = KeyCondition::Range;

constexpr std::size_t kPartitionsMax = 1'000;  // more than the text of one statement can name

Failure refused(std::string text) {
  return fail(Code::kValidation, std::move(text));
}

// ---- Partitions

// The values to which =, IN or an OR of these limits `attribute`. Empty: no limit.
std::vector<const AttributeValue*> listed_values(const ConditionNode& node,
                                                 std::string_view attribute) {
  if (const AttributeValue* value = equal_to(node, attribute)) return {value};
  std::vector<const AttributeValue*> values;
  if (node.kind == ConditionKind::kIn && is_attribute(node.operands[0], attribute)) {
    for (std::size_t i = 1; i < node.operands.size(); ++i) {
      if (node.operands[i].kind != OperandKind::kValue) return {};
      values.push_back(&node.operands[i].value);
    }
  } else if (node.kind == ConditionKind::kOr) {
    for (const ConditionNode& child : node.children) {
      const auto more = listed_values(child, attribute);
      if (more.empty()) return {};
      values.insert(values.end(), more.begin(), more.end());
    }
  }
  return values;
}

// The values from the first condition that limits the attribute.
std::vector<const AttributeValue*> first_listed(const Conjuncts& parts,
                                                std::string_view attribute) {
  std::vector<const AttributeValue*> values;
  for (const ConditionNode* part : parts) {
    if (values.empty()) values = listed_values(*part, attribute);
  }
  return values;
}

// The operands of an OR. Each selects its own range.
std::vector<const ConditionNode*> branches_of(const ConditionNode& where) {
  if (where.kind != ConditionKind::kOr) return {&where};
  std::vector<const ConditionNode*> branches;
  branches.reserve(where.children.size());
  for (const ConditionNode& child : where.children) branches.push_back(&child);
  return branches;
}

// The partition keys that the conditions permit. Empty: all.
Result<std::vector<Item>> partitions_of(const KeyShape& shape, const Conjuncts& parts) {
  std::vector<Item> keys{{}};
  for (const AttributeDefinition& attribute : shape.hash) {
    const auto values = first_listed(parts, attribute.name);
    if (values.empty() || keys.size() * values.size() > kPartitionsMax) return std::vector<Item>();
    std::vector<Item> longer;
    for (const Item& key : keys) {
      for (const AttributeValue* value : values) {
        if (value->type() != attribute_type(attribute.type)) {
          return refused(messages::statement_key_type(attribute.name));
        }
        longer.emplace_back(key).emplace(attribute.name, *value);
      }
    }
    keys = std::move(longer);
  }
  for (const Item& key : keys) STATOR_RETURN_IF_ERROR(check_no_empty_key(shape, key));
  return keys;
}

// ---- Sort keys

// The range of a sort key attribute that a condition selects. Absent if it does not select a range.
std::optional<KeyRangeCondition> range_condition(const ConditionNode& node,
                                                 std::string_view attribute) {
  const bool compares = node.kind == ConditionKind::kCompare;
  if (!compares && node.kind != ConditionKind::kBetween &&
      node.kind != ConditionKind::kBeginsWith) {
    return std::nullopt;
  }
  const bool reversed = compares && is_attribute(node.operands[1], attribute);
  if (!is_attribute(node.operands[reversed ? 1 : 0], attribute)) return std::nullopt;
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    if (i != (reversed ? 1U : 0U) && node.operands[i].kind != OperandKind::kValue) {
      return std::nullopt;
    }
  }
  KeyRangeCondition range;
  range.operand = node.operands[reversed ? 0 : 1].value;
  if (compares) {
    const auto op = KeyCondition::operator_of(node.comparator, reversed);
    if (!op) return std::nullopt;
    range.op = *op;
  } else if (node.kind == ConditionKind::kBetween) {
    range.op = KeyCondition::Operator::kBetween;
    range.upper = node.operands[2].value;
  } else {
    range.op = KeyCondition::Operator::kBeginsWith;
  }
  return range;
}

Result<void> check_range(const KeyRangeCondition& range, const AttributeDefinition& attribute) {
  const AttributeType type = attribute_type(attribute.type);
  const bool between = range.op == KeyCondition::Operator::kBetween;
  const bool text_only = range.op == KeyCondition::Operator::kBeginsWith;
  if (range.operand.type() != type || (between && range.upper.type() != type) ||
      (text_only && type == AttributeType::kN)) {
    return refused(messages::statement_key_type(attribute.name));
  }
  return {};
}

// Compares ends of ranges. Empty: the range has no end.
bool ends_before(const std::string& a, const std::string& b) {
  if (a.empty()) return false;
  return b.empty() || a < b;
}

struct Branch {
  KeyRange range;
  bool narrowed = false;  // by a condition on the sort key
};

Result<Branch> branch_within(const KeyShape& shape, std::string prefix, const Conjuncts& parts) {
  Branch branch{.range = {.begin = prefix, .end = prefix_end(prefix)}};
  for (const AttributeDefinition& attribute : shape.range) {
    std::optional<std::string> equal;
    for (const ConditionNode* part : parts) {
      const auto condition = range_condition(*part, attribute.name);
      if (!condition) continue;
      STATOR_RETURN_IF_ERROR(check_range(*condition, attribute));
      const KeyRange range = range_within(prefix, *condition);
      branch.range.begin = std::max(branch.range.begin, range.begin);
      if (ends_before(range.end, branch.range.end)) branch.range.end = range.end;
      branch.narrowed = true;
      if (condition->op == KeyCondition::Operator::kEqual) {
        equal = prefix;
        append_key_component(*equal, condition->operand);
      }
    }
    if (!equal) break;
    prefix = std::move(*equal);
  }
  return branch;
}

// Reports whether a condition on a sort key does not select a range: NOT or <>.
bool asks_loosely(const KeyShape& shape, const ConditionNode& node, bool negated) {
  const bool here =
      negated || (node.kind == ConditionKind::kCompare && node.comparator == Comparator::kNotEqual);
  for (const Operand& operand : node.operands) {
    for (const AttributeDefinition& attribute : shape.range) {
      if (here && is_attribute(operand, attribute.name)) return true;
    }
  }
  return std::ranges::any_of(node.children, [&](const ConditionNode& child) {
    return asks_loosely(shape, child, negated || node.kind == ConditionKind::kNot);
  });
}

// ---- Whole condition

struct Partition {
  std::string prefix;
  Item hash;
  std::vector<Branch> branches;
  bool loose = false;
};

bool overlap(const KeyRange& a, const KeyRange& b) {
  return a.begin < b.end && b.begin < a.end;
}

Result<void> check_overlap(const Partition& partition) {
  if (partition.loose) return {};
  for (std::size_t i = 0; i < partition.branches.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const Branch& a = partition.branches[i];
      const Branch& b = partition.branches[j];
      if ((a.narrowed || b.narrowed) && overlap(a.range, b.range)) {
        return refused(messages::kOverlappingBranches);
      }
    }
  }
  return {};
}

// The partitions that a condition names, in its order. Empty if it can select any partition.
Result<std::vector<Partition>> find_partitions(const RangePlan& plan, const ConditionNode& where) {
  const KeyShape& shape = plan.shape();
  std::vector<Partition> partitions;
  std::map<std::string, std::size_t> places;
  for (const ConditionNode* node : branches_of(where)) {
    const Conjuncts parts = conjuncts(*node);
    STATOR_ASSIGN_OR_RETURN(const std::vector<Item> keys, partitions_of(shape, parts));
    if (keys.empty()) return std::vector<Partition>();
    const bool loose = asks_loosely(shape, *node, false);
    for (const Item& key : keys) {
      std::string components;
      for (const AttributeDefinition& attribute : shape.hash) {
        append_key_component(components, key.find(attribute.name)->second);
      }
      std::string prefix = partition_key(plan.table->secret(), shape.space, components);
      const auto [place, is_new] = places.emplace(prefix, partitions.size());
      if (is_new) partitions.push_back({.prefix = prefix, .hash = key});
      Partition& partition = partitions[place->second];
      STATOR_ASSIGN_OR_RETURN(Branch branch, branch_within(shape, std::move(prefix), parts));
      partition.branches.push_back(std::move(branch));
      partition.loose = partition.loose || loose;
    }
    if (partitions.size() > kPartitionsMax) return std::vector<Partition>();
  }
  return partitions;
}

// The smallest range that contains the ranges of all branches.
KeyRange hull(const Partition& partition) {
  KeyRange range = partition.branches.front().range;
  for (const Branch& branch : partition.branches) {
    range.begin = std::min(range.begin, branch.range.begin);
    range.end = std::max(range.end, branch.range.end);
  }
  return range;
}

// ---- ORDER BY

Result<void> plan_order(RangePlan& plan, const partiql::Plan& statement,
                        std::vector<Partition>& partitions) {
  if (statement.order.empty()) return {};
  if (partitions.empty()) return refused(messages::kOrderWithoutKey);
  const KeyShape& shape = plan.shape();
  bool sorted = false;
  for (const partiql::OrderKey& order : statement.order) {
    const bool is_hash = std::ranges::find(shape.hash, order.attribute,
                                           &AttributeDefinition::name) != shape.hash.end();
    const bool is_range = std::ranges::find(shape.range, order.attribute,
                                            &AttributeDefinition::name) != shape.range.end();
    if (!is_hash && !is_range) return refused(messages::statement_order(order.attribute));
    if (is_range || !sorted) {
      plan.direction = order.descending ? Direction::kBackward : Direction::kForward;
    }
    sorted = sorted || is_range;
    if (!is_hash) continue;
    const auto value_of = [&](const Partition& partition) {
      std::string bytes;
      append_key_component(bytes, partition.hash.find(order.attribute)->second);
      return bytes;
    };
    std::vector<std::pair<std::string, std::size_t>> places;
    places.reserve(partitions.size());
    for (std::size_t i = 0; i < partitions.size(); ++i) {
      places.emplace_back(value_of(partitions[i]), i);
    }
    std::ranges::sort(places, [&](const auto& a, const auto& b) {
      if (a.first == b.first) return a.second < b.second;
      return order.descending ? b.first < a.first : a.first < b.first;
    });
    std::vector<Partition> sorted_partitions;
    sorted_partitions.reserve(partitions.size());
    for (const auto& [value, place] : places) {
      sorted_partitions.push_back(std::move(partitions[place]));
    }
    partitions = std::move(sorted_partitions);
  }
  return {};
}

// ---- Indexes and projections

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

Result<void> plan_projection(RangePlan& plan, const partiql::Plan& statement) {
  if (statement.columns.empty()) return {};
  plan.projection = ProjectionExpression::of_columns(statement.columns);
  STATOR_RETURN_IF_ERROR(check_keys_unopened(*plan.table, plan.projection->opened_attributes()));
  if (plan.index == nullptr) return {};
  std::vector<std::string> missing;
  for (const expression::ProjectionColumn& column : statement.columns) {
    const std::string& name = expression::top_level_name(column.path);
    if (!plan.index->projects(name)) missing.push_back(name);
  }
  if (missing.empty()) return {};
  plan.fetches_items = plan.index->local;
  if (plan.index->local) return {};
  return refused(messages::not_projected(plan.index->definition.name, listed(missing)));
}

// If an index is read by key, it must project all attributes of the filter.
Result<void> check_filter(const RangePlan& plan) {
  if (plan.index == nullptr) return {};
  std::vector<std::string> missing;
  for (const std::string& name : plan.filter->attributes()) {
    if (!plan.index->projects(name)) missing.push_back(name);
  }
  if (missing.empty()) return {};
  return refused(messages::filter_not_projected(plan.index->definition.name, listed(missing)));
}

// Resumes after the row that ended the previous page.
Result<void> resume(RangePlan& plan, std::vector<RangePlan::Part>& parts, const Item& start_key) {
  auto row = start_row(plan, start_key);
  if (!row) return refused(messages::kInvalidNextToken);
  const auto found = std::ranges::find_if(parts, [&](const RangePlan::Part& part) {
    return *row >= part.range.begin && (part.range.end.empty() || *row < part.range.end);
  });
  if (found == parts.end()) return refused(messages::kInvalidNextToken);
  parts.erase(parts.begin(), found);
  if (plan.direction == Direction::kForward) {
    parts.front().range.begin = std::move(*row) + '\0';
  } else {
    parts.front().range.end = std::move(*row);
  }
  return {};
}

}  // namespace

std::optional<std::vector<const AttributeValue*>> partitions_named(const ConditionNode& where,
                                                                   std::string_view attribute) {
  std::vector<const AttributeValue*> all;
  for (const ConditionNode* branch : branches_of(where)) {
    const auto values = first_listed(conjuncts(*branch), attribute);
    all.insert(all.end(), values.begin(), values.end());
    if (values.empty() || all.size() > kPartitionsMax) return std::nullopt;
  }
  return all;
}

Result<void> check_statement_index(const Index* index) {
  if (index == nullptr || (index->key.hash.size() <= 1 && index->key.range.size() <= 1)) return {};
  return refused(messages::kMultiAttributeIndex);
}

Result<RangePlan> plan_select(const Table& table, partiql::Plan statement,
                              const SelectOptions& options) {
  RangePlan plan{.table = &table};
  if (statement.index) {
    plan.index = table.index(*statement.index);
    if (table.vector_index(*statement.index) != nullptr) return refused(messages::kScanOfVectors);
    if (plan.index == nullptr) return refused(messages::kNoSuchStatementIndex);
    STATOR_RETURN_IF_ERROR(check_statement_index(plan.index));
    if (options.consistent_read && !plan.index->local) {
      return refused(messages::kConsistentStatementIndex);
    }
  }
  plan.consistent = options.consistent_read;
  if (options.limit) plan.limit = static_cast<std::size_t>(std::max<int64_t>(1, *options.limit));
  STATOR_RETURN_IF_ERROR(plan_projection(plan, statement));

  std::vector<Partition> partitions;
  if (statement.where) {
    STATOR_ASSIGN_OR_RETURN(partitions, find_partitions(plan, *statement.where));
    for (const Partition& partition : partitions) STATOR_RETURN_IF_ERROR(check_overlap(partition));
  }
  STATOR_RETURN_IF_ERROR(plan_order(plan, statement, partitions));
  std::vector<RangePlan::Part> parts;
  parts.reserve(partitions.size());
  for (Partition& partition : partitions) {
    parts.push_back({.range = hull(partition), .hash = std::move(partition.hash)});
  }
  if (statement.where) {
    const bool branches = statement.where->kind == ConditionKind::kOr;
    plan.filter = Condition::of(std::move(*statement.where));
    STATOR_RETURN_IF_ERROR(check_keys_unopened(table, plan.filter->opened_attributes()));
    if (!parts.empty() && !branches) STATOR_RETURN_IF_ERROR(check_filter(plan));
  }
  if (parts.empty()) parts.push_back({.range = space_range(plan.shape().space), .hash = {}});
  if (options.start_key) STATOR_RETURN_IF_ERROR(resume(plan, parts, *options.start_key));
  plan.range = std::move(parts.front().range);
  plan.hash = std::move(parts.front().hash);
  plan.more.assign(std::make_move_iterator(parts.begin() + 1),
                   std::make_move_iterator(parts.end()));
  return plan;
}

}  // namespace stator
