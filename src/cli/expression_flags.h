// SPDX-License-Identifier: Apache-2.0
// Expressions on the command line, and the names and values that they refer to:
//
//   --filter 'price > :p AND #s = :s' --value ':p=10' --value ':s="open"' --name '#s=status'
//
// Lifetime: the flags must outlive the parser.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "stator/requests.h"

namespace CLI {
class App;
}

namespace stator::cli {

// Returns std::nullopt if the flag was not given.
std::optional<std::string> optional_text(const std::string& flag);

struct ExpressionFlags {
  std::string filter;
  std::string projection;
  std::map<std::string, std::string, std::less<>> name_texts;
  std::map<std::string, std::string, std::less<>> value_texts;  // JSON, or text if it is not JSON

  // Returns std::nullopt if no name was given, because the API rejects an empty map.
  std::optional<Names> names() const;
  // Errors: kInvalidArgument for malformed JSON that begins with {, [ or ". Other text that is not
  // JSON becomes a string.
  Result<std::optional<Values>> values() const;
};

void add_filter_flag(CLI::App& command, ExpressionFlags& flags);
void add_projection_flag(CLI::App& command, ExpressionFlags& flags);
void add_names_flag(CLI::App& command, ExpressionFlags& flags);
void add_values_flag(CLI::App& command, ExpressionFlags& flags);

}  // namespace stator::cli
