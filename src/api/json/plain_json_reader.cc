// SPDX-License-Identifier: Apache-2.0
// Reads an item from plain JSON. Numbers are parsed from the text, so that none is rounded.
#include <utility>

#include "api/json/item_json.h"
#include "simdjson.h"

namespace stator::wire {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr int kDepthMax = 32;  // levels of objects and arrays, as in an item

Failure no_json(std::string_view problem) {
  return fail(Code::kInvalidArgument, "not a JSON object: " + std::string(problem));
}

Result<Number> number_of(std::string_view token) {
  while (!token.empty() && static_cast<unsigned char>(token.back()) <= ' ') token.remove_suffix(1);
  const auto number = Number::parse(token);
  if (!number) return no_json(number.error().message);
  return *number;
}

template <class JsonValue>
Result<AttributeValue> value_of(JsonValue& json, int depth);

Result<Map> map_of(ondemand::object object, int depth) {
  if (depth > kDepthMax) return no_json("more than 32 levels");
  Map map;
  for (auto field : object) {
    std::string_view name;
    if (field.unescaped_key().get(name) != simdjson::SUCCESS) return no_json("a broken name");
    std::string kept(name);
    ondemand::value value;
    if (field.value().get(value) != simdjson::SUCCESS) return no_json("a broken value");
    STATOR_ASSIGN_OR_RETURN(AttributeValue member, value_of(value, depth));
    map.insert_or_assign(std::move(kept), std::move(member));
  }
  return map;
}

Result<List> list_of(ondemand::array array, int depth) {
  if (depth > kDepthMax) return no_json("more than 32 levels");
  List list;
  for (auto element : array) {
    ondemand::value value;
    if (element.get(value) != simdjson::SUCCESS) return no_json("a broken value");
    STATOR_ASSIGN_OR_RETURN(AttributeValue member, value_of(value, depth));
    list.push_back(std::move(member));
  }
  return list;
}

template <class JsonValue>
Result<AttributeValue> value_of(JsonValue& json, int depth) {
  ondemand::json_type type{};
  if (const auto error = json.type().get(type)) return no_json(simdjson::error_message(error));
  switch (type) {
    case ondemand::json_type::object: {
      ondemand::object object;
      if (json.get_object().get(object) != simdjson::SUCCESS) break;
      STATOR_ASSIGN_OR_RETURN(Map map, map_of(object, depth + 1));
      return AttributeValue(std::move(map));
    }
    case ondemand::json_type::array: {
      ondemand::array array;
      if (json.get_array().get(array) != simdjson::SUCCESS) break;
      STATOR_ASSIGN_OR_RETURN(List list, list_of(array, depth + 1));
      return AttributeValue(std::move(list));
    }
    case ondemand::json_type::number: {
      std::string_view token;
      if (simdjson::simdjson_result<std::string_view>(json.raw_json_token()).get(token) !=
          simdjson::SUCCESS) {
        break;
      }
      STATOR_ASSIGN_OR_RETURN(const Number number, number_of(token));
      return AttributeValue(number);
    }
    case ondemand::json_type::string: {
      std::string_view text;
      if (json.get_string().get(text) != simdjson::SUCCESS) break;
      return AttributeValue(std::string(text));
    }
    case ondemand::json_type::boolean: {
      bool boolean = false;
      if (json.get_bool().get(boolean) != simdjson::SUCCESS) break;
      return AttributeValue(boolean);
    }
    case ondemand::json_type::null: {
      bool null = false;
      if (json.is_null().get(null) != simdjson::SUCCESS || !null) break;
      return AttributeValue(Null{});
    }
  }
  return no_json("a broken value");
}

}  // namespace

Result<Item> item_from_plain_json(std::string_view json) {
  thread_local ondemand::parser parser;
  const simdjson::padded_string padded(json);
  ondemand::document document;
  if (const auto error = parser.iterate(padded).get(document)) {
    return no_json(simdjson::error_message(error));
  }
  ondemand::object object;
  if (const auto error = document.get_object().get(object)) {
    return no_json(simdjson::error_message(error));
  }
  STATOR_ASSIGN_OR_RETURN(Map map, map_of(object, 1));
  if (document.current_location().error() != simdjson::OUT_OF_BOUNDS)
    return no_json("something follows it");
  return Item(std::move(map));
}

}  // namespace stator::wire
