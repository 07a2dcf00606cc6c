// SPDX-License-Identifier: Apache-2.0
// Splits a statement into tokens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stator/result.h"

namespace stator::partiql {

// The position of a token: line and column, from 1, and length. Columns and lengths count
// characters.
struct Position {
  uint32_t line = 1;
  uint32_t column = 1;
  uint32_t length = 0;
  bool operator==(const Position&) const = default;
};
std::string to_string(const Position& position);  // "1:8:5"

enum class TokenKind {
  kName,       // an attribute or a table: name
  kQuoted,     // "name", without its quotes
  kKeyword,    // a reserved word, in lower case
  kString,     // 'text', without its quotes
  kNumber,     // as written
  kIon,        // `ion`
  kParameter,  // ?
  kOperator,   // = <> != < <= > >= + - * / % ||
  kSymbol,     // ( ) [ ] { } , . : ; << >> @
  kEnd,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;
  Position at;
};

// Returns the tokens without comments, with kEnd as the last one. Errors: kValidation for text that
// is not a token.
Result<std::vector<Token>> tokenize(std::string_view statement);

// "Statement wasn't well formed, can't be processed: …"
Failure not_well_formed(std::string_view detail);

}  // namespace stator::partiql
