// SPDX-License-Identifier: Apache-2.0
// DynamoDB's data model: numbers with 38 digits, attribute values of ten types, items.
//
// Thread safety: as for std::string; values are plain data.
// Rules:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "stator/result.h"

namespace stator {

// An exact decimal of up to 38 significant digits: zero, or a magnitude from 1e-130 to
// 9.9999999999999999999999999999999999999e125. Always canonical: equal numbers have one form.
class Number {
 public:
  Number() = default;  // zero
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Number(T value) {  // NOLINT(google-explicit-constructor): exact
    if constexpr (std::signed_integral<T>) {
      set(value < 0, value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value));
    } else {
      set(false, value);
    }
  }

  // Parses an optional sign, digits with an optional point, and an optional exponent, without white
  // space. Errors: kValidation, with DynamoDB's message, for anything else, for more than 38
  // significant digits and for a magnitude out of range.
  static Result<Number> parse(std::string_view text);
  // The shortest decimal that converts back to `value`. Errors: kValidation for NaN, infinities and
  // values out of range.
  static Result<Number> from_double(double value);

  // Canonical decimal text, without an exponent.
  std::string to_string() const;
  std::optional<int64_t> to_int64() const;  // absent if it is not an integer or does not fit
  double to_double() const;                 // nearest

  bool is_zero() const { return digit_count_ == 0; }
  bool is_negative() const { return negative_; }

  // Exact. Errors: kValidation if the result needs more than 38 digits or overflows.
  Result<Number> plus(const Number& other) const;
  Result<Number> minus(const Number& other) const;
  Number negated() const;

  std::strong_ordering operator<=>(const Number& other) const;
  bool operator==(const Number& other) const = default;

  // value = (negative ? -1 : 1) * 0.d1d2d3… * 10^exponent; d1 and the last digit are not zero.
  // Each byte holds two digits (0 to 99); the last pair is padded with a zero digit.
  struct Parts {
    bool negative = false;
    int16_t exponent = 0;
    uint8_t digit_count = 0;
    uint8_t pairs[19] = {};
  };
  Parts parts() const;
  static Number from_parts(const Parts& parts);  // parts must be canonical

 private:
  void set(bool negative, uint64_t magnitude);

  bool negative_ = false;
  uint8_t digit_count_ = 0;                     // significant digits, 0 for zero
  int16_t exponent_ = 0;                        // of the first digit's left edge, see Parts
  __extension__ unsigned __int128 digits_ = 0;  // the significant digits as an integer
};

class AttributeValue;
using Item = std::map<std::string, AttributeValue, std::less<>>;
using Map = Item;
using List = std::vector<AttributeValue>;

struct Null {
  bool operator==(const Null&) const = default;
};

// Bytes, a type distinct from text.
struct Binary {
  std::string bytes;
  auto operator<=>(const Binary&) const = default;
};

// Sets keep their elements sorted (text and binary by unsigned bytes, numbers by value). With
// duplicates they are kept as given, for the error of a write that rejects them.
template <class T>
class SetOf {
 public:
  SetOf() = default;
  SetOf(std::vector<T> elements);  // NOLINT(google-explicit-constructor)
  SetOf(std::initializer_list<T> elements) : SetOf(std::vector<T>(elements)) {}

  const std::vector<T>& elements() const { return elements_; }
  bool contains(const T& element) const;
  bool has_duplicates() const { return has_duplicates_; }
  bool empty() const { return elements_.empty(); }
  std::size_t size() const { return elements_.size(); }
  bool operator==(const SetOf&) const = default;

 private:
  std::vector<T> elements_;
  bool has_duplicates_ = false;
};
using StringSet = SetOf<std::string>;
using NumberSet = SetOf<Number>;
using BinarySet = SetOf<Binary>;

// In the order of the alternatives of AttributeValue::Variant.
enum class AttributeType : uint8_t { kS, kN, kB, kBool, kNull, kSs, kNs, kBs, kL, kM };

// "S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M".
std::string_view type_name(AttributeType type);
std::optional<AttributeType> type_from_name(std::string_view name);

class AttributeValue {
 public:
  using Variant = std::variant<std::string, Number, Binary, bool, Null, StringSet, NumberSet,
                               BinarySet, List, Map>;

  AttributeValue() : value_(Null{}) {}
  AttributeValue(const char* text) : value_(std::string(text)) {}       // NOLINT
  AttributeValue(std::string_view text) : value_(std::string(text)) {}  // NOLINT
  AttributeValue(std::nullptr_t) : value_(Null{}) {}                    // NOLINT
  template <std::same_as<bool> T>
  AttributeValue(T value) : value_(value) {}  // NOLINT
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  AttributeValue(T value) : value_(Number(value)) {}  // NOLINT
  template <class T>
    requires(std::same_as<T, std::string> || std::same_as<T, Number> || std::same_as<T, Binary> ||
             std::same_as<T, Null> || std::same_as<T, StringSet> || std::same_as<T, NumberSet> ||
             std::same_as<T, BinarySet> || std::same_as<T, List> || std::same_as<T, Map>)
  AttributeValue(T value) : value_(std::move(value)) {}  // NOLINT

  AttributeType type() const { return static_cast<AttributeType>(value_.index()); }
  template <class T>
  bool is() const {
    return std::holds_alternative<T>(value_);
  }
  // The value as T, or null if it has another type.
  template <class T>
  const T* get_if() const {
    return std::get_if<T>(&value_);
  }
  template <class T>
  T* get_if() {
    return std::get_if<T>(&value_);
  }
  const Variant& variant() const { return value_; }

  // Deep equality, as in conditions: sets without order, numbers by value.
  bool operator==(const AttributeValue& other) const = default;

 private:
  Variant value_;
};

// Debugging and test output: DynamoDB JSON on one line.
std::string to_debug_string(const AttributeValue& value);
std::string to_debug_string(const Item& item);

}  // namespace stator
