// SPDX-License-Identifier: Apache-2.0
// Each value is written as its type's name, the length or count of its content, and the content.
#include "recipes/toggle/value_text.h"

#include <type_traits>

#include <fmt/format.h>

#include "base/hex.h"
#include "base/sha256.h"

namespace stator::recipes {
namespace {

constexpr int kMaxDepth = 64;  // deeper than any item can be; deeper values share a digest

void append_text(std::string& out, const std::string& text) {
  out += fmt::format("{}:", text.size());
  out += text;
}

void append_element(std::string& out, const std::string& element) {
  append_text(out, element);
}
void append_element(std::string& out, const Number& element) {
  append_text(out, element.to_string());
}
void append_element(std::string& out, const Binary& element) {
  append_text(out, element.bytes);
}

void append_value(std::string& out, const AttributeValue& value, int depth) {
  out += type_name(value.type());
  if (depth > kMaxDepth) return;
  std::visit(
      [&](const auto& content) {
        using T = std::decay_t<decltype(content)>;
        if constexpr (std::is_same_v<T, bool>) {
          out += content ? '1' : '0';
        } else if constexpr (std::is_same_v<T, Null>) {
          out += '0';
        } else if constexpr (std::is_same_v<T, List>) {
          out += fmt::format("{}:", content.size());
          for (const AttributeValue& element : content) append_value(out, element, depth + 1);
        } else if constexpr (std::is_same_v<T, Map>) {
          out += fmt::format("{}:", content.size());
          for (const auto& [name, member] : content) {
            append_text(out, name);
            append_value(out, member, depth + 1);
          }
        } else if constexpr (requires { content.elements(); }) {
          out += fmt::format("{}:", content.size());
          for (const auto& element : content.elements()) append_element(out, element);
        } else {
          append_element(out, content);
        }
      },
      value.variant());
}

}  // namespace

std::string digest_of(const AttributeValue& value) {
  std::string text;
  append_value(text, value, 0);
  return hex(hmac_sha256("stator value 1", text).substr(0, 16));
}

}  // namespace stator::recipes
