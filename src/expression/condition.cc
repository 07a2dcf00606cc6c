// SPDX-License-Identifier: Apache-2.0
#include "expression/binder.h"
#include "expression/evaluator.h"
#include "expression/expression.h"
#include "expression/parser.h"
#include "expression/paths.h"

namespace stator {
namespace {

using TopLevel = std::set<std::string, std::less<>>;

void gather(const expression::Operand& operand, TopLevel& names) {
  if (operand.kind == expression::OperandKind::kPath) {
    names.insert(expression::top_level_name(operand.path));
  }
  for (const expression::Operand& part : operand.operands) gather(part, names);
}

void gather(const expression::ConditionNode& node, TopLevel& names) {
  for (const expression::ConditionNode& child : node.children) gather(child, names);
  for (const expression::Operand& operand : node.operands) gather(operand, names);
}

}  // namespace

struct Condition::Impl {
  expression::ConditionNode root;
};

Condition::Condition(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Condition::Condition(Condition&&) noexcept = default;
Condition& Condition::operator=(Condition&&) noexcept = default;
Condition::~Condition() = default;

Result<Condition> Condition::parse(std::string_view text, ConditionRole role,
                                   Placeholders& placeholders, ExpressionLimits limits) {
  const char* parameter =
      role == ConditionRole::kCondition ? "ConditionExpression" : "FilterExpression";
  auto root = expression::parse_condition(text, limits);
  if (!root) return expression::invalid(parameter, root.error());
  if (auto bound = expression::bind(*root, placeholders); !bound) {
    return expression::invalid(parameter, bound.error());
  }
  return Condition(std::make_unique<Impl>(Impl{std::move(*root)}));
}

Condition Condition::of(expression::ConditionNode root) {
  return Condition(std::make_unique<Impl>(Impl{std::move(root)}));
}

bool Condition::matches(const std::optional<ItemView>& item) const {
  return expression::matches(impl_->root, item);
}

std::set<std::string, std::less<>> Condition::attributes() const {
  TopLevel names;
  gather(impl_->root, names);
  return names;
}

std::vector<std::string> Condition::opened_attributes() const {
  std::vector<std::string> names;
  expression::gather_opened(impl_->root, names);
  return names;
}

}  // namespace stator
