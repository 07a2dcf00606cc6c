// SPDX-License-Identifier: Apache-2.0
#include "expression/binder.h"
#include "expression/expression.h"
#include "expression/messages.h"
#include "expression/parser.h"
#include "expression/paths.h"

namespace stator {
namespace {

using expression::Comparator;
using expression::ConditionKind;
using expression::ConditionNode;
using expression::Operand;
using expression::OperandKind;
using Equalities = std::map<std::string, AttributeValue, std::less<>>;

Result<void> gather(const ConditionNode& node, Equalities& equal) {
  if (node.kind == ConditionKind::kAnd) {
    for (const ConditionNode& child : node.children) {
      STATOR_RETURN_IF_ERROR(gather(child, equal));
    }
    return {};
  }
  const bool is_equality =
      node.kind == ConditionKind::kCompare && node.comparator == Comparator::kEqual;
  if (!is_equality) return fail(Code::kValidation, expression::message::kSearchComparator);
  const bool reversed = node.operands[0].kind == OperandKind::kValue;
  const Operand& path = node.operands[reversed ? 1 : 0];
  const Operand& value = node.operands[reversed ? 0 : 1];
  if (path.kind != OperandKind::kPath || path.path.size() != 1 ||
      value.kind != OperandKind::kValue) {
    return fail(Code::kValidation, expression::message::kSearchComparator);
  }
  const std::string name(expression::top_level_name(path.path));
  if (!equal.emplace(name, value.value).second) {
    return fail(Code::kValidation, expression::message::kSearchRepeated + name);
  }
  return {};
}

}  // namespace

Result<SearchCondition> SearchCondition::parse(std::string_view text, Placeholders& placeholders) {
  constexpr std::string_view kParameter = "SearchConditionExpression";
  auto root = expression::parse_condition(text, ExpressionLimits::kEnforced);
  if (!root) return expression::invalid(kParameter, std::move(root).error());
  if (auto bound = expression::bind(*root, placeholders); !bound) {
    return expression::invalid(kParameter, std::move(bound).error());
  }
  SearchCondition condition;
  if (auto gathered = gather(*root, condition.equal); !gathered) {
    return expression::invalid(kParameter, std::move(gathered).error());
  }
  return condition;
}

}  // namespace stator
