// SPDX-License-Identifier: Apache-2.0
// Administrative requests and responses as documents: maps of members, checked by a table of
// shapes.
//
// A document contains strings, booleans, numbers, lists and maps, like the API's JSON; times are
// Unix milliseconds. After reading a request, its types, required members and constraints are
// valid, so the code that executes it need not check them again.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "api/json/document_writer.h"
#include "stator/value.h"

namespace stator {

struct MemberShape;

struct Shape {
  enum class Kind {
    kText,
    kTable,
    kBoolean,
    kInteger,
    kLong,
    kReal,
    kTime,
    kList,
    kMap,
    kStructure,
    kAnything
  };

  // kTable: a table's name or ARN; the document contains the name. kAnything: any JSON.
  Kind kind = Kind::kText;
  // Bounds of a string's length in characters, a number's value, or a list's count.
  int64_t least = std::numeric_limits<int64_t>::min();
  int64_t most = std::numeric_limits<int64_t>::max();
  std::string_view pattern = {};  // as in DynamoDB's messages
  bool (*matches)(std::string_view) = nullptr;
  std::span<const std::string_view> values = {};  // of an enumeration
  const Shape* element = nullptr;                 // of a list or a map
  std::span<const MemberShape> members = {};
};

struct MemberShape {
  std::string_view name;
  const Shape* shape;
  bool required = false;
};

namespace wire {

// Omits members that the shape does not have. Errors: kSerialization for malformed JSON and wrong
// JSON types; kValidation with one message for all violated constraints.
Result<Item> read_document(std::string_view json, const Shape& shape);
std::string document_to_json(const Item& document);
bool is_json(std::string_view text);

}  // namespace wire

// ---- Members of a document, or empty values if they are absent. The shape determines their types.

std::string text_of(const Item& document, std::string_view member);
std::int64_t integer_of(const Item& document, std::string_view member, int64_t otherwise = 0);
bool boolean_of(const Item& document, std::string_view member);
const List& list_of(const Item& document, std::string_view member);
const Item& map_of(const Item& document, std::string_view member);
const Item& as_map(const AttributeValue& value);
const std::string& as_text(const AttributeValue& value);

}  // namespace stator
