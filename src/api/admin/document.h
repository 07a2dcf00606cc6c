// SPDX-License-Identifier: Apache-2.0
// Administrative requests and answers as documents: maps of members, checked by a table of shapes.
//
// A document holds texts, booleans, numbers, lists and maps, as the API's JSON does; a time is its
// Unix milliseconds. What a request's document holds is of the types that its shape says, its
// required members are there, and its constraints hold: whoever executes it checks no more of that.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

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
    kStructure,
    kAnything
  };

  // kTable: a table's name or ARN, of which the document holds the name. kAnything: any JSON.
  Kind kind = Kind::kText;
  // Of a text's length in characters, a number's value, a list's count.
  int64_t least = std::numeric_limits<int64_t>::min();
  int64_t most = std::numeric_limits<int64_t>::max();
  std::string_view pattern = {};  // as the service prints it
  bool (*matches)(std::string_view) = nullptr;
  std::span<const std::string_view> values = {};  // of an enumeration
  const Shape* element = nullptr;
  std::span<const MemberShape> members = {};
};

struct MemberShape {
  std::string_view name;
  const Shape* shape;
  bool required = false;
};

namespace wire {

// kSerialization for what is no JSON or of another JSON type, kValidation for violated constraints,
// gathered into one message. Members that the shape does not have are left out.
Result<Item> read_document(std::string_view json, const Shape& shape);
std::string document_to_json(const Item& document);
bool is_json(std::string_view text);

}  // namespace wire

// ---- Members of a document whose shape says that they are there, or empty values.

std::string text_of(const Item& document, std::string_view member);
std::int64_t integer_of(const Item& document, std::string_view member, int64_t otherwise = 0);
bool boolean_of(const Item& document, std::string_view member);
const List& list_of(const Item& document, std::string_view member);
const Item& map_of(const Item& document, std::string_view member);
const Item& as_map(const AttributeValue& value);
const std::string& as_text(const AttributeValue& value);
// A time as the API's JSON has it: seconds since 1970.
AttributeValue seconds(int64_t unix_ms);

}  // namespace stator
