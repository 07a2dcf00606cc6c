// SPDX-License-Identifier: Apache-2.0
// Splits an expression into tokens.
#pragma once

#include <string_view>
#include <vector>

#include "stator/result.h"

namespace stator::expression {

enum class TokenKind {
  kWord,    // a keyword, function or attribute name: a letter, then letters, digits, underscores
  kName,    // #name
  kValue,   // :value
  kNumber,  // decimal digits
  kSymbol,  // ( ) [ ] , . = <> < <= > >= + -
  kEnd,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;  // within the expression
};

// The tokens, kEnd last. They borrow `text`.
Result<std::vector<Token>> tokenize(std::string_view text);

// DynamoDB's error for a token: kValidation, without the leading parameter name.
Failure syntax_error(std::string_view expression, const std::vector<Token>& tokens,
                     std::size_t position);

}  // namespace stator::expression
