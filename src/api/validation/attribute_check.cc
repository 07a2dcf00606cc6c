// SPDX-License-Identifier: Apache-2.0
#include "api/validation/attribute_check.h"

#include <algorithm>
#include <set>
#include <variant>

#include "api/model/base64.h"
#include "api/model/messages.h"
#include "api/model/utf8.h"
#include "expression/messages.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace stator {
namespace {

// Invalid names in nested maps are reported after all other errors; `names` keeps the first.
Result<void> check_nested(const AttributeValue& value, Layer layer, int depth, Result<void>& names);

Result<void> check_map(const Map& map, Layer layer, int depth, Result<void>& names) {
  for (const auto& [name, value] : map) {
    Result<void> checked = check_attribute_name(name);
    if (!checked && depth == 0) return checked;
    if (!checked && names) names = std::move(checked);
    STATOR_RETURN_IF_ERROR(check_text(name));
    STATOR_RETURN_IF_ERROR(check_nested(value, layer, depth, names));
  }
  return {};
}

struct Check {
  Layer layer;
  int depth;
  Result<void>& names;

  Result<void> operator()(const std::string& text) const { return check_text(text); }
  Result<void> operator()(const Number&) const { return {}; }
  Result<void> operator()(const Binary&) const { return {}; }
  Result<void> operator()(bool) const { return {}; }
  Result<void> operator()(const Null&) const { return {}; }
  Result<void> operator()(const StringSet& set) const {
    if (set.empty()) return fail(Code::kValidation, messages::kEmptyStringSet);
    if (set.has_duplicates()) {
      return fail(Code::kValidation, duplicate_strings(set.elements(), layer));
    }
    for (const std::string& text : set.elements()) STATOR_RETURN_IF_ERROR(check_text(text));
    return {};
  }
  Result<void> operator()(const NumberSet& set) const {
    if (set.empty()) return fail(Code::kValidation, messages::kEmptyNumberSet);
    if (set.has_duplicates()) return fail(Code::kValidation, duplicate_numbers(layer));
    return {};
  }
  Result<void> operator()(const BinarySet& set) const {
    if (set.empty()) return fail(Code::kValidation, messages::kEmptyBinarySet);
    if (!set.has_duplicates()) return {};
    return fail(Code::kValidation, duplicate_binaries(set.elements(), layer));
  }
  Result<void> operator()(const List& list) const {
    if (depth + 1 > kValueNestingMax)
      return fail(Code::kValidation, messages::kValueNestedTooDeeply);
    for (const AttributeValue& value : list)
      STATOR_RETURN_IF_ERROR(check_nested(value, layer, depth + 1, names));
    return {};
  }
  Result<void> operator()(const Map& map) const {
    if (depth + 1 > kValueNestingMax)
      return fail(Code::kValidation, messages::kValueNestedTooDeeply);
    return check_map(map, layer, depth + 1, names);
  }
};

Result<void> check_nested(const AttributeValue& value, Layer layer, int depth,
                          Result<void>& names) {
  return std::visit(Check{layer, depth, names}, value.variant());
}

// Sorts the elements before the first repeated one. The current layer prints them in this order,
// then the others in request order.
template <class T>
void sort_until_repeated(std::vector<T>& elements) {
  std::set<T> seen;
  const auto repeated = std::ranges::find_if(
      elements, [&](const T& element) { return !seen.insert(element).second; });
  std::sort(elements.begin(), repeated);
}

}  // namespace

Result<void> check_attribute_name(std::string_view name) {
  constexpr std::size_t kBytesMax = 65'535;
  if (name.empty()) return fail(Code::kValidation, messages::kEmptyAttributeName);
  if (name.size() > kBytesMax) return fail(Code::kValidation, expression::message::kNameTooLong);
  return {};
}

Result<void> check_text(std::string_view text) {
  if (wire::is_utf8(text)) return {};
  return fail(Code::kValidation, messages::kNoUtf8);
}

std::string duplicate_strings(std::vector<std::string> elements, Layer layer) {
  if (layer == Layer::kOlder) {
    return fmt::format(messages::kDuplicateStrings, fmt::join(elements, ", "));
  }
  sort_until_repeated(elements);
  for (std::string& element : elements) element = fmt::format("\"{}\"", element);
  return fmt::format(messages::kDuplicateStrings, fmt::join(elements, ", "));
}

std::string duplicate_binaries(std::vector<Binary> elements, Layer layer) {
  const bool older = layer == Layer::kOlder;
  if (!older) sort_until_repeated(elements);
  std::vector<std::string> texts;
  for (const Binary& element : elements) {
    const std::string text = wire::to_base64(element.bytes);
    texts.push_back(older ? text : '"' + text + '"');
  }
  return fmt::format(messages::kDuplicateBinaries, fmt::join(texts, older ? ", " : ","));
}

std::string duplicate_numbers(Layer layer) {
  return layer == Layer::kOlder ? messages::kOlderDuplicateNumbers : messages::kDuplicateNumbers;
}

Result<void> check_value(const AttributeValue& value, Layer layer) {
  Result<void> names;
  STATOR_RETURN_IF_ERROR(check_nested(value, layer, 0, names));
  return names;
}

Result<void> check_attributes(const Item& item, Layer layer) {
  Result<void> names;
  STATOR_RETURN_IF_ERROR(check_map(item, layer, 0, names));
  return names;
}

}  // namespace stator
