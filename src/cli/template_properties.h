// SPDX-License-Identifier: Apache-2.0
// Properties: reads a resource's properties by name, with functions resolved. Unknown properties
// are errors.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/template_values.h"

namespace stator::cli {

class Properties {
 public:
  // Errors: kInvalidArgument if `node` is not a map or has a key that `known` lacks.
  static Result<Properties> of(const TemplateValues& values, const YamlNode& node,
                               std::initializer_list<std::string_view> known);

  // These return std::nullopt if the property is missing or is AWS::NoValue.
  Result<std::optional<YamlNode>> node(std::string_view name) const;
  Result<std::optional<std::string>> text(std::string_view name) const;
  Result<std::optional<int64_t>> integer(std::string_view name) const;
  Result<std::optional<bool>> boolean(std::string_view name) const;
  Result<std::vector<YamlNode>> list(std::string_view name) const;  // empty if missing

  // One of a closed list of strings.
  template <class T>
  Result<std::optional<T>> choice(
      std::string_view name, std::initializer_list<std::pair<std::string_view, T>> texts) const {
    STATOR_ASSIGN_OR_RETURN(const std::optional<std::string> given, text(name));
    if (!given) return std::optional<T>();
    for (const auto& [text, value] : texts) {
      if (text == *given) return std::optional<T>(value);
    }
    return wrong(name, "invalid value '" + *given + "'");
  }

  Result<std::string> required_text(std::string_view name) const;
  Failure wrong(std::string_view name, const std::string& what) const;

 private:
  Properties(const TemplateValues& values, YamlNode node)
      : values_(&values), node_(std::move(node)) {}

  const TemplateValues* values_;
  YamlNode node_;
};

}  // namespace stator::cli
