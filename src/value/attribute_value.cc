// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <utility>

#include "stator/value.h"

namespace stator {
namespace {

constexpr std::array<std::string_view, 10> kTypeNames = {"S",  "N",  "B",  "BOOL", "NULL",
                                                         "SS", "NS", "BS", "L",    "M"};

void append_quoted(std::string& out, std::string_view text) {
  out.push_back('"');
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out.append({'\\', c});
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      const int length =
          std::snprintf(escaped, sizeof(escaped), "\\u%04x", static_cast<unsigned>(c));
      out.append(escaped, static_cast<std::size_t>(length));
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
}

void append_base64(std::string& out, std::string_view bytes) {
  static constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      group = group << 8 | (j < count ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      out.push_back(j <= count ? kAlphabet[group >> (18 - 6 * j) & 63] : '=');
    }
  }
}

void append_debug(std::string& out, const AttributeValue& value);

void append_debug(std::string& out, const std::string& text) {
  append_quoted(out, text);
}

void append_debug(std::string& out, const Number& number) {
  append_quoted(out, number.to_string());
}

void append_debug(std::string& out, const Binary& binary) {
  out.push_back('"');
  append_base64(out, binary.bytes);
  out.push_back('"');
}

void append_debug(std::string& out, bool value) {
  out.append(value ? "true" : "false");
}

void append_debug(std::string& out, const Null& /*null*/) {
  out.append("true");
}

template <class Elements>
void append_array(std::string& out, const Elements& elements) {
  out.push_back('[');
  bool first = true;
  for (const auto& element : elements) {
    if (!first) out.push_back(',');
    first = false;
    append_debug(out, element);
  }
  out.push_back(']');
}

template <class T>
void append_debug(std::string& out, const SetOf<T>& set) {
  append_array(out, set.elements());
}

void append_debug(std::string& out, const List& list) {
  append_array(out, list);
}

void append_debug(std::string& out, const Map& map) {
  out.push_back('{');
  bool first = true;
  for (const auto& [name, value] : map) {
    if (!first) out.push_back(',');
    first = false;
    append_quoted(out, name);
    out.push_back(':');
    append_debug(out, value);
  }
  out.push_back('}');
}

void append_debug(std::string& out, const AttributeValue& value) {
  out.append("{\"").append(type_name(value.type())).append("\":");
  std::visit([&out](const auto& alternative) { append_debug(out, alternative); }, value.variant());
  out.push_back('}');
}

}  // namespace

template <class T>
SetOf<T>::SetOf(std::vector<T> elements) : elements_(std::move(elements)) {
  // Strings compare by char_traits<char>, which is by unsigned bytes.
  const auto is_set = [](const auto& sorted, auto projection) {
    return std::ranges::adjacent_find(sorted, std::ranges::greater_equal(), projection) ==
           sorted.end();
  };
  if (is_set(elements_, std::identity())) return;
  const auto element = [](const T* pointer) -> const T& { return *pointer; };
  std::vector<T*> sorted;
  sorted.reserve(elements_.size());
  for (T& each : elements_) sorted.push_back(&each);
  std::ranges::sort(sorted, {}, element);
  has_duplicates_ = !is_set(sorted, element);
  if (has_duplicates_) return;
  std::vector<T> moved;
  moved.reserve(sorted.size());
  for (T* each : sorted) moved.push_back(std::move(*each));
  elements_ = std::move(moved);
}

template <class T>
bool SetOf<T>::contains(const T& element) const {
  if (!has_duplicates_) return std::ranges::binary_search(elements_, element);
  return std::ranges::find(elements_, element) != elements_.end();
}

template class SetOf<std::string>;
template class SetOf<Number>;
template class SetOf<Binary>;

std::string_view type_name(AttributeType type) {
  return kTypeNames.at(static_cast<std::size_t>(type));
}

std::optional<AttributeType> type_from_name(std::string_view name) {
  const auto* const found = std::ranges::find(kTypeNames, name);
  if (found == kTypeNames.end()) return std::nullopt;
  return static_cast<AttributeType>(found - kTypeNames.begin());
}

std::string to_debug_string(const AttributeValue& value) {
  std::string text;
  append_debug(text, value);
  return text;
}

std::string to_debug_string(const Item& item) {
  std::string text;
  append_debug(text, item);
  return text;
}

}  // namespace stator
