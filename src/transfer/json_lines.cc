// SPDX-License-Identifier: Apache-2.0
#include "transfer/json_lines.h"
#include "api/json/item_json.h"

#include <algorithm>

#include "api/wire/wire.h"

namespace stator::transfer {
namespace {

// The end of the JSON string whose first character is at `at`; npos if there is none.
std::size_t string_end(std::string_view text, std::size_t at) {
  for (const std::size_t begin = at;; ++at) {
    at = text.find('"', at);
    if (at == std::string_view::npos) return at;
    std::size_t backslash = at;
    while (backslash > begin && text[backslash - 1] == '\\') --backslash;
    if ((at - backslash) % 2 == 0) return at + 1;
  }
}

// The end of the JSON object at the start of `text`; npos if there is none.
std::size_t object_end(std::string_view text) {
  std::size_t depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      const std::size_t end = string_end(text, i + 1);
      if (end == std::string_view::npos) return end;
      i = end - 1;
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

RecordParser::Outcome JsonLines::parse(std::string_view text, PutItemRequest& put, Error& error,
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
  auto read = conditions_ == Conditions::kRead ? wire::exported_put_from_json(rest.substr(0, end))
                                               : wire::exported_item_from_json(rest.substr(0, end));
  if (read) {
    put = std::move(*read);
    return Outcome::kItem;
  }
  error = std::move(read).error();
  return error.code == Code::kCorruption ? Outcome::kDamaged : Outcome::kNoItem;
}

}  // namespace stator::transfer
