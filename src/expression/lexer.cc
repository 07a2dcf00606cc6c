// SPDX-License-Identifier: Apache-2.0
#include "expression/lexer.h"

#include <fmt/format.h>

#include <optional>

#include "base/ascii.h"
#include "base/utf8.h"
#include "expression/messages.h"

namespace stator::expression {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}
bool is_word(char c) {
  return is_ascii_alphanumeric(c) || c == '_';
}

template <class Predicate>
std::size_t run_length(std::string_view text, Predicate belongs) {
  std::size_t length = 0;
  while (length < text.size() && belongs(text[length])) ++length;
  return length;
}

std::size_t symbol_length(std::string_view text) {
  const std::string_view two = text.substr(0, 2);
  if (two == "<>" || two == "<=" || two == ">=") return 2;
  return std::string_view("()[],.=<>+-").find(text[0]) == std::string_view::npos ? 0 : 1;
}

// The token at the front of `text`, which is not empty; kEnd if no token begins there.
Token first_token(std::string_view text) {
  const char c = text[0];
  if (is_ascii_letter(c)) return {TokenKind::kWord, text.substr(0, run_length(text, is_word))};
  if (is_ascii_digit(c)) {
    return {TokenKind::kNumber, text.substr(0, run_length(text, is_ascii_digit))};
  }
  if (c == '#' || c == ':') {
    const std::size_t length = 1 + run_length(text.substr(1), is_word);
    if (length == 1) return {};
    return {c == '#' ? TokenKind::kName : TokenKind::kValue, text.substr(0, length)};
  }
  const std::size_t length = symbol_length(text);
  return length == 0 ? Token{} : Token{TokenKind::kSymbol, text.substr(0, length)};
}

}  // namespace

Result<std::vector<Token>> tokenize(std::string_view text) {
  std::vector<Token> tokens;
  std::optional<std::size_t> stray;  // the place of a character that begins no token
  std::size_t at = 0;
  // The message also shows the token after the stray one.
  while (!stray || tokens.size() < *stray + 2) {
    at += run_length(text.substr(at), is_space);
    if (at == text.size()) break;
    Token token = first_token(text.substr(at));
    if (token.kind == TokenKind::kEnd) {
      // The whole character: a part of one would make the message invalid UTF-8.
      const std::size_t length = 1 + run_length(text.substr(at + 1, 3), is_utf8_continuation);
      token = {TokenKind::kSymbol, text.substr(at, length)};
      if (!stray) stray = tokens.size();
    }
    tokens.push_back(token);
    at += token.text.size();
  }
  tokens.push_back({TokenKind::kEnd, text.substr(text.size())});
  if (stray) return syntax_error(text, tokens, *stray);
  return tokens;
}

Failure syntax_error(std::string_view expression, const std::vector<Token>& tokens,
                     std::size_t position) {
  const Token& token = tokens[position];
  const Token& before = tokens[position == 0 ? 0 : position - 1];
  const Token& after = tokens[position + 1 < tokens.size() ? position + 1 : position];
  const auto begin = static_cast<std::size_t>(before.text.data() - expression.data());
  const auto end =
      static_cast<std::size_t>(after.text.data() - expression.data()) + after.text.size();
  return fail(Code::kValidation,
              fmt::format(message::kSyntax, token.kind == TokenKind::kEnd ? "<EOF>" : token.text,
                          expression.substr(begin, end - begin)));
}

}  // namespace stator::expression
