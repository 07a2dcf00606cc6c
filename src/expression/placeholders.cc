// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "expression/expression.h"
#include "expression/messages.h"

namespace stator {
namespace {

namespace message = expression::message;

// A mark, then one or more letters, digits and underscores.
bool is_placeholder(std::string_view key, char mark) {
  return key.size() > 1 && key[0] == mark && std::ranges::all_of(key.substr(1), [](char c) {
           return is_ascii_alphanumeric(c) || c == '_';
         });
}

template <class Map>
Result<void> check_keys(const Map& map, char mark, const char* parameter, const char* empty) {
  if (map.empty()) return fail(Code::kValidation, empty);
  for (const auto& [key, meaning] : map) {
    if (key.empty())
      return fail(Code::kValidation, fmt::format(message::kInvalidKeyEmpty, parameter));
    if (!is_placeholder(key, mark)) {
      return fail(Code::kValidation, fmt::format(message::kInvalidKey, parameter, key));
    }
  }
  return {};
}

template <class Map, class Used>
Result<void> check_used(const Map* map, const Used& used, const char* parameter) {
  if (map == nullptr) return {};
  std::string unused;
  for (const auto& [key, meaning] : *map) {
    if (used.contains(key)) continue;
    if (!unused.empty()) unused += ", ";
    unused += key;
  }
  if (unused.empty()) return {};
  return fail(Code::kValidation, fmt::format(message::kUnused, parameter, unused));
}

}  // namespace

Result<void> Placeholders::validate() const {
  if (names_ != nullptr) {
    STATOR_RETURN_IF_ERROR(
        check_keys(*names_, '#', "ExpressionAttributeNames", message::kNamesEmpty));
    for (const auto& [key, name] : *names_) {
      constexpr std::size_t kNameBytesMax = 65535;
      if (name.empty()) return fail(Code::kValidation, fmt::format(message::kNameEmpty, key));
      if (name.size() > kNameBytesMax) return fail(Code::kValidation, message::kNameTooLong);
    }
  }
  if (values_ != nullptr) {
    STATOR_RETURN_IF_ERROR(
        check_keys(*values_, ':', "ExpressionAttributeValues", message::kValuesEmpty));
  }
  return {};
}

const std::string* Placeholders::name(std::string_view token) {
  if (names_ == nullptr) return nullptr;
  const auto found = names_->find(token);
  if (found == names_->end()) return nullptr;
  used_.insert(found->first);
  return &found->second;
}

const AttributeValue* Placeholders::value(std::string_view token) {
  if (values_ == nullptr) return nullptr;
  const auto found = values_->find(token);
  if (found == values_->end()) return nullptr;
  used_.insert(found->first);
  return &found->second;
}

Result<void> Placeholders::check_all_used() const {
  STATOR_RETURN_IF_ERROR(check_used(names_, used_, "ExpressionAttributeNames"));
  return check_used(values_, used_, "ExpressionAttributeValues");
}

}  // namespace stator
