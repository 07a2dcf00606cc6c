// SPDX-License-Identifier: Apache-2.0
#include "partiql/conditions.h"

#include <algorithm>
#include <array>
#include <optional>

#include "expression/binder.h"
#include "expression/messages.h"
#include "partiql/messages.h"
#include "partiql/refusal.h"
#include "partiql/values.h"

namespace stator::partiql {
namespace {

using expression::Comparator;
using expression::ConditionKind;
using expression::ConditionNode;
using expression::Operand;
using expression::OperandKind;
using Parameters = std::vector<AttributeValue>;

constexpr std::size_t kInOperandsMax = 100;

Operand path_operand(const Term& term) {
  return {.kind = OperandKind::kPath, .path = term.path};
}

Operand value_operand(AttributeValue value) {
  Operand operand{.kind = OperandKind::kValue, .token = "?", .value = std::move(value)};
  operand.encoded = encode_value(operand.value);
  return operand;
}

struct Function {
  std::string_view name;
  ConditionKind kind;
  std::size_t operands;
};
constexpr auto kFunctions = std::to_array<Function>({
    {"attribute_exists", ConditionKind::kAttributeExists, 1},
    {"attribute_not_exists", ConditionKind::kAttributeNotExists, 1},
    {"attribute_type", ConditionKind::kAttributeType, 2},
    {"begins_with", ConditionKind::kBeginsWith, 2},
    {"contains", ConditionKind::kContains, 2},
});

const Function* function_of(const Term& term) {
  if (term.kind != TermKind::kCall) return nullptr;
  const auto found = std::ranges::find(kFunctions, std::string_view(term.text), &Function::name);
  return found == kFunctions.end() ? nullptr : &*found;
}

Failure wrong_count(const Term& call) {
  return refused(expression::message::kOperandCount, call.text, call.parts.size());
}

std::optional<Comparator> comparator_of(const Term& term) {
  if (term.kind != TermKind::kOperator || term.parts.size() != 2) return std::nullopt;
  for (const Comparator comparator :
       {Comparator::kEqual, Comparator::kNotEqual, Comparator::kLess, Comparator::kLessOrEqual,
        Comparator::kGreater, Comparator::kGreaterOrEqual}) {
    if (term.text == expression::comparator_text(comparator)) return comparator;
  }
  return std::nullopt;
}

// Whether a term is a condition: true or false for an item.
bool decides(const Term& term) {
  switch (term.kind) {
    case TermKind::kIs:
    case TermKind::kBetween:
    case TermKind::kIn:
      return true;
    case TermKind::kOperator:
      return term.text == "and" || term.text == "or" || term.text == "not" || comparator_of(term);
    default:
      return function_of(term) != nullptr;
  }
}

Result<Operand> operand_of(const Term& term, const Parameters& parameters) {
  if (term.kind == TermKind::kPath) return path_operand(term);
  if (is_value(term)) {
    STATOR_ASSIGN_OR_RETURN(AttributeValue value, value_of(term, parameters));
    return value_operand(std::move(value));
  }
  if (term.kind == TermKind::kMissing) return refused(message::kMissingCompared);
  if (term.kind == TermKind::kCall && term.text == "size") {
    if (term.parts.size() != 1) return wrong_count(term);
    STATOR_ASSIGN_OR_RETURN(Operand inner, operand_of(term.parts[0], parameters));
    if (inner.kind == OperandKind::kSize) {
      return refused(expression::message::kOperandType, "size", "N");
    }
    Operand operand{.kind = OperandKind::kSize};
    operand.operands.push_back(std::move(inner));
    return operand;
  }
  if (function_of(term) != nullptr) {
    return refused(expression::message::kFunctionNotAllowed, term.text);
  }
  if (term.kind == TermKind::kCall) {
    return refused(message::kFunction, term.text, to_string(term.at));
  }
  return refused(message::kConditionOperator,
                 term.kind == TermKind::kIs ? std::string("is") : term.text);
}

Result<ConditionNode> node_of(const Term& term, const Parameters& parameters);

ConditionNode negate(ConditionNode node) {
  ConditionNode result{.kind = ConditionKind::kNot};
  result.children.push_back(std::move(node));
  return result;
}

Result<ConditionNode> chain(ConditionKind kind, const Term& term, const Parameters& parameters) {
  ConditionNode node{.kind = kind};
  for (const Term& part : term.parts) {
    const bool unknown = part.kind == TermKind::kCall && function_of(part) == nullptr;
    if (!decides(part) && !unknown) return refused(message::kBooleanOperands);
    STATOR_ASSIGN_OR_RETURN(ConditionNode child, node_of(part, parameters));
    node.children.push_back(std::move(child));
  }
  return node;
}

// attribute_exists(a) = true: a condition compared with its expected value.
Result<ConditionNode> decision(const Term& decides_term, Comparator comparator, const Term& literal,
                               const Parameters& parameters) {
  STATOR_ASSIGN_OR_RETURN(ConditionNode node, node_of(decides_term, parameters));
  const bool wanted = (literal.text == "true") == (comparator == Comparator::kEqual);
  return wanted ? std::move(node) : negate(std::move(node));
}

Result<ConditionNode> comparison(const Term& term, Comparator comparator,
                                 const Parameters& parameters) {
  const Term& left = term.parts[0];
  const Term& right = term.parts[1];
  if (comparator == Comparator::kEqual || comparator == Comparator::kNotEqual) {
    if (decides(left) && right.kind == TermKind::kBoolean) {
      return decision(left, comparator, right, parameters);
    }
    if (decides(right) && left.kind == TermKind::kBoolean) {
      return decision(right, comparator, left, parameters);
    }
  }
  ConditionNode node{.kind = ConditionKind::kCompare, .comparator = comparator};
  for (const Term& part : term.parts) {
    STATOR_ASSIGN_OR_RETURN(Operand operand, operand_of(part, parameters));
    node.operands.push_back(std::move(operand));
  }
  return node;
}

ConditionNode type_test(Operand operand, const char* type) {
  ConditionNode node{.kind = ConditionKind::kAttributeType};
  node.operands.push_back(std::move(operand));
  node.operands.push_back(value_operand(type));
  return node;
}

Result<ConditionNode> is_node(const Term& term, const Parameters& parameters) {
  const Term& subject = term.parts[0];
  if (subject.kind != TermKind::kPath && !is_value(subject)) return refused(message::kIsOperand);
  STATOR_ASSIGN_OR_RETURN(Operand operand, operand_of(subject, parameters));
  ConditionNode node;
  if (term.text == "MISSING") {
    if (operand.kind != OperandKind::kPath) {
      return refused(expression::message::kPathRequired, "attribute_not_exists");
    }
    node.kind = ConditionKind::kAttributeNotExists;
    if (term.negated) node.kind = ConditionKind::kAttributeExists;
    node.operands.push_back(std::move(operand));
    return node;
  }
  struct Type {
    std::string_view name;
    const char* type;
  };
  constexpr auto kTypes = std::to_array<Type>({{"NULL", "NULL"},
                                               {"BOOLEAN", "BOOL"},
                                               {"BLOB", "B"},
                                               {"STRING", "S"},
                                               {"NUMERIC", "N"},
                                               {"STRUCT", "M"},
                                               {"TUPLE", "M"},
                                               {"LIST", "L"}});
  const auto type = std::ranges::find(kTypes, std::string_view(term.text), &Type::name);
  if (type == kTypes.end()) return refused(message::kIsType, term.text, to_string(term.at));
  node = type_test(std::move(operand), type->type);
  return term.negated ? negate(std::move(node)) : std::move(node);
}

Result<ConditionNode> in_node(const Term& term, const Parameters& parameters) {
  const Term& sequence = term.parts[1];
  const bool listed = sequence.kind == TermKind::kList || sequence.kind == TermKind::kBag;
  if (!listed || sequence.parts.empty()) return refused(message::kInOperand);
  if (sequence.parts.size() > kInOperandsMax) {
    return refused(expression::message::kInOperands, sequence.parts.size());
  }
  ConditionNode node{.kind = ConditionKind::kIn};
  STATOR_ASSIGN_OR_RETURN(Operand subject, operand_of(term.parts[0], parameters));
  node.operands.push_back(std::move(subject));
  for (const Term& part : sequence.parts) {
    STATOR_ASSIGN_OR_RETURN(Operand operand, operand_of(part, parameters));
    node.operands.push_back(std::move(operand));
  }
  return term.negated ? negate(std::move(node)) : std::move(node);
}

Result<ConditionNode> between_node(const Term& term, const Parameters& parameters) {
  ConditionNode node{.kind = ConditionKind::kBetween};
  for (const Term& part : term.parts) {
    STATOR_ASSIGN_OR_RETURN(Operand operand, operand_of(part, parameters));
    node.operands.push_back(std::move(operand));
  }
  return term.negated ? negate(std::move(node)) : std::move(node);
}

Result<ConditionNode> call_node(const Term& term, const Parameters& parameters) {
  const Function* function = function_of(term);
  if (function == nullptr) {
    if (term.text == "size") return refused(expression::message::kFunctionNotAllowed, term.text);
    return refused(message::kFunction, term.text, to_string(term.at));
  }
  if (term.parts.size() != function->operands) return wrong_count(term);
  ConditionNode node{.kind = function->kind};
  for (const Term& part : term.parts) {
    STATOR_ASSIGN_OR_RETURN(Operand operand, operand_of(part, parameters));
    if (operand.kind == OperandKind::kSize) {
      return refused(expression::message::kOperandType, term.text, "N");
    }
    node.operands.push_back(std::move(operand));
  }
  return node;
}

Result<ConditionNode> node_of(const Term& term, const Parameters& parameters) {
  switch (term.kind) {
    case TermKind::kIs:
      return is_node(term, parameters);
    case TermKind::kBetween:
      return between_node(term, parameters);
    case TermKind::kIn:
      return in_node(term, parameters);
    case TermKind::kCall:
      return call_node(term, parameters);
    case TermKind::kOperator:
      break;
    default:
      return refused(message::kBooleanWhere);
  }
  if (term.text == "and") return chain(ConditionKind::kAnd, term, parameters);
  if (term.text == "or") return chain(ConditionKind::kOr, term, parameters);
  if (term.text == "not") {
    STATOR_ASSIGN_OR_RETURN(ConditionNode inner, node_of(term.parts[0], parameters));
    return negate(std::move(inner));
  }
  if (const auto comparator = comparator_of(term)) return comparison(term, *comparator, parameters);
  return refused(message::kConditionOperator, term.text);
}

// ---- Updates

Result<Operand> update_operand(const Term& term, const Parameters& parameters) {
  if (term.kind == TermKind::kPath) return path_operand(term);
  if (is_value(term)) {
    STATOR_ASSIGN_OR_RETURN(AttributeValue value, value_of(term, parameters));
    return value_operand(std::move(value));
  }
  if (term.kind == TermKind::kMissing) return refused(message::kMissingCompared);
  Operand operand;
  if (term.kind == TermKind::kCall) {
    if (term.text == "list_append") {
      operand.kind = OperandKind::kListAppend;
    } else if (term.text == "if_not_exists") {
      operand.kind = OperandKind::kIfNotExists;
    } else if (term.text == "size" || function_of(term) != nullptr) {
      return refused(expression::message::kFunctionNotAllowedInUpdate, term.text);
    } else {
      return refused(message::kFunction, term.text, to_string(term.at));
    }
    if (term.parts.size() != 2) return wrong_count(term);
  } else if (term.kind == TermKind::kOperator && (term.text == "+" || term.text == "-")) {
    if (term.parts.size() != 2) {
      return refused(expression::message::kOperandCount, term.text, term.parts.size());
    }
    operand.kind = term.text == "+" ? OperandKind::kPlus : OperandKind::kMinus;
  } else {
    return refused(message::kUpdateOperator,
                   term.kind == TermKind::kIs ? std::string("is") : term.text);
  }
  for (const Term& part : term.parts) {
    STATOR_ASSIGN_OR_RETURN(Operand inner, update_operand(part, parameters));
    operand.operands.push_back(std::move(inner));
  }
  return operand;
}

bool is_set(const AttributeValue& value) {
  return value.is<StringSet>() || value.is<NumberSet>() || value.is<BinarySet>();
}

// a = set_add(a, <<..>>) becomes an ADD, set_delete() a DELETE.
Result<expression::UpdateAction> set_action(const Assignment& assignment,
                                            const Parameters& parameters) {
  const Term& call = *assignment.value;
  const std::string name = call.text == "set_add" ? "SET_ADD" : "SET_DELETE";
  if (call.parts.size() != 2) return refused(message::kSetArguments, name, to_string(call.at));
  const Term& target = call.parts[0];
  if (target.kind != TermKind::kPath || target.path != assignment.target.path) {
    return refused(message::kSetTarget, name, to_string(call.at));
  }
  if (!is_value(call.parts[1])) return refused(message::kSetOperand, name, to_string(target.at));
  STATOR_ASSIGN_OR_RETURN(AttributeValue value, value_of(call.parts[1], parameters));
  if (!is_set(value)) return refused(message::kSetOperand, name, to_string(target.at));
  expression::UpdateAction action;
  action.path = target.path;
  action.operand = value_operand(std::move(value));
  return action;
}

}  // namespace

Result<ConditionNode> condition_of(const Term& where, const Parameters& parameters) {
  STATOR_ASSIGN_OR_RETURN(ConditionNode node, node_of(where, parameters));
  STATOR_RETURN_IF_ERROR(expression::check(node));
  return node;
}

Result<expression::UpdateTree> update_of(const std::vector<Assignment>& assignments,
                                         const Parameters& parameters) {
  expression::UpdateTree tree;
  for (std::size_t i = 0; i < assignments.size(); ++i) {
    const Assignment& assignment = assignments[i];
    expression::UpdateAction action;
    auto* actions = &tree.sets;
    if (!assignment.value) {
      actions = &tree.removes;
      action.path = assignment.target.path;
    } else if (assignment.value->kind == TermKind::kCall &&
               (assignment.value->text == "set_add" || assignment.value->text == "set_delete")) {
      actions = assignment.value->text == "set_add" ? &tree.adds : &tree.deletes;
      STATOR_ASSIGN_OR_RETURN(action, set_action(assignment, parameters));
    } else {
      action.path = assignment.target.path;
      STATOR_ASSIGN_OR_RETURN(action.operand, update_operand(*assignment.value, parameters));
    }
    action.position = i;
    actions->push_back(std::move(action));
  }
  STATOR_RETURN_IF_ERROR(expression::check(tree));
  return tree;
}

}  // namespace stator::partiql
