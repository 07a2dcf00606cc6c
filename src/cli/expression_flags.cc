// SPDX-License-Identifier: Apache-2.0
#include "cli/expression_flags.h"
#include "api/json/item_json.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>
#include <vector>

#include "api/wire/wire.h"

namespace stator::cli {
namespace {

// Adds a flag that takes NAME=TEXT and can be repeated.
void add_pairs(CLI::App& command, const std::string& flag, const std::string& form,
               const std::string& description,
               std::map<std::string, std::string, std::less<>>& pairs) {
  const auto take = [flag, form, &pairs](const std::vector<std::string>& all) {
    for (const std::string& one : all) {
      const std::size_t equals = one.find('=');
      if (equals == one.npos || equals == 0) {
        throw CLI::ValidationError(flag, fmt::format("'{}' is not {}", one, form));
      }
      pairs.insert_or_assign(one.substr(0, equals), one.substr(equals + 1));
    }
  };
  command.add_option_function<std::vector<std::string>>(flag, take, description)
      ->type_name(form)
      ->allow_extra_args(false)
      ->take_all();
}

bool begins_json(std::string_view text) {
  constexpr std::string_view kFirst = "{[\"-0123456789";
  return text == "true" || text == "false" || text == "null" ||
         (!text.empty() && kFirst.find(text.front()) != kFirst.npos);
}

// Removes the digits at the beginning of the text. Returns their number.
std::size_t take_digits(std::string_view& text) {
  const std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(count);
  return count;
}

bool is_json_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const bool begins_with_zero = text.starts_with('0');
  const std::size_t digits = take_digits(text);
  if (digits == 0 || (begins_with_zero && digits > 1)) return false;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (take_digits(text) == 0) return false;
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    if (take_digits(text) == 0) return false;
  }
  return text.empty();
}

Result<AttributeValue> value_of(const std::string& text) {
  if (!begins_json(text)) return AttributeValue(text);
  auto object = wire::item_from_plain_json("{\"v\":" + text + "}");
  if (object && object->size() == 1) return std::move(object->begin()->second);
  if (is_json_number(text)) {
    const auto number = Number::parse(text);
    return fail(Code::kInvalidArgument, "cannot store number '" + text +
                                            "': " + (number ? "not JSON" : number.error().message) +
                                            "; to give a string, put it in double quotes");
  }
  // A date, for instance, begins like a number.
  if (text.front() != '{' && text.front() != '[' && text.front() != '"') {
    return AttributeValue(text);
  }
  return fail(Code::kInvalidArgument, "'" + text + "' is not JSON");
}

}  // namespace

std::optional<std::string> optional_text(const std::string& flag) {
  return flag.empty() ? std::nullopt : std::optional(flag);
}

std::optional<Names> ExpressionFlags::names() const {
  if (name_texts.empty()) return std::nullopt;
  return name_texts;
}

Result<std::optional<Values>> ExpressionFlags::values() const {
  if (value_texts.empty()) return std::optional<Values>();
  Values values;
  for (const auto& [name, text] : value_texts) {
    STATOR_ASSIGN_OR_RETURN(AttributeValue value, value_of(text));
    values.emplace(name, std::move(value));
  }
  return std::optional<Values>(std::move(values));
}

void add_filter_flag(CLI::App& command, ExpressionFlags& flags) {
  command.add_option("--filter", flags.filter, "Only items for which this expression holds")
      ->type_name("EXPRESSION");
}

void add_projection_flag(CLI::App& command, ExpressionFlags& flags) {
  command.add_option("--project", flags.projection, "Only these attributes")->type_name("PATH,…");
}

void add_names_flag(CLI::App& command, ExpressionFlags& flags) {
  add_pairs(command, "--name", "#NAME=ATTRIBUTE", "An attribute that expressions call #NAME",
            flags.name_texts);
}

void add_values_flag(CLI::App& command, ExpressionFlags& flags) {
  add_pairs(command, "--value", ":NAME=JSON",
            "A value that expressions call :NAME; what is not JSON is text", flags.value_texts);
}

}  // namespace stator::cli
