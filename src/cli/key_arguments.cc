// SPDX-License-Identifier: Apache-2.0
#include "cli/key_arguments.h"

#include <algorithm>
#include <utility>

#include "api/model/base64.h"
#include "api/model/enums.h"

namespace stator::cli {
namespace {

ScalarType type_of(const TableDescription& table, const std::string& attribute) {
  const auto found = std::ranges::find(table.attributes, attribute, &AttributeDefinition::name);
  return found == table.attributes.end() ? ScalarType::kS : found->type;
}

}  // namespace

Result<AttributeValue> key_value(const TableDescription& table, const std::string& attribute,
                                 const std::string& text) {
  switch (type_of(table, attribute)) {
    case ScalarType::kN: {
      const auto number = Number::parse(text);
      if (number) return AttributeValue(*number);
      return fail(Code::kInvalidArgument,
                  "'" + text + "' is not a number, as the key attribute " + attribute + " is");
    }
    case ScalarType::kB: {
      auto bytes = wire::from_base64(text);
      if (bytes) return AttributeValue(Binary{std::move(*bytes)});
      return fail(Code::kInvalidArgument,
                  "'" + text + "' is not base64, as the key attribute " + attribute + " needs");
    }
    case ScalarType::kS:
      break;
  }
  return AttributeValue(text);
}

Result<Item> primary_key(const TableDescription& table, const std::vector<std::string>& values) {
  if (values.size() != table.key_schema.size()) {
    return fail(Code::kInvalidArgument, "the key of table '" + table.table + "' is " +
                                            key_text(table, table.key_schema) + "; give " +
                                            std::to_string(table.key_schema.size()) +
                                            (table.key_schema.size() == 1 ? " value" : " values"));
  }
  Item key;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string& name = table.key_schema[i].name;
    STATOR_ASSIGN_OR_RETURN(AttributeValue value, key_value(table, name, values[i]));
    key.emplace(name, std::move(value));
  }
  return key;
}

std::string key_text(const TableDescription& table, const KeySchema& schema) {
  std::string text;
  for (const KeySchemaElement& element : schema) {
    text += (text.empty() ? "" : ", ") + element.name + " (" +
            std::string(wire::enum_name(type_of(table, element.name))) + ")";
  }
  return text;
}

}  // namespace stator::cli
