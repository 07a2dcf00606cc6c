// SPDX-License-Identifier: Apache-2.0
// Random numbers, values and items for property tests.
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <string>

#include "stator/value.h"

namespace stator::test {

// Byte strings that collide often and contain edge cases: zero, one, 0xFF.
inline rc::Gen<std::string> awkward_bytes() {
  return rc::gen::container<std::string>(
      rc::gen::element('\0', '\1', 'a', 'b', '\x7F', '\x80', '\xFE', '\xFF'));
}

// The text of a number in range; about half are close in magnitude to one.
inline rc::Gen<std::string> number_text() {
  return rc::gen::resize(
      rc::kNominalSize, rc::gen::exec([] {
        const int count = *rc::gen::inRange(1, 39);
        std::string digits = *rc::gen::container<std::string>(static_cast<std::size_t>(count),
                                                              rc::gen::inRange('0', char{'9' + 1}));
        if (*rc::gen::inRange(0, 4) == 0) std::ranges::fill(digits, *rc::gen::element('0', '9'));
        const bool near = *rc::gen::inRange(0, 2) == 0;
        const int exponent =
            near ? *rc::gen::inRange(-45, 45) : *rc::gen::inRange(-130, 126 - count);
        return (*rc::gen::inRange(0, 2) == 0 ? "-" : "") + digits + "e" + std::to_string(exponent);
      }));
}

inline rc::Gen<Number> any_number() {
  return rc::gen::map(number_text(),
                      [](const std::string& text) { return Number::parse(text).value(); });
}

inline rc::Gen<AttributeValue> any_value(int depth);

inline rc::Gen<Map> any_map(int depth) {
  return rc::gen::exec([depth] {
    Map map;
    for (int i = *rc::gen::inRange(0, 5); i > 0; --i) map[*awkward_bytes()] = *any_value(depth);
    return map;
  });
}

// Nested up to `depth` levels; some strings are long enough for a length of two bytes.
inline rc::Gen<AttributeValue> any_value(int depth) {
  return rc::gen::exec([depth]() -> AttributeValue {
    switch (*rc::gen::inRange(0, depth > 0 ? 12 : 8)) {
      case 0:
        return *awkward_bytes();
      case 1:
        return *any_number();
      case 2:
        return Binary{*awkward_bytes()};
      case 3:
        return *rc::gen::arbitrary<bool>();
      case 4:
        return std::string(static_cast<std::size_t>(*rc::gen::inRange(100, 400)), 'x');
      case 5:
        return StringSet(*rc::gen::unique<std::vector<std::string>>(awkward_bytes()));
      case 6: {
        NumberSet numbers(*rc::gen::container<std::vector<Number>>(any_number()));
        return numbers.has_duplicates() ? AttributeValue(Null{}) : AttributeValue(numbers);
      }
      case 7:
        return Null{};
      case 8:
      case 9: {
        List list;
        for (int i = *rc::gen::inRange(0, 5); i > 0; --i) list.push_back(*any_value(depth - 1));
        return list;
      }
      default:
        return *any_map(depth - 1);
    }
  });
}

}  // namespace stator::test

template <>
struct rc::Arbitrary<stator::Number> {
  static Gen<stator::Number> arbitrary() { return stator::test::any_number(); }
};

template <>
struct rc::Arbitrary<stator::AttributeValue> {
  static Gen<stator::AttributeValue> arbitrary() { return stator::test::any_value(3); }
};

namespace stator {
// NOLINTBEGIN(readability-identifier-naming): rapidcheck looks these names up
inline void showValue(const Number& number, std::ostream& out) {
  out << number.to_string();
}
inline void showValue(const AttributeValue& value, std::ostream& out) {
  out << to_debug_string(value);
}
// NOLINTEND(readability-identifier-naming)
}  // namespace stator
