// SPDX-License-Identifier: Apache-2.0
#include "partiql/values.h"

#include <algorithm>

#include "api/model/messages.h"
#include "api/validation/attribute_check.h"
#include "partiql/messages.h"
#include "partiql/refusal.h"

namespace stator::partiql {
namespace {

// The name of a term that is not a value, for messages.
std::string called(const Term& term) {
  switch (term.kind) {
    case TermKind::kPath:
      return term.path.size() == 1 ? term.text : "PATH";
    case TermKind::kParameter:
      return "Parameter";
    case TermKind::kMissing:
      return "MISSING";
    case TermKind::kIon:
      return "ION";
    case TermKind::kIs:
      return "is";
    default:
      return term.text;
  }
}

Result<Number> number_of(const Term& term, const std::string& key) {
  auto number = Number::parse(term.text);
  if (!number) return refused("{} under {}", number.error().message, key);
  return number;
}

Result<AttributeValue> literal(const Term& term, const std::string& key, int depth);

Result<AttributeValue> bag(const Term& term, const std::string& key) {
  if (term.parts.empty()) return refused(message::kEmptyBag);
  const TermKind kind = term.parts.front().kind;
  std::vector<std::string> texts;
  std::vector<Number> numbers;
  for (const Term& part : term.parts) {
    if (part.kind != kind || (kind != TermKind::kString && kind != TermKind::kNumber)) {
      return refused(message::kBagType, to_string(part.at));
    }
    if (kind == TermKind::kString) {
      texts.push_back(part.text);
    } else {
      STATOR_ASSIGN_OR_RETURN(const Number number, number_of(part, key));
      numbers.push_back(number);
    }
  }
  if (kind == TermKind::kString) {
    StringSet set(std::move(texts));
    if (set.has_duplicates()) {
      return fail(Code::kValidation, duplicate_strings(set.elements(), Layer::kOlder));
    }
    return AttributeValue(std::move(set));
  }
  return AttributeValue(NumberSet(std::move(numbers)));
}

Result<Map> map_of(const Term& term, const std::string& key, int depth) {
  Map map;
  for (std::size_t i = 0; i + 1 < term.parts.size(); i += 2) {
    const Term& name = term.parts[i];
    if (name.kind != TermKind::kString) {
      const bool variable = name.kind == TermKind::kPath;
      return refused(message::kTupleKey, variable ? "VariableReference" : called(name), key,
                     to_string(name.at));
    }
    STATOR_ASSIGN_OR_RETURN(AttributeValue value,
                            literal(term.parts[i + 1], key + "." + name.text, depth));
    if (!map.emplace(name.text, std::move(value)).second) {
      return refused(message::kDuplicateTupleKey, name.text, key, to_string(name.at));
    }
  }
  return map;
}

// `key` is the position within the value, for messages: "root.a[1]".
Result<AttributeValue> literal(const Term& term, const std::string& key, int depth) {
  if (depth > kValueNestingMax) return refused(messages::kValueNestedTooDeeply);
  switch (term.kind) {
    case TermKind::kString:
      return AttributeValue(term.text);
    case TermKind::kNumber: {
      STATOR_ASSIGN_OR_RETURN(const Number number, number_of(term, key));
      return AttributeValue(number);
    }
    case TermKind::kBoolean:
      return AttributeValue(term.text == "true");
    case TermKind::kNull:
      return AttributeValue(nullptr);
    case TermKind::kList: {
      List list;
      for (const Term& part : term.parts) {
        STATOR_ASSIGN_OR_RETURN(AttributeValue value,
                                literal(part, fmt::format("{}[{}]", key, list.size()), depth + 1));
        list.push_back(std::move(value));
      }
      return AttributeValue(std::move(list));
    }
    case TermKind::kBag:
      return bag(term, key);
    case TermKind::kStruct: {
      STATOR_ASSIGN_OR_RETURN(Map map, map_of(term, key, depth + 1));
      return AttributeValue(std::move(map));
    }
    case TermKind::kIon:
      return refused(message::kIonLiteral, key, to_string(term.at));
    case TermKind::kPath:
      if (key != "root") {
        return refused(message::kDataType, "VariableReference", key, to_string(term.at));
      }
      break;
    default:
      break;
  }
  return refused(message::kDataType, called(term), key, to_string(term.at));
}

}  // namespace

bool is_value(const Term& term) {
  switch (term.kind) {
    case TermKind::kString:
    case TermKind::kNumber:
    case TermKind::kBoolean:
    case TermKind::kNull:
    case TermKind::kIon:
    case TermKind::kParameter:
    case TermKind::kList:
    case TermKind::kBag:
    case TermKind::kStruct:
      return true;
    default:
      return false;
  }
}

Result<AttributeValue> value_of(const Term& term, const std::vector<AttributeValue>& parameters) {
  if (term.kind == TermKind::kParameter) return parameters[term.index];
  STATOR_ASSIGN_OR_RETURN(AttributeValue value, literal(term, "root", 0));
  STATOR_RETURN_IF_ERROR(check_value(value));
  return value;
}

Result<Item> item_of(const Term& term, const std::vector<AttributeValue>& parameters) {
  if (term.kind != TermKind::kStruct) return refused(message::kItemFormat, to_string(term.at));
  Item item;
  for (std::size_t i = 0; i + 1 < term.parts.size(); i += 2) {
    const Term& name = term.parts[i];
    if (name.kind != TermKind::kString) {
      const bool variable = name.kind == TermKind::kPath;
      return refused(message::kTupleKey, variable ? "VariableReference" : called(name), "root",
                     to_string(name.at));
    }
    if (name.text.empty()) return refused(message::kEmptyPathPart);
    STATOR_ASSIGN_OR_RETURN(AttributeValue value, value_of(term.parts[i + 1], parameters));
    if (!item.emplace(name.text, std::move(value)).second) {
      return refused(message::kDuplicateTupleKey, name.text, "root", to_string(name.at));
    }
  }
  return item;
}

}  // namespace stator::partiql
