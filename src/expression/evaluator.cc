// SPDX-License-Identifier: Apache-2.0
#include "expression/evaluator.h"

#include <algorithm>
#include <cstring>

#include "expression/paths.h"

namespace stator::expression {
namespace {

using enum AttributeType;

// An operand's value: a view of the item or of a literal, or a number computed by size().
struct Evaluated {
  std::optional<ValueView> view;
  std::string computed;  // the bytes of `view` if it was computed
};

// The length of a string in UTF-16 code units, as in Java. An emoji has two.
std::size_t characters(std::string_view utf8) {
  std::size_t count = 0;
  for (const char c : utf8) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0) != 0x80) count += byte >= 0xf0 ? 2 : 1;
  }
  return count;
}

std::optional<std::size_t> size_of(ValueView value) {
  switch (value.type()) {
    case kS:
      return characters(value.text());
    case kB:
      return value.text().size();
    case kSs:
    case kNs:
    case kBs:
    case kL:
      return value.element_count();
    case kM:
      return value.attribute_count();
    default:
      return std::nullopt;
  }
}

void evaluate(const Operand& operand, const std::optional<ItemView>& item, Evaluated& result) {
  if (operand.kind == OperandKind::kValue) {
    result.view = ValueView(operand.encoded);
  } else if (operand.kind == OperandKind::kPath) {
    if (item) result.view = find(*item, operand.path);
  } else if (operand.kind == OperandKind::kSize) {
    Evaluated inner;
    evaluate(operand.operands[0], item, inner);
    const auto size = inner.view ? size_of(*inner.view) : std::nullopt;
    if (!size) return;
    result.computed = encode_value(Number(*size));
    result.view = ValueView(result.computed);
  }
}

bool comparable(ValueView a, ValueView b) {
  const AttributeType type = a.type();
  return type == b.type() && (type == kS || type == kN || type == kB);
}

bool holds(Comparator comparator, const std::optional<ValueView>& a,
           const std::optional<ValueView>& b) {
  if (comparator == Comparator::kNotEqual) return !(a && b && *a == *b);
  if (!a || !b) return false;
  if (comparator == Comparator::kEqual) return *a == *b;
  if (!comparable(*a, *b)) return false;
  const int order = compare(*a, *b);
  switch (comparator) {
    case Comparator::kLess:
      return order < 0;
    case Comparator::kLessOrEqual:
      return order <= 0;
    case Comparator::kGreater:
      return order > 0;
    default:
      return order >= 0;
  }
}

bool begins_with(ValueView value, ValueView prefix) {
  const AttributeType type = value.type();
  return type == prefix.type() && (type == kS || type == kB) &&
         value.text().starts_with(prefix.text());
}

// memmem takes linear time; string_view::find can take as much as the product of both lengths.
bool occurs(std::string_view text, std::string_view part) {
  return part.empty() || memmem(text.data(), text.size(), part.data(), part.size()) != nullptr;
}

bool contains(ValueView container, ValueView part) {
  switch (container.type()) {
    case kS:
    case kB:
      return part.type() == container.type() && occurs(container.text(), part.text());
    case kSs:
    case kNs:
    case kBs:
    case kL:
      for (ElementCursor cursor = container.elements(); const auto element = cursor.next();) {
        if (*element == part) return true;
      }
      return false;
    default:
      return false;
  }
}

bool leaf_matches(const ConditionNode& node, const std::optional<ItemView>& item) {
  Evaluated first;
  evaluate(node.operands[0], item, first);
  if (node.kind == ConditionKind::kAttributeExists) return first.view.has_value();
  if (node.kind == ConditionKind::kAttributeNotExists) return !first.view;
  if (node.kind == ConditionKind::kIn) {
    return std::any_of(node.operands.begin() + 1, node.operands.end(), [&](const Operand& operand) {
      Evaluated candidate;
      evaluate(operand, item, candidate);
      return holds(Comparator::kEqual, first.view, candidate.view);
    });
  }
  Evaluated second;
  evaluate(node.operands[1], item, second);
  switch (node.kind) {
    case ConditionKind::kCompare:
      return holds(node.comparator, first.view, second.view);
    case ConditionKind::kBetween: {
      Evaluated third;
      evaluate(node.operands[2], item, third);
      return holds(Comparator::kGreaterOrEqual, first.view, second.view) &&
             holds(Comparator::kLessOrEqual, first.view, third.view);
    }
    case ConditionKind::kAttributeType:
      return first.view && type_name(first.view->type()) == second.view->text();
    case ConditionKind::kBeginsWith:
      return first.view && second.view && begins_with(*first.view, *second.view);
    default:
      return first.view && second.view && contains(*first.view, *second.view);
  }
}

}  // namespace

int compare(ValueView a, ValueView b) {
  if (a.type() == kN) return a.number_key().compare(b.number_key());
  return a.text().compare(b.text());
}

bool matches(const ConditionNode& node, const std::optional<ItemView>& item) {
  const auto child_matches = [&](const ConditionNode& child) { return matches(child, item); };
  switch (node.kind) {
    case ConditionKind::kAnd:
      return std::ranges::all_of(node.children, child_matches);
    case ConditionKind::kOr:
      return std::ranges::any_of(node.children, child_matches);
    case ConditionKind::kNot:
      return !matches(node.children[0], item);
    default:
      return leaf_matches(node, item);
  }
}

}  // namespace stator::expression
