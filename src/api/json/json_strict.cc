// SPDX-License-Identifier: Apache-2.0
#include "api/json/json_strict.h"

#include <string>

#include "api/json/json_reader.h"

namespace stator::wire {
namespace {

constexpr int kStrictDepthMax = 32;

Result<AttributeValue> read_strictly(Json json, int depth) {
  if (depth == kStrictDepthMax) {
    return fail(Code::kInvalidArgument, "the JSON is nested too deeply");
  }
  std::string_view text;
  bool boolean = false;
  int64_t integer = 0;
  uint64_t large = 0;
  double real = 0;
  simdjson::dom::array array;
  if (json.get(text) == simdjson::SUCCESS) return std::string(text);
  if (json.get(boolean) == simdjson::SUCCESS) return boolean;
  if (json.get(integer) == simdjson::SUCCESS) return Number(integer);
  if (json.get(large) == simdjson::SUCCESS) return Number(large);
  if (json.get(real) == simdjson::SUCCESS) {
    STATOR_ASSIGN_OR_RETURN(Number number, Number::from_double(real));
    return number;
  }
  if (json.get(array) == simdjson::SUCCESS) {
    List list;
    for (const Json element : array) {
      STATOR_ASSIGN_OR_RETURN(AttributeValue value, read_strictly(element, depth + 1));
      list.push_back(std::move(value));
    }
    return list;
  }
  simdjson::dom::object object;
  if (json.get(object) != simdjson::SUCCESS) return Null{};
  Item map;
  for (const auto [name, member] : object) {
    STATOR_ASSIGN_OR_RETURN(AttributeValue value, read_strictly(member, depth + 1));
    if (!map.emplace(std::string(name), std::move(value)).second) {
      return fail(Code::kInvalidArgument, "member '" + std::string(name) + "' is repeated");
    }
  }
  return map;
}

}  // namespace

Result<Item> read_strict_object(std::string_view json) {
  const auto parsed = Document::parse(json);
  if (!parsed || !parsed->root().is_object()) {
    return fail(Code::kInvalidArgument, "the text is not a JSON object");
  }
  STATOR_ASSIGN_OR_RETURN(AttributeValue value, read_strictly(parsed->root(), 0));
  return std::move(*value.get_if<Item>());
}

}  // namespace stator::wire
