// SPDX-License-Identifier: Apache-2.0
// Any text as every kind of expression. If it parses, its printed form parses too and has the same
// meaning. NOT negates it, and an update produces an item that can be stored.
#include <boost/pfr/ops_fields.hpp>
#include <concepts>

#include "base/check.h"
#include "expression/expression.h"
#include "expression/parser.h"
#include "expression/printer.h"

namespace stator::expression {

// Compares all members, including future ones.
template <class T>
  requires(std::same_as<T, ConditionNode> || std::same_as<T, Operand> ||
           std::same_as<T, UpdateTree>)
bool operator==(const T& a, const T& b) {
  return boost::pfr::eq_fields(a, b);
}
// Printing sorts the sections, so positions can differ.
bool operator==(const UpdateAction& a, const UpdateAction& b) {
  return a.path == b.path && a.operand == b.operand;
}

}  // namespace stator::expression

namespace {

using stator::ExpressionLimits;
using stator::Placeholders;

template <class Parse>
void check_syntax(std::string_view text, Parse parse) {
  const auto tree = parse(text, ExpressionLimits::kLifted);
  if (!tree) {
    STATOR_CHECK(!parse(text, ExpressionLimits::kEnforced));
    return;
  }
  const auto again = parse(stator::expression::print(*tree), ExpressionLimits::kLifted);
  STATOR_CHECK(again && *again == *tree);
}

const stator::Names& names() {
  static const stator::Names all = {{"#a", "a"}, {"#l", "l"}, {"#m", "m"}, {"#x", "x.y"}};
  return all;
}

const stator::Values& values() {
  static const stator::Values all = {{":s", "text"},
                                     {":t", "S"},
                                     {":n", 7},
                                     {":z", 0},
                                     {":b", stator::Binary{std::string("\0\xff", 2)}},
                                     {":o", true},
                                     {":u", nullptr},
                                     {":ss", stator::StringSet{"te", "text"}},
                                     {":ns", stator::NumberSet{1, 7}},
                                     {":l", stator::List{7, "text"}},
                                     {":m", stator::Map{{"k", 7}}}};
  return all;
}

// Has an attribute of each type, and one whose name needs a placeholder.
const stator::Item& item() {
  static const stator::Item all = {
      {"a", "text and more"},
      {"b", stator::Binary{std::string("\0\xff\1", 3)}},
      {"n", 8},
      {"o", false},
      {"u", nullptr},
      {"s", stator::StringSet{"te", "text"}},
      {"t", stator::NumberSet{7, -1}},
      {"l", stator::List{7, stator::Map{{"k", stator::List{"x", 1}}}, "text"}},
      {"m", stator::Map{{"k", stator::Map{{"k", 7}}}, {"s", stator::StringSet{"x"}}}},
      {"x.y", 1}};
  return all;
}

template <class Expression, class... Role>
auto parsed(std::string_view text, Role... role) {
  Placeholders placeholders(&names(), &values());
  return Expression::parse(text, role..., placeholders, ExpressionLimits::kLifted);
}

std::string printed(std::string_view text, auto parse) {
  return stator::expression::print(*parse(text, ExpressionLimits::kLifted));
}

void check_condition(std::string_view text, std::string_view encoded) {
  constexpr auto kRole = stator::ConditionRole::kCondition;
  const auto condition = parsed<stator::Condition>(text, kRole);
  if (!condition) return;
  const auto again =
      parsed<stator::Condition>(printed(text, stator::expression::parse_condition), kRole);
  STATOR_CHECK(again);
  const auto negated = parsed<stator::Condition>("NOT (" + std::string(text) + ")", kRole);
  for (const auto& found : {std::optional(stator::ItemView(encoded)), {}}) {
    const bool matches = condition->matches(found);
    STATOR_CHECK(again->matches(found) == matches);
    // The additional nesting level can be too deep.
    STATOR_CHECK(!negated || negated->matches(found) != matches);
  }
}

void check_update(std::string_view text, std::string_view encoded) {
  const auto update = parsed<stator::Update>(text);
  if (!update) return;
  const auto again = parsed<stator::Update>(printed(text, stator::expression::parse_update));
  STATOR_CHECK(again);
  for (const auto& old : {std::optional(stator::ItemView(encoded)), {}}) {
    const auto changed = update->apply(old, {{"a", "key"}});
    const auto changed_again = again->apply(old, {{"a", "key"}});
    STATOR_CHECK(changed.has_value() == changed_again.has_value());
    if (!changed) continue;
    STATOR_CHECK(*changed == *changed_again);
    if (!*changed) continue;
    const stator::EncodedItem& item = **changed;
    STATOR_CHECK(stator::validate_item(item));
    const auto part = update->updated_part(stator::ItemView(item));
    STATOR_CHECK(stator::validate_item(part));
    STATOR_CHECK(part.size() <= item.size());
  }
}

void check_projection(std::string_view text, std::string_view encoded) {
  const auto projection = parsed<stator::ProjectionExpression>(text);
  if (!projection) return;
  const auto part = projection->apply(stator::ItemView(encoded));
  STATOR_CHECK(stator::validate_item(part));
  for (auto attributes = stator::ItemView(part).attributes(); auto found = attributes.next();) {
    STATOR_CHECK(item().contains(found->name));
    STATOR_CHECK(projection->attributes().contains(found->name));
  }
}

void check_key_condition(std::string_view text) {
  const stator::KeySchema schema = {{"a", stator::KeyType::kHash}, {"n", stator::KeyType::kRange}};
  const std::vector<stator::AttributeDefinition> attributes = {{"a", stator::ScalarType::kS},
                                                               {"n", stator::ScalarType::kN}};
  Placeholders placeholders(&names(), &values());
  const auto key = stator::KeyCondition::parse(text, placeholders, schema, attributes,
                                               ExpressionLimits::kLifted);
  if (!key) return;
  // Every valid key condition is also a valid filter.
  STATOR_CHECK(parsed<stator::Condition>(text, stator::ConditionRole::kFilter));
  STATOR_CHECK(key->hash.size() == 1 && key->hash[0].is<std::string>());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_syntax(text, stator::expression::parse_condition);
  check_syntax(text, stator::expression::parse_update);
  check_syntax(text, stator::expression::parse_projection);
  static const stator::EncodedItem encoded = stator::encode_item(item());
  check_condition(text, encoded);
  check_update(text, encoded);
  check_projection(text, encoded);
  check_key_condition(text);
  return 0;
}
