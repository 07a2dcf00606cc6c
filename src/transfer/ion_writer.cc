// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <variant>

#include "api/model/base64.h"
#include "base/ascii.h"
#include "base/hex.h"
#include "transfer/ion_text.h"

namespace stator::transfer {
namespace {

bool is_symbol_character(char c) {
  return is_ascii_alphanumeric(c) || c == '_';
}

// Whether a name needs no quotes. Ion's own symbols begin with $.
bool is_bare(std::string_view name) {
  constexpr std::array<std::string_view, 4> kKeywords = {"null", "true", "false", "nan"};
  return !name.empty() && (name[0] < '0' || name[0] > '9') &&
         std::ranges::all_of(name, is_symbol_character) &&
         std::ranges::find(kKeywords, name) == kKeywords.end();
}

void append_quoted(std::string& out, std::string_view text, char quote) {
  out += quote;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == quote || c == '\\') {
      (out += '\\') += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      (out += "\\x") += hex({&c, 1});
    } else {
      out += c;
    }
  }
  out += quote;
}

// A decimal: 103. 6d2 -1.5 25d-9
void append_decimal(std::string& out, const Number& number) {
  const Number::Parts parts = number.parts();
  if (parts.negative) out += '-';
  std::string digits;
  for (int i = 0; i < parts.digit_count; ++i) {
    const int pair = parts.pairs[i / 2];
    digits += static_cast<char>('0' + (i % 2 == 0 ? pair / 10 : pair % 10));
  }
  const int point = parts.exponent;  // digits before the point
  const int scale = point - parts.digit_count;
  if (digits.empty() || scale == 0) {
    (out += digits.empty() ? "0" : digits) += '.';
  } else if (scale < 0 && point > 0) {
    digits.insert(static_cast<std::size_t>(point), 1, '.');
    out += digits;
  } else {
    ((out += digits) += 'd') += std::to_string(scale);
  }
}

struct Writer {
  std::string& out;

  void operator()(const std::string& text) const { append_quoted(out, text, '"'); }
  void operator()(const Number& number) const { append_decimal(out, number); }
  void operator()(const Binary& binary) const {
    ((out += "{{") += wire::to_base64(binary.bytes)) += "}}";
  }
  void operator()(bool value) const { out += value ? "true" : "false"; }
  void operator()(const Null&) const { out += "null"; }
  void operator()(const StringSet& set) const { list("$dynamodb_SS::", set.elements()); }
  void operator()(const NumberSet& set) const { list("$dynamodb_NS::", set.elements()); }
  void operator()(const BinarySet& set) const { list("$dynamodb_BS::", set.elements()); }
  void operator()(const List& elements) const { list("", elements); }
  void operator()(const AttributeValue& value) const { std::visit(*this, value.variant()); }
  void operator()(const Map& map) const {
    char before = '{';
    for (const auto& [name, value] : map) {
      out += before;
      if (is_bare(name)) {
        out += name;
      } else {
        append_quoted(out, name, '\'');
      }
      out += ':';
      (*this)(value);
      before = ',';
    }
    out += map.empty() ? "{}" : "}";
  }

  template <class T>
  void list(std::string_view annotation, const std::vector<T>& elements) const {
    out += annotation;
    char before = '[';
    for (const T& element : elements) {
      out += before;
      (*this)(element);
      before = ',';
    }
    out += elements.empty() ? "[]" : "]";
  }
};

}  // namespace

void append_ion(std::string& out, const AttributeValue& value) {
  Writer{out}(value);
}

}  // namespace stator::transfer
