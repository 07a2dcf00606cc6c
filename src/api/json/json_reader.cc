// SPDX-License-Identifier: Apache-2.0
#include "api/json/json_reader.h"

#include "api/model/messages.h"
#include "api/model/table_name.h"
#include "api/model/utf8.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "fmt/format.h"

namespace stator::wire {
namespace {

// A parser keeps buffers several times as large as its largest text. So each larger text gets its
// own parser.
constexpr std::size_t kKeptParserBytesMax = 64UL * 1024;

std::string_view token_name(Json json) {
  switch (json.type()) {
    case simdjson::dom::element_type::STRING:
      return "STRING_VALUE";
    case simdjson::dom::element_type::BOOL:
      return json.get_bool().value_unsafe() ? "TRUE_VALUE" : "FALSE_VALUE";
    case simdjson::dom::element_type::DOUBLE:
      return "DECIMAL_VALUE";
    default:
      return "NUMBER_VALUE";
  }
}

// The model's name for an element of a list or a map.
std::string element_shape(std::string_view member) {
  constexpr std::pair<std::string_view, std::string_view> kShapes[] = {
      {"KeySchema", "KeySchemaElement"},
      {"Expected", "ExpectedAttributeValue"},
      {"AttributeUpdates", "AttributeValueUpdate"},
      {"KeyConditions", "Condition"},
      {"QueryFilter", "Condition"},
      {"ScanFilter", "Condition"},
      {"LocalSecondaryIndexes", "LocalSecondaryIndex"},
      {"GlobalSecondaryIndexes", "GlobalSecondaryIndex"},
      {"GlobalSecondaryIndexUpdates", "GlobalSecondaryIndexUpdate"},
      {"AttributeDefinitions", "AttributeDefinition"},
      {"Tags", "Tag"},
      {"TransactItems", "TransactItem"},
      {"RequestItems", "KeysAndAttributes"},
  };
  for (const auto& [list, shape] : kShapes) {
    if (list == member) return std::string(shape);
  }
  return "AttributeValue";
}

std::string map_of(std::string_view member) {
  if (member == "ExpressionAttributeNames")
    return fmt::format(messages::kListForMap, "java.lang.String");
  return fmt::format(messages::kListForMap,
                     "com.amazonaws.dynamodb.v20120810." + element_shape(member));
}

std::string lower_first(std::string_view name) {
  std::string lower(name);
  if (!lower.empty() && lower[0] >= 'A' && lower[0] <= 'Z') {
    lower[0] = static_cast<char>(lower[0] - 'A' + 'a');
  }
  return lower;
}

}  // namespace

Result<Document> Document::parse(std::string_view text) {
  thread_local simdjson::dom::parser kept_parser;
  Document document;
  simdjson::dom::parser* parser = &kept_parser;
  if (text.size() > kKeptParserBytesMax) {
    document.own_parser_ = std::make_unique<simdjson::dom::parser>();
    parser = document.own_parser_.get();
  }
  const auto error = parser->parse(text.data(), text.size()).get(document.root_);
  if (error != simdjson::SUCCESS)
    return fail(Code::kSerialization, "");  // DynamoDB sends no message
  return document;
}

void Reader::fail(Code code, std::string message) {
  fail(Error{.code = code, .message = std::move(message)});
}

void Reader::fail(Error error) {
  if (error.code != Code::kValidation) {
    if (!error_) error_ = std::move(error);
  } else if (!invalid_ || stage_ < invalid_stage_) {
    invalid_ = std::move(error);
    invalid_stage_ = stage_;
  }
}

Result<void> Reader::result() const {
  if (error_) return Failure(*error_);
  STATOR_RETURN_IF_ERROR(constraints_.result());
  if (invalid_) return Failure(worded(layer_, *invalid_));
  return {};
}

void Reader::wrong_type(Json json, std::string_view wanted) {
  if (json.is_array()) {
    return fail(Code::kSerialization, fmt::format(messages::kListForScalar, wanted));
  }
  if (json.is_object()) return fail(Code::kSerialization, messages::kStructureUnexpected);
  fail(Code::kSerialization, fmt::format(messages::kConversion, token_name(json), wanted));
}

bool Reader::list(Json json, simdjson::dom::array& array) {
  if (failed()) return false;
  if (json.get_array().get(array) == simdjson::SUCCESS) return true;
  fail(Code::kSerialization,
       json.is_object() ? messages::kStructureUnexpected : messages::kScalarForCollection);
  return false;
}

// The error depends on whether the structure is an element of a list or map, or a member's value.
bool Reader::structure(Json json, simdjson::dom::object& object) {
  const std::string_view list = std::exchange(element_of_, {});
  if (failed()) return false;
  if (json.get_object().get(object) == simdjson::SUCCESS) return true;
  if (!json.is_array()) {
    fail(Code::kSerialization,
         list.empty() ? messages::kScalarForCollection : messages::kScalarForValue);
  } else if (list.empty() && member_.empty()) {
    fail(Code::kSerialization, messages::kListForBody);
  } else {
    fail(Code::kSerialization,
         fmt::format(messages::kListForStructure,
                     list.empty() ? std::string(member_) : element_shape(list)));
  }
  return false;
}

bool Reader::map(Json json, simdjson::dom::object& object) {
  element_of_ = {};
  if (failed()) return false;
  if (json.get_object().get(object) == simdjson::SUCCESS) return true;
  if (json.is_array()) {
    fail(Code::kSerialization, map_of(member_));
  } else {
    fail(Code::kSerialization, messages::kScalarForCollection);
  }
  return false;
}

std::string Reader::text(Json json) {
  std::string_view text;
  if (json.get_string().get(text) != simdjson::SUCCESS) wrong_type(json, "String");
  return std::string(text);
}

std::vector<std::string> Reader::texts(Json json) {
  std::vector<std::string> texts;
  simdjson::dom::array array;
  if (!list(json, array)) return texts;
  for (const Json element : array) {
    texts.push_back(text(element));
    if (failed()) break;
  }
  return texts;
}

bool Reader::boolean(Json json) {
  bool value = false;
  if (json.get_bool().get(value) == simdjson::SUCCESS) return value;
  std::string_view text;
  if (json.get_string().get(text) != simdjson::SUCCESS) {
    wrong_type(json, "Boolean");
    return value;
  }
  // DynamoDB also accepts these strings as booleans.
  const auto is = [text](std::string_view word) {
    return std::ranges::equal(text, word, [](char a, char b) {
      return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
    });
  };
  if (is("true") || is("1") || is("yes")) return true;
  if (!is("false") && !is("0") && !is("no")) fail(Code::kSerialization, messages::kNoBoolean);
  return false;
}

int64_t Reader::integer(Json json, std::string_view type) {
  int64_t value = 0;
  double real = 0;
  if (json.get_int64().get(value) != simdjson::SUCCESS) {
    // Fractions are truncated, as in DynamoDB.
    const bool fits = json.is_double() && json.get_double().get(real) == simdjson::SUCCESS &&
                      real > -9e18 && real < 9e18;
    if (!fits) {
      wrong_type(json, type);
      return 0;
    }
    value = static_cast<int64_t>(real);
  }
  if (type == "Integer" && (value > std::numeric_limits<int32_t>::max() ||
                            value < std::numeric_limits<int32_t>::min())) {
    wrong_type(json, type);
    return 0;
  }
  return value;
}

double Reader::real(Json json) {
  double value = 0;
  if (json.get_double().get(value) != simdjson::SUCCESS) wrong_type(json, "Double");
  return value;
}

// Ends reading, and has precedence over invalid values: the request cannot succeed.
void Reader::refuse_member() {
  if (error_) return;
  error_ =
      Error{.code = Code::kValidation, .message = fmt::format(messages::kNotSupported, member_)};
}

int64_t Reader::time_ms(Json json) {
  constexpr double kSecondsMax = 1e11;
  return std::llround(std::clamp(real(json), -kSecondsMax, kSecondsMax) * 1000);
}

std::string Reader::managed_table_name(Json json) {
  std::string name = text(json);
  if (name.empty() && !failed()) constraints_.resource_name(name, path_to(member_));
  return std::string(table_name_in(name));
}

std::string Reader::table_name(Json json) {
  std::string name = text(json);
  if (name.empty() && !failed()) {
    std::string constraint = fmt::format(messages::kLengthAtLeast, 1);
    const std::string current = layer_ == Layer::kOlder ? ""
                                                        : fmt::format(messages::kUnquotedViolation,
                                                                      "TableName", constraint);
    constraints_.violated(name, path_to(member_), constraint, current);
  }
  return std::string(table_name_in(name));
}

std::string Reader::path_to(std::string_view member) const {
  std::string path = path_;
  if (!path.empty()) path.push_back('.');
  return path + lower_first(member);
}

std::size_t Reader::enter(std::string_view member) {
  const std::size_t outer = path_.size();
  if (!member.empty()) path_ = path_to(member);
  member_ = {};
  return outer;
}

std::size_t Reader::enter_numbered(std::size_t place) {
  return enter_entry(std::to_string(place));
}

std::size_t Reader::enter_entry(std::string_view name) {
  const std::size_t outer = path_.size();
  if (!path_.empty()) path_.push_back('.');
  path_.append(name).append(".member");
  member_ = {};
  return outer;
}

std::vector<Item> Reader::items(Json json) {
  std::vector<Item> items;
  simdjson::dom::array array;
  if (!list(json, array)) return items;
  for (const Json element : array) {
    if (!element.is_object() && !element.is_array()) {
      fail(Code::kSerialization, messages::kScalarForNestedCollection);
    } else {
      items.push_back(item(element));
    }
    if (failed()) break;
  }
  return items;
}

std::string enum_constraint(std::string_view values) {
  return fmt::format(messages::kEnumSet, values);
}

}  // namespace stator::wire
