// SPDX-License-Identifier: Apache-2.0
// Parses the text like any condition, then matches its parts with the key schema.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "expression/binder.h"
#include "expression/expression.h"
#include "expression/messages.h"
#include "expression/parser.h"
#include "expression/paths.h"
#include "value/key.h"

namespace stator {
namespace {

using expression::Comparator;
using expression::ConditionKind;
using expression::ConditionNode;
using expression::Operand;
using expression::OperandKind;
namespace message = expression::message;
using Operator = KeyCondition::Operator;

// One part of a key condition: an attribute's name and its comparison.
struct Part {
  Operator op = Operator::kEqual;
  AttributeValue operand;
  AttributeValue upper;
};
using Parts = std::map<std::string, Part, std::less<>>;

template <class... Arguments>
Failure complaint(const char* text, const Arguments&... arguments) {
  return fail(Code::kValidation, fmt::format(fmt::runtime(text), arguments...));
}

Result<void> add_part(Parts& parts, const Operand& path, Part part) {
  if (path.path.size() != 1) return complaint(message::kKeyNested);
  if (!parts.emplace(expression::top_level_name(path.path), std::move(part)).second) {
    return complaint(message::kKeyRepeated);
  }
  return {};
}

Result<void> add_comparison(Parts& parts, const ConditionNode& node) {
  const bool reversed = node.operands[0].kind == OperandKind::kValue;
  const Operand& path = node.operands[reversed ? 1 : 0];
  const Operand& value = node.operands[reversed ? 0 : 1];
  if (path.kind != OperandKind::kPath || value.kind != OperandKind::kValue) {
    return complaint(message::kKeyUnsupported);
  }
  const auto op = KeyCondition::operator_of(node.comparator, reversed);
  if (!op) {
    return complaint(message::kKeyOperator, expression::comparator_text(node.comparator));
  }
  return add_part(parts, path, {.op = *op, .operand = value.value});
}

Result<void> gather(Parts& parts, const ConditionNode& node) {
  const bool nested = std::ranges::any_of(
      node.operands, [](const Operand& operand) { return operand.kind == OperandKind::kSize; });
  if (nested) return complaint(message::kKeyOperation);
  switch (node.kind) {
    case ConditionKind::kAnd:
      for (const ConditionNode& child : node.children) STATOR_RETURN_IF_ERROR(gather(parts, child));
      return {};
    case ConditionKind::kCompare:
      return add_comparison(parts, node);
    case ConditionKind::kBetween:
    case ConditionKind::kBeginsWith: {
      const bool between = node.kind == ConditionKind::kBetween;
      for (std::size_t i = 1; i < node.operands.size(); ++i) {
        if (node.operands[i].kind != OperandKind::kValue) {
          return complaint(message::kKeyUnsupported);
        }
      }
      if (node.operands[0].kind != OperandKind::kPath) return complaint(message::kKeyUnsupported);
      return add_part(parts, node.operands[0],
                      {.op = between ? Operator::kBetween : Operator::kBeginsWith,
                       .operand = node.operands[1].value,
                       .upper = between ? node.operands[2].value : AttributeValue()});
    }
    default:
      return complaint(message::kKeyOperator, expression::condition_name(node.kind));
  }
}

Result<void> check_operand(const std::string& name, const AttributeValue& value,
                           AttributeType type) {
  if (value.type() != type) return complaint(message::kKeyType);
  const auto* text = value.get_if<std::string>();
  const auto* binary = value.get_if<Binary>();
  if (text != nullptr && text->empty()) return complaint(message::kKeyEmptyValue, "string", name);
  if (binary != nullptr && binary->bytes.empty()) {
    return complaint(message::kKeyEmptyValue, "binary", name);
  }
  return {};
}

Result<void> check_part(const std::string& name, const Part& part,
                        const std::vector<AttributeDefinition>& attributes) {
  const auto definition = std::ranges::find(attributes, name, &AttributeDefinition::name);
  if (definition == attributes.end()) return complaint(message::kKeyUnsupported);
  const AttributeType type = attribute_type(definition->type);
  STATOR_RETURN_IF_ERROR(check_operand(name, part.operand, type));
  if (part.op == Operator::kBetween) STATOR_RETURN_IF_ERROR(check_operand(name, part.upper, type));
  return {};
}

// Requires an equality on every HASH element. RANGE elements can have equalities, from the left,
// then at most one range.
Result<KeyCondition> match(Parts parts, const KeySchema& schema,
                           const std::vector<AttributeDefinition>& attributes) {
  if (parts.size() > schema.size()) {
    return complaint(message::kKeyConditionCount, parts.size(), schema.size());
  }
  KeyCondition condition;
  std::vector<std::string_view> open;  // RANGE elements without an equality
  for (const KeySchemaElement& element : schema) {
    const auto part = parts.find(element.name);
    if (part == parts.end()) {
      if (element.type == KeyType::kHash) return complaint(message::kKeyMissing, element.name);
      open.push_back(element.name);
      continue;
    }
    STATOR_RETURN_IF_ERROR(check_part(element.name, part->second, attributes));
    Part& found = part->second;
    if (element.type == KeyType::kHash) {
      if (found.op != Operator::kEqual) return complaint(message::kKeyUnsupported);
      condition.hash.push_back(std::move(found.operand));
    } else if (!open.empty()) {
      return complaint(message::kKeyGap, fmt::format("{}", fmt::join(open, ", ")), element.name);
    } else if (found.op == Operator::kEqual) {
      condition.equal.push_back(std::move(found.operand));
    } else {
      condition.range = {found.op, std::move(found.operand), std::move(found.upper)};
      open.push_back(element.name);
    }
    parts.erase(part);
  }
  if (parts.empty()) return condition;
  // The rest is on other attributes. If no RANGE element has a condition, DynamoDB names the first.
  for (const KeySchemaElement& element : schema) {
    const bool unused =
        element.type == KeyType::kRange && condition.equal.empty() && !condition.range;
    if (unused) return complaint(message::kKeyMissing, element.name);
  }
  return complaint(message::kKeyUnsupported);
}

Result<Parts> parts_of(std::string_view text, Placeholders& placeholders, ExpressionLimits limits) {
  auto root = expression::parse_condition(text, limits);
  if (!root) return expression::invalid("KeyConditionExpression", root.error());
  if (auto bound = expression::bind(*root, placeholders); !bound) {
    return expression::invalid("KeyConditionExpression", bound.error());
  }
  Parts parts;
  STATOR_RETURN_IF_ERROR(gather(parts, *root));
  return parts;
}

}  // namespace

std::optional<Operator> KeyCondition::operator_of(Comparator comparator, bool reversed) {
  switch (comparator) {
    case Comparator::kEqual:
      return Operator::kEqual;
    case Comparator::kNotEqual:
      return std::nullopt;
    case Comparator::kLess:
      return reversed ? Operator::kGreater : Operator::kLess;
    case Comparator::kLessOrEqual:
      return reversed ? Operator::kGreaterOrEqual : Operator::kLessOrEqual;
    case Comparator::kGreater:
      return reversed ? Operator::kLess : Operator::kGreater;
    case Comparator::kGreaterOrEqual:
      return reversed ? Operator::kLessOrEqual : Operator::kGreaterOrEqual;
  }
  return std::nullopt;
}

Result<void> KeyCondition::check(std::string_view text, Placeholders& placeholders,
                                 ExpressionLimits limits) {
  STATOR_RETURN_IF_ERROR(parts_of(text, placeholders, limits));
  return {};
}

Result<KeyCondition> KeyCondition::parse(std::string_view text, Placeholders& placeholders,
                                         const KeySchema& schema,
                                         const std::vector<AttributeDefinition>& attributes,
                                         ExpressionLimits limits) {
  STATOR_ASSIGN_OR_RETURN(Parts parts, parts_of(text, placeholders, limits));
  return match(std::move(parts), schema, attributes);
}

}  // namespace stator
