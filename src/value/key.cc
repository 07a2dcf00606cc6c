// SPDX-License-Identifier: Apache-2.0
// Numbers: a sign byte, the exponent, then one byte for each pair of digits. This byte is twice the
// pair, plus one if another pair follows. So numbers are self-delimiting, and a shorter number
// sorts before its extensions. The bytes of a negative number after the sign are complemented,
// which reverses the order.
#include "value/key.h"

#include <algorithm>

#include "base/check.h"
#include "value/byte_reader.h"

namespace stator {
namespace {

constexpr unsigned char kNegative = 0;
constexpr unsigned char kZero = 1;
constexpr unsigned char kPositive = 2;
constexpr int kExponentBias = 129;  // exponents are -129 to 126
constexpr std::size_t kPairsMax = 19;

constexpr char kEscapedZero = '\xFF';  // after 00: a zero byte of the text
constexpr char kTerminator = '\x01';   // after 00: the end

void append_escaped(std::string& key, std::string_view text) {
  for (;;) {
    const std::size_t zero = text.find('\0');
    if (zero == std::string_view::npos) break;
    key.append(text.substr(0, zero + 1)).push_back(kEscapedZero);
    text.remove_prefix(zero + 1);
  }
  key.append(text);
}

void append_terminated(std::string& key, std::string_view text) {
  append_escaped(key, text);
  key.push_back('\0');
  key.push_back(kTerminator);
}

bool take_escaped(std::string_view& key, std::string& text) {
  std::string_view rest = key;
  for (;;) {
    const std::size_t zero = rest.find('\0');
    if (zero == std::string_view::npos || zero + 1 >= rest.size()) return false;
    text.append(rest.substr(0, zero));
    const char mark = rest[zero + 1];
    rest.remove_prefix(zero + 2);
    if (mark == kTerminator) break;
    if (mark != kEscapedZero) return false;
    text.push_back('\0');
  }
  key = rest;
  return true;
}

Failure bad_key(const char* what) {
  return fail(Code::kCorruption, std::string("damaged key: ") + what);
}

}  // namespace

void append_number_key(std::string& key, const Number& number) {
  const Number::Parts parts = number.parts();
  if (parts.digit_count == 0) {
    key.push_back(static_cast<char>(kZero));
    return;
  }
  unsigned char bytes[2 + kPairsMax];
  const unsigned char flip = parts.negative ? 0xFF : 0;
  const std::size_t pair_count = (parts.digit_count + std::size_t{1}) / 2;
  bytes[0] = parts.negative ? kNegative : kPositive;
  bytes[1] = static_cast<unsigned char>((parts.exponent + kExponentBias) ^ flip);
  for (std::size_t i = 0; i < pair_count; ++i) {
    const int more = i + 1 < pair_count ? 1 : 0;
    bytes[2 + i] = static_cast<unsigned char>((parts.pairs[i] * 2 + more) ^ flip);
  }
  key.append(reinterpret_cast<const char*>(bytes), 2 + pair_count);
}

std::string number_key(const Number& number) {
  std::string key;
  append_number_key(key, number);
  return key;
}

std::size_t number_key_length(std::string_view bytes) {
  if (bytes.empty()) return 0;
  const auto sign = static_cast<unsigned char>(bytes[0]);
  if (sign == kZero) return 1;
  if (sign > kPositive || bytes.size() < 3) return 0;
  const unsigned char flip = sign == kNegative ? 0xFF : 0;
  for (std::size_t i = 2; i < bytes.size() && i < 2 + kPairsMax; ++i) {
    const int coded = static_cast<unsigned char>(bytes[i]) ^ flip;
    const int pair = coded / 2;
    if (pair > 99 || (i == 2 && pair < 10)) return 0;
    if (coded % 2 == 0) return pair == 0 ? 0 : i + 1;
  }
  return 0;
}

Number number_from_key(std::string_view bytes) {
  const std::size_t length = number_key_length(bytes);
  if (length < 3) return {};
  Number::Parts parts;
  parts.negative = static_cast<unsigned char>(bytes[0]) == kNegative;
  const unsigned char flip = parts.negative ? 0xFF : 0;
  parts.exponent =
      static_cast<int16_t>((static_cast<unsigned char>(bytes[1]) ^ flip) - kExponentBias);
  const std::size_t pair_count = length - 2;
  for (std::size_t i = 0; i < pair_count; ++i) {
    parts.pairs[i] = static_cast<uint8_t>((static_cast<unsigned char>(bytes[2 + i]) ^ flip) / 2);
  }
  const bool odd = parts.pairs[pair_count - 1] % 10 == 0;
  parts.digit_count = static_cast<uint8_t>(2 * pair_count - (odd ? 1 : 0));
  return Number::from_parts(parts);
}

NumberPlaces number_key_places(std::string_view bytes) {
  if (bytes.size() < 3 || bytes.size() > 2 + kPairsMax) return {};
  const bool negative = static_cast<unsigned char>(bytes[0]) == kNegative;
  const unsigned char flip = negative ? 0xFF : 0;
  const int exponent = (static_cast<unsigned char>(bytes[1]) ^ flip) - kExponentBias;
  const int last_pair = (static_cast<unsigned char>(bytes.back()) ^ flip) / 2;
  const int digit_count = 2 * static_cast<int>(bytes.size() - 2) - (last_pair % 10 == 0 ? 1 : 0);
  return {.negative = negative, .first = exponent - 1, .last = exponent - digit_count};
}

char* write_number_text(char* out, std::string_view number_key) {
  const std::size_t length = number_key_length(number_key);
  if (length < 3) {
    *out++ = '0';
    return out;
  }
  const bool negative = static_cast<unsigned char>(number_key[0]) == kNegative;
  const unsigned char flip = negative ? 0xFF : 0;
  char digits[2 * kPairsMax];
  std::size_t count = 0;
  for (std::size_t i = 2; i < length; ++i) {
    const int pair = (static_cast<unsigned char>(number_key[i]) ^ flip) / 2;
    digits[count++] = static_cast<char>('0' + pair / 10);
    digits[count++] = static_cast<char>('0' + pair % 10);
  }
  if (digits[count - 1] == '0') --count;
  // The point comes after this many digits.
  const int point = (static_cast<unsigned char>(number_key[1]) ^ flip) - kExponentBias;
  if (negative) *out++ = '-';
  if (point <= 0) {
    *out++ = '0';
    *out++ = '.';
    out = std::fill_n(out, -point, '0');
    return std::copy_n(digits, count, out);
  }
  const auto whole = static_cast<std::size_t>(point);
  if (whole >= count) return std::fill_n(std::copy_n(digits, count, out), whole - count, '0');
  out = std::copy_n(digits, whole, out);
  *out++ = '.';
  return std::copy_n(digits + whole, count - whole, out);
}

AttributeType attribute_type(ScalarType type) {
  switch (type) {
    case ScalarType::kS:
      return AttributeType::kS;
    case ScalarType::kN:
      return AttributeType::kN;
    case ScalarType::kB:
      return AttributeType::kB;
  }
  return AttributeType::kS;
}

void append_key_component(std::string& key, const AttributeValue& value) {
  if (const auto* text = value.get_if<std::string>()) {
    append_terminated(key, *text);
  } else if (const auto* binary = value.get_if<Binary>()) {
    append_terminated(key, binary->bytes);
  } else {
    const auto* number = value.get_if<Number>();
    STATOR_CHECK(number != nullptr);
    append_number_key(key, *number);
  }
}

void append_key_component(std::string& key, ValueView value) {
  const AttributeType type = value.type();
  if (type == AttributeType::kN) {
    key.append(value.number_key());
    return;
  }
  STATOR_CHECK(type == AttributeType::kS || type == AttributeType::kB);
  append_terminated(key, value.text());
}

Result<AttributeValue> take_key_component(std::string_view& key, AttributeType type) {
  if (type == AttributeType::kN) {
    const std::size_t length = number_key_length(key);
    if (length == 0) return bad_key("no number");
    AttributeValue value = number_from_key(key.substr(0, length));
    key.remove_prefix(length);
    return value;
  }
  if (type != AttributeType::kS && type != AttributeType::kB) return bad_key("no type of a key");
  std::string text;
  if (!take_escaped(key, text)) return bad_key("no end of a text");
  if (type == AttributeType::kB) return AttributeValue(Binary{std::move(text)});
  return AttributeValue(std::move(text));
}

void append_key_prefix(std::string& key, const AttributeValue& prefix) {
  const auto* text = prefix.get_if<std::string>();
  const auto* binary = prefix.get_if<Binary>();
  STATOR_CHECK(text != nullptr || binary != nullptr);
  append_escaped(key, text != nullptr ? *text : binary->bytes);
}

}  // namespace stator
