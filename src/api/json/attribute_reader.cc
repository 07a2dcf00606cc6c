// SPDX-License-Identifier: Apache-2.0
// Attribute values from DynamoDB JSON: {"S": "text"}, {"L": [{"N": "1"}]}.
#include <algorithm>
#include <charconv>
#include <limits>
#include <memory>

#include "api/json/json_reader.h"
#include "api/model/base64.h"
#include "api/model/messages.h"
#include "api/validation/attribute_check.h"
#include "base/ascii.h"
#include "expression/messages.h"
#include "fmt/format.h"
#include "value/number_errors.h"

namespace stator::wire {
namespace {

// Limit for reserving memory before the elements of a list are checked. Longer lists grow.
constexpr std::size_t kReservedElementsMax = 1024;

// The older layer reads numbers as Java's BigDecimal does. An exponent that has more than 32 bits,
// with or without the digits after the point, is not a number. The sum of the digits and a large
// exponent overflows, so the number counts as a small one. `error`: that of Number::parse().
Error older_number_error(std::string_view text, Error error) {
  constexpr int64_t kMin = std::numeric_limits<int32_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  constexpr int64_t kDigitsMax = 38;
  const std::size_t mark = std::min(text.find_first_of("eE"), text.size());
  const std::string_view digits = text.substr(0, mark);
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const auto counted = [](std::string_view part) {
    return static_cast<int64_t>(std::ranges::count_if(part, is_ascii_digit));
  };
  const std::size_t first = std::min(digits.find_first_of("123456789"), digits.size());
  const int64_t significant = std::max<int64_t>(counted(digits.substr(first)), 1);
  std::string_view power = text.substr(std::min(mark + 1, text.size()));
  if (power.starts_with('+')) power.remove_prefix(1);
  int64_t exponent = 0;
  const char* const end = std::to_address(power.end());
  const auto read = std::from_chars(std::to_address(power.begin()), end, exponent);
  if (read.ec != std::errc() || read.ptr != end) return error;
  if (exponent < kMin || exponent > kMax) return not_a_number(text).error();
  const int64_t scaled = exponent - counted(digits.substr(point));
  if (scaled < -kMax || scaled > -kMin) return not_a_number(text).error();
  const bool is_number = error.message != not_a_number(text).error().message;
  const bool wraps = significant <= kDigitsMax && significant + scaled > kMax;
  return is_number && wraps ? number_underflow().error() : error;
}

}  // namespace

AttributeValue Reader::value(Json json) {
  AttributeValue value = value_at(json, 0);
  if (nested_name_) fail(*std::exchange(nested_name_, std::nullopt));
  return value;
}

Item Reader::item(Json json) {
  Item item = item_at(json, 0);
  if (nested_name_) fail(*std::exchange(nested_name_, std::nullopt));
  return item;
}

bool Reader::too_deep(int depth) {
  if (depth <= kValueNestingMax) return false;
  fail(Code::kValidation, messages::kValueNestedTooDeeply);
  return true;
}

Item Reader::item_at(Json json, int depth) {
  Item item;
  simdjson::dom::object object;
  if (!map(json, object)) return item;
  for (const auto [name, attribute] : object) {
    if (auto checked = check_attribute_name(name); !checked) {
      if (depth == 0) {
        fail(std::move(checked).error());
      } else if (!nested_name_) {
        nested_name_ = std::move(checked).error();
      }
    }
    AttributeValue read = value_at(attribute, depth);
    if (failed()) break;
    // Most clients write names in order, or nearly so.
    if (item.empty() || item.rbegin()->first < std::string_view(name)) {
      item.emplace_hint(item.end(), std::string(name), std::move(read));
    } else {
      item.insert_or_assign(std::string(name), std::move(read));
    }
  }
  return item;
}

Names Reader::names(Json json) {
  Names names;
  simdjson::dom::object object;
  if (!map(json, object)) return names;
  for (const auto [placeholder, name] : object) {
    if (name.is_null()) {
      const At at(*this, Stage::kExpressions);
      fail(Code::kValidation,
           fmt::format(expression::message::kNullName, std::string_view(placeholder)));
      continue;
    }
    names.insert_or_assign(std::string(placeholder), text(name));
    if (failed()) break;
  }
  return names;
}

Values Reader::values(Json json) {
  Values values;
  simdjson::dom::object object;
  if (!map(json, object)) return values;
  for (const auto [name, value] : object) {
    within(
        Stage::kExpressions,
        [&] { values.insert_or_assign(std::string(name), this->value(value)); },
        [&](const std::string& message) {
          if (layer_ != Layer::kOlder) return message;
          return fmt::format(messages::kInvalidExpressionValue, message, std::string_view(name));
        });
    if (failed()) break;
  }
  return values;
}

Item Reader::start_key(Json json) {
  Item key;
  within(
      Stage::kStartKey, [&] { key = item(json); },
      [this](const std::string& message) {
        if (layer_ != Layer::kOlder) return message;
        return fmt::format(messages::kStartKeyWith, message);
      });
  return key;
}

AttributeValue Reader::member_value(Json json) {
  if (json.is_object() || json.is_array() || json.is_null()) return value(json);
  fail(Code::kSerialization, messages::kScalarForCollection);
  return {};
}

AttributeValue Reader::value_at(Json json, int depth) {
  simdjson::dom::object object;
  std::optional<AttributeValue> value;
  if (json.is_null() || failed()) {
    fail(Code::kValidation, messages::kEmptyValue);
    return {};
  }
  element_of_ = "Item";
  if (!structure(json, object)) return {};
  for (const auto [name, content] : object) {
    const std::optional<AttributeType> type = type_from_name(name);
    if (!type || content.is_null()) continue;
    if (value) {
      fail(Code::kValidation, messages::kManyTypes);
      return {};
    }
    value = typed_value(*type, content, depth);
    if (failed()) return {};
  }
  if (!value) {
    fail(Code::kValidation, messages::kEmptyValue);
    return {};
  }
  return std::move(*value);
}

AttributeValue Reader::typed_value(AttributeType type, Json json, int depth) {
  switch (type) {
    case AttributeType::kS:
      return text(json);
    case AttributeType::kN:
      return number(json);
    case AttributeType::kB:
      return Binary{binary(json)};
    case AttributeType::kBool:
      return boolean(json);
    case AttributeType::kNull:
      if (!boolean(json)) fail(Code::kValidation, messages::kFalseNull);
      return Null{};
    case AttributeType::kSs:
      return string_set(json);
    case AttributeType::kNs:
      return number_set(json);
    case AttributeType::kBs:
      return binary_set(json);
    case AttributeType::kL: {
      List values;
      simdjson::dom::array array;
      if (too_deep(depth + 1) || !list(json, array)) return values;
      values.reserve(std::min(array.size(), kReservedElementsMax));
      for (const Json element : array) {
        values.push_back(value_at(element, depth + 1));
        if (failed()) break;
      }
      return values;
    }
    case AttributeType::kM:
      if (too_deep(depth + 1)) return {};
      return item_at(json, depth + 1);
  }
  return {};
}

Number Reader::number(Json json) {
  std::string_view text;
  if (json.get_string().get(text) != simdjson::SUCCESS) {
    wrong_type(json, "String");
    return {};
  }
  Result<Number> number = Number::parse(text);
  if (!number) {
    Error error = std::move(number).error();
    if (layer_ == Layer::kOlder) {
      error = older_number_error(text, std::move(error));
    } else if (text.empty()) {
      error.message += ": ";
    }
    fail(std::move(error));
    return {};
  }
  return *number;
}

std::string Reader::binary(Json json) {
  std::string_view text;
  if (json.get_string().get(text) != simdjson::SUCCESS) {
    fail(Code::kSerialization, json.is_array()    ? messages::kListForBytes
                               : json.is_object() ? messages::kStructureUnexpected
                                                  : messages::kNoBytes);
    return {};
  }
  Result<std::string> bytes = from_base64(text);
  if (!bytes) {
    fail(std::move(bytes).error());
    return {};
  }
  return std::move(*bytes);
}

AttributeValue Reader::string_set(Json json) {
  std::vector<std::string> elements = texts(json);
  if (elements.empty()) fail(Code::kValidation, messages::kEmptyStringSet);
  if (failed()) return {};
  StringSet set(std::move(elements));
  if (set.has_duplicates()) fail(Code::kValidation, duplicate_strings(set.elements(), layer_));
  return set;
}

AttributeValue Reader::number_set(Json json) {
  std::vector<Number> elements;
  simdjson::dom::array array;
  if (!list(json, array)) return {};
  for (const Json element : array) {
    elements.push_back(number(element));
    if (failed()) return {};
  }
  if (elements.empty()) fail(Code::kValidation, messages::kEmptyNumberSet);
  NumberSet set(std::move(elements));
  if (set.has_duplicates()) fail(Code::kValidation, duplicate_numbers(layer_));
  return set;
}

AttributeValue Reader::binary_set(Json json) {
  std::vector<Binary> elements;
  simdjson::dom::array array;
  if (!list(json, array)) return {};
  for (const Json element : array) {
    elements.push_back(Binary{binary(element)});
    if (failed()) return {};
  }
  if (elements.empty()) fail(Code::kValidation, messages::kEmptyBinarySet);
  BinarySet set(std::move(elements));
  if (set.has_duplicates()) fail(Code::kValidation, duplicate_binaries(set.elements(), layer_));
  return set;
}

}  // namespace stator::wire
