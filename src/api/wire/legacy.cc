// SPDX-License-Identifier: Apache-2.0
#include "api/wire/legacy.h"

#include <algorithm>
#include <set>
#include <vector>

#include "api/model/messages.h"
#include "api/validation/attribute_check.h"
#include "api/validation/validate_rules.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace stator::wire {

// One entry of Expected, KeyConditions or a filter.
struct LegacyTranslator::Comparison {
  std::optional<ComparisonOperator> op;
  std::optional<std::vector<AttributeValue>> list;
  std::optional<AttributeValue> value;  // Expected only
  std::optional<bool> exists;           // Expected only
};

struct LegacyTranslator::UpdateEntry {
  AttributeAction action = AttributeAction::kPut;
  std::optional<AttributeValue> value;
};

struct LegacyTranslator::UpdateClauses {
  std::vector<std::string> set;
  std::vector<std::string> remove;
  std::vector<std::string> add;
  std::vector<std::string> erase;
};

namespace {

template <auto member, class T>
void set_operand(Reader& reader, Json json, T& out) {
  out.*member = reader.member_value(json);
}

bool is_scalar(AttributeType type) {
  return type == AttributeType::kS || type == AttributeType::kN || type == AttributeType::kB;
}

bool accepts(ComparisonOperator op, AttributeType type) {
  switch (op) {
    case ComparisonOperator::kLe:
    case ComparisonOperator::kLt:
    case ComparisonOperator::kGe:
    case ComparisonOperator::kGt:
    case ComparisonOperator::kBetween:
    case ComparisonOperator::kIn:
      return is_scalar(type);
    case ComparisonOperator::kBeginsWith:
      return type == AttributeType::kS || type == AttributeType::kB;
    case ComparisonOperator::kContains:
    case ComparisonOperator::kNotContains:
      return is_scalar(type) || type == AttributeType::kBool || type == AttributeType::kNull;
    default:
      return true;
  }
}

bool accepts_count(ComparisonOperator op, std::size_t count) {
  switch (op) {
    case ComparisonOperator::kNull:
    case ComparisonOperator::kNotNull:
      return count == 0;
    case ComparisonOperator::kBetween:
      return count == 2;
    case ComparisonOperator::kIn:
      return count > 0;
    default:
      return count == 1;
  }
}

// Whether the bounds of a range are in the wrong order; they are of one scalar type.
bool reversed(const AttributeValue& lower, const AttributeValue& upper) {
  if (const auto* number = lower.get_if<Number>()) return *number > *upper.get_if<Number>();
  if (const auto* text = lower.get_if<std::string>()) return *text > *upper.get_if<std::string>();
  return lower.get_if<Binary>()->bytes > upper.get_if<Binary>()->bytes;
}

std::string_view symbol(ComparisonOperator op) {
  switch (op) {
    case ComparisonOperator::kNe:
      return "<>";
    case ComparisonOperator::kLe:
      return "<=";
    case ComparisonOperator::kLt:
      return "<";
    case ComparisonOperator::kGe:
      return ">=";
    case ComparisonOperator::kGt:
      return ">";
    default:
      return "=";
  }
}

void invalid(Reader& reader, std::string_view text) {
  reader.fail(Code::kValidation, fmt::format(messages::kInvalid, text));
}

std::string given_names(std::initializer_list<Parameter> parameters, std::string_view except = {}) {
  std::string names;
  for (const Parameter& parameter : parameters) {
    if (!parameter.given || parameter.name == except) continue;
    if (!names.empty()) names += ", ";
    names += parameter.name;
  }
  return names;
}

// The expressions that could have used values: "UpdateExpression and ConditionExpression are null".
std::string absent_expressions(std::initializer_list<Parameter> expressions) {
  std::vector<std::string_view> names;
  for (const Parameter& expression : expressions) {
    if (expression.name != "ProjectionExpression") names.push_back(expression.name);
  }
  return fmt::format("{} {} null", fmt::join(names, " and "), names.size() > 1 ? "are" : "is");
}

}  // namespace

bool uses_legacy(Reader& reader, std::initializer_list<Parameter> expressions,
                 std::initializer_list<Parameter> legacy, bool has_names, bool has_values) {
  if (given_names(legacy).empty()) return false;
  const Reader::At at(reader, Stage::kParameters);
  const std::string given_expressions = given_names(expressions);
  if (!given_expressions.empty()) {
    // KeyConditions can be combined with all expressions except KeyConditionExpression.
    const bool keys_apart = given_expressions.find("KeyConditionExpression") == std::string::npos;
    const std::string given_legacy = given_names(legacy, keys_apart ? "KeyConditions" : "");
    if (given_legacy.empty()) return true;
    reader.fail(Code::kValidation,
                fmt::format(messages::kMixedParameters, given_legacy, given_expressions));
    return false;
  }
  if (has_names) {
    reader.fail(Code::kValidation, messages::kNamesWithoutExpression);
    return false;
  }
  if (has_values) {
    reader.fail(Code::kValidation,
                values_without_expression(reader.layer(), absent_expressions(expressions)));
    return false;
  }
  return true;
}

LegacyTranslator::LegacyTranslator(Reader& reader, std::optional<Names>& names,
                                   std::optional<Values>* values)
    : reader_(reader), at_(reader, Stage::kConditions), names_(names), values_(values) {}

std::string LegacyTranslator::name(std::string_view attribute) {
  if (auto checked = check_attribute_name(attribute); !checked) {
    reader_.fail(std::move(checked).error());
  }
  if (!names_) names_.emplace();
  std::string placeholder;
  do {
    placeholder = fmt::format("#legacy{}", next_name_++);
  } while (names_->contains(placeholder));
  names_->emplace(placeholder, attribute);
  return placeholder;
}

std::string LegacyTranslator::value(AttributeValue value) {
  std::optional<Values>& values = *values_;
  if (!values) values.emplace();
  std::string placeholder;
  do {
    placeholder = fmt::format(":legacy{}", next_value_++);
  } while (values->contains(placeholder));
  values->emplace(placeholder, std::move(value));
  return placeholder;
}

bool LegacyTranslator::check(const Comparison& comparison) {
  const ComparisonOperator op = *comparison.op;
  const std::vector<AttributeValue>& operands = *comparison.list;
  if (!accepts_count(op, operands.size())) {
    invalid(reader_, fmt::format(messages::kOperandCount, enum_name(op)));
    return false;
  }
  for (const AttributeValue& operand : operands) {
    if (!accepts(op, operand.type())) {
      invalid(reader_,
              fmt::format(messages::kOperandType, enum_name(op), type_name(operand.type())));
      return false;
    }
    if (operand.type() != operands[0].type()) {
      invalid(reader_, messages::kOperandTypes);
      return false;
    }
  }
  if (op == ComparisonOperator::kBetween && reversed(operands[0], operands[1])) {
    reader_.fail(Code::kValidation, messages::kReversedRange);
    return false;
  }
  return true;
}

std::string LegacyTranslator::comparison(std::string_view attribute, const Comparison& comparison) {
  if (!check(comparison)) return {};
  const std::string path = name(attribute);
  std::vector<std::string> operands;
  for (const AttributeValue& operand : *comparison.list) operands.push_back(value(operand));
  switch (*comparison.op) {
    case ComparisonOperator::kNull:
      return fmt::format("attribute_not_exists({})", path);
    case ComparisonOperator::kNotNull:
      return fmt::format("attribute_exists({})", path);
    case ComparisonOperator::kContains:
      return fmt::format("contains({}, {})", path, operands[0]);
    case ComparisonOperator::kNotContains:
      return fmt::format("(attribute_exists({0}) AND NOT contains({0}, {1}))", path, operands[0]);
    case ComparisonOperator::kBeginsWith:
      return fmt::format("begins_with({}, {})", path, operands[0]);
    case ComparisonOperator::kBetween:
      return fmt::format("{} BETWEEN {} AND {}", path, operands[0], operands[1]);
    case ComparisonOperator::kIn:
      return fmt::format("{} IN ({})", path, fmt::join(operands, ", "));
    default:
      return fmt::format("{} {} {}", path, symbol(*comparison.op), operands[0]);
  }
}

// Expected has two forms: an operator with its operands, or Value and Exists.
std::string LegacyTranslator::expectation(std::string_view attribute, Comparison& expected) {
  const auto refuse = [&](std::string_view text) {
    invalid(reader_, fmt::format(messages::kForAttribute, text, attribute));
    return std::string();
  };
  if (expected.op) {
    if (expected.exists) return refuse(messages::kExistsWithOperator);
    if (expected.value && expected.list) {
      return refuse(messages::kValueWithList);
    }
    if (expected.value) expected.list = {*expected.value};
    if (!expected.list) {
      if (!accepts_count(*expected.op, 0)) {
        return refuse(fmt::format(messages::kOperandMissing, enum_name(*expected.op)));
      }
      expected.list.emplace();
    }
    return comparison(attribute, expected);
  }
  if (expected.list) return refuse(messages::kListWithoutOperator);
  if (expected.exists == false) {
    if (expected.value) return refuse(messages::kValueOfAbsent);
    return fmt::format("attribute_not_exists({})", name(attribute));
  }
  if (!expected.value) {
    return refuse(fmt::format(messages::kValueMissing, expected.exists ? "true" : "null"));
  }
  const std::string path = name(attribute);
  return fmt::format("{} = {}", path, value(*expected.value));
}

std::string_view LegacyTranslator::joint(std::size_t count, const std::optional<Json>& combine) {
  if (!combine) return " AND ";
  std::string refusal = fmt::format(messages::kEnumSetAlone, messages::kConditionalOperatorSet);
  if (count < 2) {
    refusal = count == 0 ? messages::kOperatorAlone : messages::kOperatorOfOne;
    reader_.fail(Code::kValidation, refusal);
  }
  // The older layer lists an unknown operator with all violations; the others report only this.
  const bool known = enum_from_name<ConditionalOperator>(reader_.text(*combine)).has_value();
  if (!known && reader_.layer() != Layer::kOlder) {
    const Error error{.code = Code::kValidation, .message = std::move(refusal)};
    reader_.constraints().report_alone(worded(reader_.layer(), error).message);
  }
  return reader_.enumeration<ConditionalOperator>("ConditionalOperator", *combine) ==
                 ConditionalOperator::kOr
             ? " OR "
             : " AND ";
}

void LegacyTranslator::refuse_operator(const std::optional<Json>& combine) {
  joint(0, combine);
}

std::optional<std::string> LegacyTranslator::condition(Json expected,
                                                       const std::optional<Json>& combine) {
  static constexpr Member<Comparison> kMembers[] = {
      {"ComparisonOperator", set_enum<&Comparison::op>},
      {"AttributeValueList", set_attribute_values<&Comparison::list>},
      {"Value", set_operand<&Comparison::value>},
      {"Exists", set_boolean<&Comparison::exists>},
  };
  std::vector<std::string> parts;
  std::size_t given = 0;
  reader_.entries("Expected", expected, [&](std::string_view attribute, Json entry) {
    ++given;
    Comparison comparison;
    reader_.members(entry, kMembers, comparison);
    if (reader_.sound()) parts.push_back(expectation(attribute, comparison));
  });
  const std::string_view separator = joint(given, combine);
  if (!reader_.sound() || parts.empty()) return std::nullopt;
  return fmt::format("{}", fmt::join(parts, separator));
}

// An entry of a filter or of KeyConditions.
bool LegacyTranslator::read_comparison(Json json, Comparison& comparison) {
  static constexpr Member<Comparison> kMembers[] = {
      {"ComparisonOperator", set_enum<&Comparison::op>, true},
      {"AttributeValueList", set_attribute_values<&Comparison::list>},
  };
  reader_.members(json, kMembers, comparison);
  if (!comparison.list) comparison.list.emplace();
  return reader_.sound();
}

std::optional<std::string> LegacyTranslator::filter(std::string_view parameter, Json filter,
                                                    const std::optional<Json>& combine) {
  std::vector<std::string> parts;
  std::size_t given = 0;
  reader_.entries(parameter, filter, [&](std::string_view attribute, Json entry) {
    ++given;
    Comparison read;
    if (read_comparison(entry, read)) parts.push_back(comparison(attribute, read));
  });
  const std::string_view separator = joint(given, combine);
  if (!reader_.sound() || parts.empty()) return std::nullopt;
  return fmt::format("{}", fmt::join(parts, separator));
}

std::optional<std::string> LegacyTranslator::key_condition(Json key_conditions) {
  std::vector<std::string> parts;
  reader_.entries("KeyConditions", key_conditions, [&](std::string_view attribute, Json entry) {
    Comparison read;
    if (!read_comparison(entry, read)) return;
    switch (*read.op) {
      case ComparisonOperator::kNe:
      case ComparisonOperator::kIn:
      case ComparisonOperator::kNull:
      case ComparisonOperator::kNotNull:
      case ComparisonOperator::kContains:
      case ComparisonOperator::kNotContains:
        reader_.fail(Code::kValidation, messages::kNotIndexable);
        return;
      default:
        parts.push_back(comparison(attribute, read));
    }
  });
  if (!reader_.sound()) return std::nullopt;
  if (parts.empty() || parts.size() > 2) {
    reader_.fail(Code::kValidation, messages::kConditionCount);
    return std::nullopt;
  }
  return fmt::format("{}", fmt::join(parts, " AND "));
}

bool LegacyTranslator::check(const UpdateEntry& entry) {
  if (!entry.value) {
    if (entry.action == AttributeAction::kDelete) return true;
    invalid(reader_, messages::kActionWithoutValue);
    return false;
  }
  const AttributeType type = entry.value->type();
  const bool is_set =
      type == AttributeType::kSs || type == AttributeType::kNs || type == AttributeType::kBs;
  if (entry.action == AttributeAction::kDelete && !is_set) {
    invalid(reader_, fmt::format(messages::kDeleteOfType, type_name(type)));
    return false;
  }
  const bool addable = is_set || type == AttributeType::kN || type == AttributeType::kL;
  if (entry.action == AttributeAction::kAdd && !addable) {
    invalid(reader_, fmt::format(messages::kAddOfType, type_name(type)));
    return false;
  }
  return true;
}

void LegacyTranslator::add_update(std::string_view attribute, UpdateEntry& entry,
                                  UpdateClauses& clauses) {
  const std::string path = name(attribute);
  if (!entry.value) {
    clauses.remove.push_back(path);
    return;
  }
  const bool is_list = entry.value->is<List>();
  const std::string operand = value(std::move(*entry.value));
  if (entry.action == AttributeAction::kPut) {
    clauses.set.push_back(fmt::format("{} = {}", path, operand));
  } else if (entry.action == AttributeAction::kDelete) {
    clauses.erase.push_back(fmt::format("{} {}", path, operand));
  } else if (is_list) {
    clauses.set.push_back(fmt::format("{0} = list_append(if_not_exists({0}, {1}), {2})", path,
                                      value(List{}), operand));
  } else {
    clauses.add.push_back(fmt::format("{} {}", path, operand));
  }
}

std::optional<std::string> LegacyTranslator::update(Json attribute_updates) {
  static constexpr Member<UpdateEntry> kMembers[] = {
      {"Action", set_enum<&UpdateEntry::action>},
      {"Value", set_operand<&UpdateEntry::value>},
  };
  UpdateClauses clauses;
  reader_.entries("AttributeUpdates", attribute_updates,
                  [&](std::string_view attribute, Json json) {
                    UpdateEntry entry;
                    reader_.members(json, kMembers, entry);
                    if (reader_.sound() && check(entry)) add_update(attribute, entry, clauses);
                  });
  if (!reader_.sound()) return std::nullopt;
  std::string text;
  const auto clause = [&text](std::string_view keyword, const std::vector<std::string>& parts) {
    if (parts.empty()) return;
    if (!text.empty()) text += ' ';
    text += fmt::format("{} {}", keyword, fmt::join(parts, ", "));
  };
  clause("SET", clauses.set);
  clause("REMOVE", clauses.remove);
  clause("ADD", clauses.add);
  clause("DELETE", clauses.erase);
  if (text.empty()) return std::nullopt;
  return text;
}

std::optional<std::string> LegacyTranslator::projection(Json attributes_to_get) {
  const std::vector<std::string> attributes = reader_.texts(attributes_to_get);
  if (reader_.failed()) return std::nullopt;
  if (attributes.empty()) {
    reader_.constraints().count(0, "attributesToGet", 1, attributes.max_size());
    return std::nullopt;
  }
  std::set<std::string_view> seen;
  std::vector<std::string> paths;
  for (const std::string& attribute : attributes) {
    if (!seen.insert(attribute).second) {
      invalid(reader_, fmt::format(messages::kAttributeTwice, attribute));
      return std::nullopt;
    }
    paths.push_back(name(attribute));
  }
  return fmt::format("{}", fmt::join(paths, ", "));
}

}  // namespace stator::wire
