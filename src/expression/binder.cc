// SPDX-License-Identifier: Apache-2.0
#include "expression/binder.h"

#include <fmt/format.h>

#include <algorithm>

#include "expression/evaluator.h"
#include "expression/messages.h"
#include "expression/paths.h"
#include "expression/printer.h"

namespace stator::expression {
namespace {

template <class... Arguments>
Failure complaint(const char* text, const Arguments&... arguments) {
  return fail(Code::kValidation, fmt::format(fmt::runtime(text), arguments...));
}

Result<void> bind_path(Path& path, Placeholders& placeholders) {
  for (PathStep& step : path) {
    auto* name = std::get_if<PathName>(&step);
    if (name == nullptr) continue;
    if (!name->text.starts_with('#')) {
      if (is_reserved_word(name->text)) return complaint(message::kReserved, name->text);
      continue;
    }
    const std::string* meaning = placeholders.name(name->text);
    if (meaning == nullptr) return complaint(message::kNameUndefined, name->text);
    name->text = *meaning;
  }
  return {};
}

Result<void> bind_operand(Operand& operand, Placeholders& placeholders) {
  if (operand.kind == OperandKind::kPath) return bind_path(operand.path, placeholders);
  if (operand.kind == OperandKind::kValue) {
    const AttributeValue* value = placeholders.value(operand.token);
    if (value == nullptr) return complaint(message::kValueUndefined, operand.token);
    operand.value = *value;
    operand.encoded = encode_value(*value);
    return {};
  }
  for (Operand& part : operand.operands) STATOR_RETURN_IF_ERROR(bind_operand(part, placeholders));
  return {};
}

bool is_one_of(AttributeType type, std::initializer_list<AttributeType> types) {
  return std::ranges::find(types, type) != types.end();
}

// Refuses literals of a wrong type; the types of paths are not known yet.
Result<void> check_literal(const Operand& operand, std::string_view name,
                           std::initializer_list<AttributeType> types) {
  if (operand.kind != OperandKind::kValue || is_one_of(operand.value.type(), types)) return {};
  return complaint(message::kOperandType, name, type_name(operand.value.type()));
}

using enum AttributeType;

// As an operand, size() is a number.
Result<void> check_operand_type(const Operand& operand, std::string_view name,
                                std::initializer_list<AttributeType> types) {
  if (operand.kind != OperandKind::kSize) return check_literal(operand, name, types);
  if (is_one_of(kN, types)) return {};
  return complaint(message::kOperandType, name, type_name(kN));
}

Result<void> check_size(const Operand& operand) {
  if (operand.kind != OperandKind::kSize) return {};
  STATOR_RETURN_IF_ERROR(check_size(operand.operands[0]));
  return check_operand_type(operand.operands[0], "size", {kS, kB, kSs, kNs, kBs, kL, kM});
}

Result<void> check_distinct(const std::vector<Operand>& operands, const char* name) {
  const Operand& first = operands[0];
  if (first.kind != OperandKind::kPath) return {};
  for (std::size_t i = 1; i < operands.size(); ++i) {
    const Operand& other = operands[i];
    if (other.kind == OperandKind::kPath && other.path == first.path) {
      return complaint(message::kNotDistinct, name, describe(first.path));
    }
  }
  return {};
}

Result<void> check_between(const ConditionNode& node) {
  for (const Operand& operand : node.operands) {
    STATOR_RETURN_IF_ERROR(check_literal(operand, "BETWEEN", {kS, kN, kB}));
  }
  const Operand& lower = node.operands[1];
  const Operand& upper = node.operands[2];
  if (lower.kind != OperandKind::kValue || upper.kind != OperandKind::kValue) return {};
  if (lower.value.type() != upper.value.type()) {
    return complaint(message::kBetweenTypes, describe(lower.value), describe(upper.value));
  }
  if (compare(ValueView(lower.encoded), ValueView(upper.encoded)) > 0) {
    return complaint(message::kBetweenOrder, describe(lower.value), describe(upper.value));
  }
  return {};
}

Result<void> check_attribute_type(const Operand& type) {
  const auto* name = type.kind == OperandKind::kValue ? type.value.get_if<std::string>() : nullptr;
  if (name == nullptr) {
    return complaint(message::kOperandType, "attribute_type",
                     type.kind == OperandKind::kValue ? type_name(type.value.type()) : "path");
  }
  if (!type_from_name(*name)) return complaint(message::kTypeName, *name);
  return {};
}

Result<void> check_leaf(const ConditionNode& node) {
  for (const Operand& operand : node.operands) STATOR_RETURN_IF_ERROR(check_size(operand));
  const bool compares = node.kind == ConditionKind::kCompare;
  const char* name = compares ? comparator_text(node.comparator) : condition_name(node.kind);
  STATOR_RETURN_IF_ERROR(check_distinct(node.operands, name));
  switch (node.kind) {
    case ConditionKind::kCompare:
      if (node.comparator != Comparator::kEqual && node.comparator != Comparator::kNotEqual) {
        for (const Operand& operand : node.operands) {
          STATOR_RETURN_IF_ERROR(check_literal(operand, name, {kS, kN, kB}));
        }
      }
      return {};
    case ConditionKind::kBetween:
      return check_between(node);
    case ConditionKind::kAttributeExists:
    case ConditionKind::kAttributeNotExists:
      if (node.operands[0].kind != OperandKind::kPath) {
        return complaint(message::kPathRequired, name);
      }
      return {};
    case ConditionKind::kAttributeType:
      return check_attribute_type(node.operands[1]);
    case ConditionKind::kBeginsWith:
      for (const Operand& operand : node.operands) {
        STATOR_RETURN_IF_ERROR(check_operand_type(operand, name, {kS, kB}));
      }
      return {};
    case ConditionKind::kContains:
      return check_operand_type(node.operands[0], name, {kS, kB, kSs, kNs, kBs, kL});
    default:
      return {};
  }
}

// Within functions and arithmetic, if_not_exists() is the only function.
Result<void> check_nested_functions(const Operand& operand) {
  for (const Operand& part : operand.operands) {
    if (part.kind == OperandKind::kListAppend) {
      return complaint(message::kFunctionNotAllowed, operand_name(part.kind));
    }
    STATOR_RETURN_IF_ERROR(check_nested_functions(part));
  }
  return {};
}

Result<void> check_functions(const UpdateTree& tree) {
  for (const UpdateAction& set : tree.sets)
    STATOR_RETURN_IF_ERROR(check_nested_functions(set.operand));
  return {};
}

Result<void> check_set_operand(const Operand& operand) {
  const char* name = operand_name(operand.kind);
  switch (operand.kind) {
    case OperandKind::kPlus:
    case OperandKind::kMinus:
      for (const Operand& part : operand.operands) {
        STATOR_RETURN_IF_ERROR(check_literal(part, name, {kN}));
      }
      break;
    case OperandKind::kListAppend:
      for (const Operand& part : operand.operands) {
        STATOR_RETURN_IF_ERROR(check_literal(part, name, {kL}));
      }
      break;
    case OperandKind::kIfNotExists:
      if (operand.operands[0].kind != OperandKind::kPath) {
        return complaint(message::kPathRequired, name);
      }
      STATOR_RETURN_IF_ERROR(check_distinct(operand.operands, name));
      break;
    default:
      break;
  }
  for (const Operand& part : operand.operands) STATOR_RETURN_IF_ERROR(check_set_operand(part));
  return {};
}

// The type's long name, for messages about ADD and DELETE.
const char* long_type_name(AttributeType type) {
  switch (type) {
    case kS:
      return "STRING";
    case kN:
      return "NUMBER";
    case kB:
      return "BINARY";
    case kBool:
      return "BOOLEAN";
    case kNull:
      return "NULL";
    case kSs:
      return "STRING_SET";
    case kNs:
      return "NUMBER_SET";
    case kBs:
      return "BINARY_SET";
    case kL:
      return "LIST";
    case kM:
      return "MAP";
  }
  return "";
}

Result<void> check_update_literal(const Operand& operand, const char* section,
                                  std::initializer_list<AttributeType> types) {
  if (is_one_of(operand.value.type(), types)) return {};
  return complaint(message::kUpdateOperandType, section, long_type_name(operand.value.type()),
                   section);
}

// The paths that the actions write, in the expression's order.
std::vector<Path> in_order(std::vector<const UpdateAction*> actions) {
  std::ranges::sort(actions, {}, &UpdateAction::position);
  std::vector<Path> paths;
  paths.reserve(actions.size());
  for (const UpdateAction* action : actions) paths.push_back(action->path);
  return paths;
}

Result<void> check_bound(const UpdateTree& tree) {
  std::vector<const UpdateAction*> written;
  for (const auto* actions : {&tree.sets, &tree.removes, &tree.adds, &tree.deletes}) {
    for (const UpdateAction& action : *actions) written.push_back(&action);
  }
  STATOR_RETURN_IF_ERROR(check_apart(in_order(std::move(written))));
  for (const UpdateAction& set : tree.sets) STATOR_RETURN_IF_ERROR(check_set_operand(set.operand));
  for (const UpdateAction& add : tree.adds) {
    STATOR_RETURN_IF_ERROR(check_update_literal(add.operand, "ADD", {kN, kSs, kNs, kBs}));
  }
  for (const UpdateAction& removal : tree.deletes) {
    STATOR_RETURN_IF_ERROR(check_update_literal(removal.operand, "DELETE", {kSs, kNs, kBs}));
  }
  return {};
}

}  // namespace

Failure invalid(std::string_view parameter, Error error) {
  error.message = fmt::format("Invalid {}: {}", parameter, error.message);
  return Failure(std::move(error));
}

Result<void> bind(ConditionNode& node, Placeholders& placeholders) {
  for (ConditionNode& child : node.children) STATOR_RETURN_IF_ERROR(bind(child, placeholders));
  for (Operand& operand : node.operands)
    STATOR_RETURN_IF_ERROR(bind_operand(operand, placeholders));
  return node.children.empty() ? check_leaf(node) : Result<void>();
}

Result<void> check(const ConditionNode& node) {
  for (const ConditionNode& child : node.children) STATOR_RETURN_IF_ERROR(check(child));
  return node.children.empty() ? check_leaf(node) : Result<void>();
}

Result<void> bind(UpdateTree& tree, Placeholders& placeholders) {
  STATOR_RETURN_IF_ERROR(check_functions(tree));
  for (auto* actions : {&tree.sets, &tree.removes, &tree.adds, &tree.deletes}) {
    for (UpdateAction& action : *actions) {
      STATOR_RETURN_IF_ERROR(bind_path(action.path, placeholders));
      if (actions != &tree.removes)
        STATOR_RETURN_IF_ERROR(bind_operand(action.operand, placeholders));
    }
  }
  return check_bound(tree);
}

Result<void> check(const UpdateTree& tree) {
  STATOR_RETURN_IF_ERROR(check_functions(tree));
  return check_bound(tree);
}

Result<void> bind(ProjectionTree& paths, Placeholders& placeholders) {
  for (Path& path : paths) STATOR_RETURN_IF_ERROR(bind_path(path, placeholders));
  return check_apart(paths);
}

}  // namespace stator::expression
