// SPDX-License-Identifier: Apache-2.0
#include "transfer/json_lines.h"
#include "api/json/item_json.h"

#include <algorithm>

#include "api/wire/wire.h"

namespace stator::transfer {
namespace {

// The end of the JSON object at the start of `text`; npos if there is none.
std::size_t object_end(std::string_view text) {
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth <= 1) return i + 1;
      --depth;
    }
  }
  return std::string_view::npos;
}

}  // namespace

RecordParser::Outcome JsonLines::parse(std::string_view text, Item& item, Error& error,
                                       std::size_t& used) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return Outcome::kNothing;
  const std::string_view rest = text.substr(begin);
  const std::size_t end = rest.front() == '{' ? object_end(rest) : std::string_view::npos;
  if (end == std::string_view::npos) {
    error = {.code = Code::kCorruption, .message = "not a JSON object"};
    return Outcome::kDamaged;
  }
  used = begin + end;
  auto read = wire::exported_item_from_json(rest.substr(0, end));
  if (read) {
    item = std::move(*read);
    return Outcome::kItem;
  }
  error = std::move(read).error();
  return error.code == Code::kCorruption ? Outcome::kDamaged : Outcome::kNoItem;
}

}  // namespace stator::transfer
