// SPDX-License-Identifier: Apache-2.0
#include "expression/printer.h"

#include <fmt/format.h>

namespace stator::expression {
namespace {

template <class Items>
std::string join(const Items& items, const char* separator) {
  std::string text;
  for (const auto& item : items) {
    if (!text.empty()) text += separator;
    text += print(item);
  }
  return text;
}

// Children of AND and NOT that bind less tightly need parentheses.
std::string print_child(const ConditionNode& child, ConditionKind parent) {
  const bool looser = child.kind == ConditionKind::kOr || child.kind == ConditionKind::kAnd;
  const bool needed = looser && (parent != ConditionKind::kOr || child.kind != ConditionKind::kAnd);
  return needed ? "(" + print(child) + ")" : print(child);
}

std::string print_chain(const ConditionNode& node, const char* word) {
  std::string text;
  for (const ConditionNode& child : node.children) {
    if (!text.empty()) text += word;
    text += print_child(child, node.kind);
  }
  return text;
}

void print_section(std::string& text, const char* name, const std::vector<UpdateAction>& actions,
                   const char* between) {
  if (actions.empty()) return;
  if (!text.empty()) text += ' ';
  text += name;
  const char* separator = " ";
  for (const UpdateAction& action : actions) {
    text += separator + print(action.path);
    if (between != nullptr) text += between + print(action.operand);
    separator = ", ";
  }
}

}  // namespace

const char* comparator_text(Comparator comparator) {
  switch (comparator) {
    case Comparator::kEqual:
      return "=";
    case Comparator::kNotEqual:
      return "<>";
    case Comparator::kLess:
      return "<";
    case Comparator::kLessOrEqual:
      return "<=";
    case Comparator::kGreater:
      return ">";
    case Comparator::kGreaterOrEqual:
      return ">=";
  }
  return "";
}

const char* condition_name(ConditionKind kind) {
  switch (kind) {
    case ConditionKind::kAnd:
      return "AND";
    case ConditionKind::kOr:
      return "OR";
    case ConditionKind::kNot:
      return "NOT";
    case ConditionKind::kCompare:
      return "";
    case ConditionKind::kBetween:
      return "BETWEEN";
    case ConditionKind::kIn:
      return "IN";
    case ConditionKind::kAttributeExists:
      return "attribute_exists";
    case ConditionKind::kAttributeNotExists:
      return "attribute_not_exists";
    case ConditionKind::kAttributeType:
      return "attribute_type";
    case ConditionKind::kBeginsWith:
      return "begins_with";
    case ConditionKind::kContains:
      return "contains";
  }
  return "";
}

const char* operand_name(OperandKind kind) {
  switch (kind) {
    case OperandKind::kPath:
    case OperandKind::kValue:
      return "";
    case OperandKind::kSize:
      return "size";
    case OperandKind::kIfNotExists:
      return "if_not_exists";
    case OperandKind::kListAppend:
      return "list_append";
    case OperandKind::kPlus:
      return "+";
    case OperandKind::kMinus:
      return "-";
  }
  return "";
}

std::string print(const Path& path) {
  std::string text;
  for (const PathStep& step : path) {
    if (const auto* name = std::get_if<PathName>(&step)) {
      if (!text.empty()) text += '.';
      text += name->text;
    } else {
      text += fmt::format("[{}]", std::get<uint32_t>(step));
    }
  }
  return text;
}

std::string print(const Operand& operand) {
  switch (operand.kind) {
    case OperandKind::kPath:
      return print(operand.path);
    case OperandKind::kValue:
      return operand.token;
    case OperandKind::kPlus:
    case OperandKind::kMinus: {
      const auto side = [](const Operand& part) {
        const bool sum = part.kind == OperandKind::kPlus || part.kind == OperandKind::kMinus;
        return sum ? "(" + print(part) + ")" : print(part);
      };
      return side(operand.operands[0]) + " " + operand_name(operand.kind) + " " +
             side(operand.operands[1]);
    }
    default:
      return operand_name(operand.kind) + ("(" + join(operand.operands, ", ") + ")");
  }
}

std::string print(const ConditionNode& node) {
  switch (node.kind) {
    case ConditionKind::kAnd:
      return print_chain(node, " AND ");
    case ConditionKind::kOr:
      return print_chain(node, " OR ");
    case ConditionKind::kNot:
      return "NOT " + print_child(node.children[0], node.kind);
    case ConditionKind::kCompare:
      return print(node.operands[0]) + " " + comparator_text(node.comparator) + " " +
             print(node.operands[1]);
    case ConditionKind::kBetween:
      return fmt::format("{} BETWEEN {} AND {}", print(node.operands[0]), print(node.operands[1]),
                         print(node.operands[2]));
    case ConditionKind::kIn: {
      const std::vector<Operand> candidates(node.operands.begin() + 1, node.operands.end());
      return print(node.operands[0]) + " IN (" + join(candidates, ", ") + ")";
    }
    default:
      return condition_name(node.kind) + ("(" + join(node.operands, ", ") + ")");
  }
}

std::string print(const UpdateTree& tree) {
  std::string text;
  print_section(text, "SET", tree.sets, " = ");
  print_section(text, "REMOVE", tree.removes, nullptr);
  print_section(text, "ADD", tree.adds, " ");
  print_section(text, "DELETE", tree.deletes, " ");
  return text;
}

std::string print(const ProjectionTree& paths) {
  return join(paths, ", ");
}

std::string describe(const Path& path) {
  std::string text = "[";
  for (const PathStep& step : path) {
    if (text.size() > 1) text += ", ";
    if (const auto* name = std::get_if<PathName>(&step)) {
      text += name->text;
    } else {
      text += fmt::format("[{}]", std::get<uint32_t>(step));
    }
  }
  return text + "]";
}

std::string describe(const AttributeValue& value) {
  std::string content;
  if (const auto* text = value.get_if<std::string>()) {
    content = *text;
  } else if (const auto* number = value.get_if<Number>()) {
    content = number->to_string();
  } else if (const auto* binary = value.get_if<Binary>()) {
    // DynamoDB prints its Java object, not the bytes.
    const std::size_t size = binary->bytes.size();
    content = fmt::format("java.nio.HeapByteBuffer[pos=0 lim={} cap={}]", size, size);
  } else {
    content = to_debug_string(value);
  }
  return fmt::format("{{{}:{}}}", type_name(value.type()), content);
}

}  // namespace stator::expression
