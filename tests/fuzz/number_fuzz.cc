// SPDX-License-Identifier: Apache-2.0
// Two texts as numbers. Canonical text reads back, key bytes have the order of the numbers, and
// sums can be reversed. The C library reads the same number. Any bytes as the key of a number.
#include <cmath>
#include <cstdlib>
#include <string>

#include "base/check.h"
#include "stator/value.h"
#include "value/key.h"

namespace {

using stator::Number;

std::string text_of_key(std::string_view key) {
  char text[stator::kNumberTextMax];
  return {text, stator::write_number_text(text, key)};
}

void check_one(const Number& number, const std::string& text) {
  STATOR_CHECK(*Number::parse(number.to_string()) == number);
  STATOR_CHECK(number.to_double() == std::strtod(text.c_str(), nullptr));
  STATOR_CHECK(Number::from_parts(number.parts()) == number);
  STATOR_CHECK(number.negated().negated() == number);
  STATOR_CHECK(!number.to_int64() || Number(*number.to_int64()) == number);

  const std::string key = stator::number_key(number);
  STATOR_CHECK(stator::number_key_length(key) == key.size());
  STATOR_CHECK(stator::number_from_key(key) == number);
  STATOR_CHECK(text_of_key(key) == number.to_string());
  const stator::NumberPlaces places = stator::number_key_places(key);
  STATOR_CHECK((places.first < places.last) == number.is_zero());
  if (number.is_zero()) return;
  STATOR_CHECK(places.negative == number.is_negative());
  STATOR_CHECK(places.first == number.parts().exponent - 1);
  STATOR_CHECK(places.first - places.last + 1 == number.parts().digit_count);
}

void check_pair(const Number& a, const Number& b) {
  const std::string key_a = stator::number_key(a);
  const std::string key_b = stator::number_key(b);
  STATOR_CHECK((key_a <=> key_b) == (a <=> b));
  STATOR_CHECK((key_a == key_b) == (a == b));
  STATOR_CHECK(key_a == key_b || !key_b.starts_with(key_a));
  STATOR_CHECK(!(a < b) || a.to_double() <= b.to_double());
  STATOR_CHECK((a.negated() <=> b.negated()) == (b <=> a));
  const auto sum = a.plus(b);
  const auto other_way = b.plus(a);
  STATOR_CHECK(sum.has_value() == other_way.has_value());
  if (!sum) return;
  STATOR_CHECK(*sum == *other_way);
  const auto back = sum->minus(b);
  STATOR_CHECK(back && *back == a);
  STATOR_CHECK((*sum <=> a) == (b <=> Number(0)));
}

void check_key_bytes(std::string_view bytes) {
  const std::size_t length = stator::number_key_length(bytes);
  STATOR_CHECK(length <= bytes.size());
  const Number number = stator::number_from_key(bytes);
  STATOR_CHECK(text_of_key(bytes) == number.to_string());
  if (length > 0) STATOR_CHECK(stator::number_key(number) == bytes.substr(0, length));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_key_bytes(text);
  const std::string first(text.substr(0, text.find(' ')));
  const auto a = Number::parse(first);
  if (!a) return 0;
  check_one(*a, first);
  const std::string second(first.size() == size ? "1" : text.substr(first.size() + 1));
  const auto b = Number::parse(second);
  if (!b) return 0;
  check_one(*b, second);
  check_pair(*a, *b);
  return 0;
}
