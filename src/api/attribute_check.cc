// SPDX-License-Identifier: Apache-2.0
#include "api/attribute_check.h"

#include <variant>

#include "api/base64.h"
#include "api/json_utf8.h"
#include "api/messages.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace stator {
namespace {

Result<void> check_nested(const AttributeValue& value, int depth);

Result<void> check_map(const Map& map, int depth) {
  for (const auto& [name, value] : map) {
    if (name.empty()) return fail(Code::kValidation, messages::kEmptyAttributeName);
    STATOR_CHECK_OK(check_text(name));
    STATOR_CHECK_OK(check_nested(value, depth));
  }
  return {};
}

struct Check {
  int depth;

  Result<void> operator()(const std::string& text) const { return check_text(text); }
  Result<void> operator()(const Number&) const { return {}; }
  Result<void> operator()(const Binary&) const { return {}; }
  Result<void> operator()(bool) const { return {}; }
  Result<void> operator()(const Null&) const { return {}; }
  Result<void> operator()(const StringSet& set) const {
    if (set.empty()) return fail(Code::kValidation, messages::kEmptyStringSet);
    if (set.has_duplicates()) return fail(Code::kValidation, duplicate_strings(set.elements()));
    for (const std::string& text : set.elements()) STATOR_CHECK_OK(check_text(text));
    return {};
  }
  Result<void> operator()(const NumberSet& set) const {
    if (set.empty()) return fail(Code::kValidation, messages::kEmptyNumberSet);
    if (set.has_duplicates()) return fail(Code::kValidation, messages::kDuplicateNumbers);
    return {};
  }
  Result<void> operator()(const BinarySet& set) const {
    if (set.empty()) return fail(Code::kValidation, messages::kEmptyBinarySet);
    if (!set.has_duplicates()) return {};
    std::vector<std::string> texts;
    for (const Binary& binary : set.elements()) texts.push_back(wire::to_base64(binary.bytes));
    return fail(Code::kValidation, duplicate_binaries(texts));
  }
  Result<void> operator()(const List& list) const {
    if (depth + 1 > kValueNestingMax)
      return fail(Code::kValidation, messages::kValueNestedTooDeeply);
    for (const AttributeValue& value : list) STATOR_CHECK_OK(check_nested(value, depth + 1));
    return {};
  }
  Result<void> operator()(const Map& map) const {
    if (depth + 1 > kValueNestingMax)
      return fail(Code::kValidation, messages::kValueNestedTooDeeply);
    return check_map(map, depth + 1);
  }
};

Result<void> check_nested(const AttributeValue& value, int depth) {
  return std::visit(Check{depth}, value.variant());
}

}  // namespace

Result<void> check_text(std::string_view text) {
  if (wire::is_utf8(text)) return {};
  return fail(Code::kValidation, messages::kNoUtf8);
}

std::string duplicate_strings(const std::vector<std::string>& elements) {
  return fmt::format(messages::kDuplicateStrings, fmt::join(elements, ", "));
}

std::string duplicate_binaries(const std::vector<std::string>& base64_elements) {
  return fmt::format(messages::kDuplicateBinaries, fmt::join(base64_elements, ", "));
}

Result<void> check_value(const AttributeValue& value) {
  return check_nested(value, 0);
}

Result<void> check_attributes(const Item& item) {
  return check_map(item, 0);
}

}  // namespace stator
