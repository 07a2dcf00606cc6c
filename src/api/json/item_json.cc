// SPDX-License-Identifier: Apache-2.0
// Reads and writes items as DynamoDB JSON, and writes them as plain JSON.
#include <variant>

#include "api/json/item_json.h"
#include "api/json/json_reader.h"
#include "api/json/json_writer.h"

namespace stator::wire {
namespace {

void write_plain(JsonWriter& json, const Map& map);

struct PlainWriter {
  JsonWriter& json;
  void operator()(const std::string& text) const { json.text(text); }
  void operator()(const Number& number) const { json.number(number); }
  void operator()(const Binary& binary) const { json.base64(binary.bytes); }
  void operator()(bool boolean) const { json.boolean(boolean); }
  void operator()(const Null&) const { json.null(); }
  void operator()(const Map& map) const { write_plain(json, map); }
  void operator()(const List& list) const {
    json.array(list, [&](const AttributeValue& value) { std::visit(*this, value.variant()); });
  }
  template <class T>
  void operator()(const SetOf<T>& set) const {
    json.array(set.elements(), *this);
  }
};

void write_plain(JsonWriter& json, const Map& map) {
  json.entries(
      map, [&](const AttributeValue& value) { std::visit(PlainWriter{json}, value.variant()); });
}

}  // namespace

std::string item_to_json(const Item& item) {
  JsonWriter json;
  json.item(item);
  return std::move(json).finish();
}

Result<Item> item_from_json(std::string_view json) {
  STATOR_ASSIGN_OR_RETURN(const Document document, Document::parse(json));
  Reader reader;
  Item item = reader.item(document.root());
  STATOR_RETURN_IF_ERROR(reader.result());
  return item;
}

namespace {

Result<PutItemRequest> read_exported(std::string_view json, bool with_condition) {
  const auto document = Document::parse(json);
  if (!document) return fail(Code::kCorruption, "not valid JSON");
  const auto root = document->root();
  simdjson::dom::element member;
  if (root["Item"].get(member) != simdjson::SUCCESS) {
    return fail(Code::kSerialization, "the member 'Item' is missing");
  }
  Reader reader;
  PutItemRequest put{.table = {}, .item = reader.item(member)};
  if (with_condition) {
    const auto has = [&](std::string_view name) {
      return root[name].get(member) == simdjson::SUCCESS;
    };
    if (has("ConditionExpression")) put.condition = reader.text(member);
    if (has("ExpressionAttributeNames")) put.names = reader.names(member);
    if (has("ExpressionAttributeValues")) put.values = reader.values(member);
  }
  STATOR_RETURN_IF_ERROR(reader.result());
  return put;
}

}  // namespace

Result<PutItemRequest> exported_item_from_json(std::string_view json) {
  return read_exported(json, /*with_condition=*/false);
}

Result<PutItemRequest> exported_put_from_json(std::string_view json) {
  return read_exported(json, /*with_condition=*/true);
}

std::string item_to_plain_json(const Item& item) {
  JsonWriter json;
  write_plain(json, item);
  return std::move(json).finish();
}

}  // namespace stator::wire
