// SPDX-License-Identifier: Apache-2.0
#include "cli/template_properties.h"

#include <algorithm>
#include <charconv>

namespace stator::cli {

Result<Properties> Properties::of(const TemplateValues& values, const YamlNode& node,
                                  std::initializer_list<std::string_view> known) {
  STATOR_ASSIGN_OR_RETURN(std::optional<YamlNode> resolved, values.resolve(node));
  if (!resolved || !resolved->is_map()) return template_error(node, "expected properties");
  for (const auto& [name, value] : resolved->map) {
    if (std::ranges::find(known, name) == known.end()) {
      return template_error(value, "unknown property '" + name + "'");
    }
  }
  return Properties(values, *std::move(resolved));
}

Failure Properties::wrong(std::string_view name, const std::string& what) const {
  const YamlNode* at = node_.find(name);
  return template_error(at == nullptr ? node_ : *at, std::string(name) + ": " + what);
}

Result<std::optional<YamlNode>> Properties::node(std::string_view name) const {
  const YamlNode* found = node_.find(name);
  if (found == nullptr || found->kind == YamlNode::Kind::kNull) return std::optional<YamlNode>();
  return values_->resolve(*found);
}

Result<std::optional<std::string>> Properties::text(std::string_view name) const {
  STATOR_ASSIGN_OR_RETURN(std::optional<YamlNode> found, node(name));
  if (!found) return std::optional<std::string>();
  if (!found->is_scalar()) return wrong(name, "expected a string");
  return std::optional(std::move(found->scalar));
}

Result<std::string> Properties::required_text(std::string_view name) const {
  STATOR_ASSIGN_OR_RETURN(std::optional<std::string> found, text(name));
  if (!found) return wrong(name, "is missing");
  return *std::move(found);
}

Result<std::optional<int64_t>> Properties::integer(std::string_view name) const {
  STATOR_ASSIGN_OR_RETURN(const std::optional<std::string> found, text(name));
  if (!found) return std::optional<int64_t>();
  int64_t value = 0;
  const char* end = found->data() + found->size();
  const auto parsed = std::from_chars(found->data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end) {
    return wrong(name, "'" + *found + "' is not an integer");
  }
  return std::optional(value);
}

Result<std::optional<bool>> Properties::boolean(std::string_view name) const {
  return choice<bool>(name, {{"true", true},
                             {"True", true},
                             {"TRUE", true},
                             {"false", false},
                             {"False", false},
                             {"FALSE", false}});
}

Result<std::vector<YamlNode>> Properties::list(std::string_view name) const {
  STATOR_ASSIGN_OR_RETURN(std::optional<YamlNode> found, node(name));
  if (!found) return std::vector<YamlNode>();
  if (!found->is_list()) return wrong(name, "expected a list");
  std::vector<YamlNode> elements;
  for (const YamlNode& element : found->list) {
    STATOR_ASSIGN_OR_RETURN(std::optional<YamlNode> resolved, values_->resolve(element));
    if (resolved) elements.push_back(*std::move(resolved));
  }
  return elements;
}

}  // namespace stator::cli
