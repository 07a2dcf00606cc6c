// SPDX-License-Identifier: Apache-2.0
#include "partiql/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/ascii.h"
#include "base/utf8.h"
#include "partiql/keywords.h"
#include "partiql/messages.h"

namespace stator::partiql {
namespace {

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}
bool starts_name(char c) {
  return is_ascii_letter(c) || c == '_' || c == '$';
}
bool in_name(char c) {
  return starts_name(c) || is_ascii_digit(c);
}

// Whether the exponent and the resulting scale are 32-bit integers, as DynamoDB requires.
bool fits(std::string_view digits, std::string_view exponent) {
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  int64_t value = 0;
  if (!exponent.empty()) {
    const auto [end, error] =
        std::from_chars(exponent.data(), exponent.data() + exponent.size(), value);
    if (error != std::errc() || end != exponent.data() + exponent.size()) return false;
  }
  const auto point = digits.find('.');
  const auto fraction =
      static_cast<int64_t>(point == std::string_view::npos ? 0 : digits.size() - point - 1);
  constexpr int64_t kLeast = std::numeric_limits<int32_t>::min();
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const auto within = [](int64_t number) { return number >= kLeast && number <= kMost; };
  return within(value) && within(fraction - value);
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<std::vector<Token>> run() {
    std::vector<Token> tokens;
    for (;;) {
      if (!skip_blank()) return not_well_formed("");
      if (at_ == text_.size()) break;
      Token token{.at = {.line = line_, .column = column_}};
      const std::size_t begin = at_;
      const std::size_t length = read(token);
      if (length == 0) return not_well_formed("");
      advance(length);
      token.at.length = characters(text_.substr(begin, length));
      tokens.push_back(std::move(token));
    }
    tokens.push_back({.at = {.line = line_, .column = column_}});
    return tokens;
  }

 private:
  static uint32_t characters(std::string_view text) {
    return static_cast<uint32_t>(
        std::ranges::count_if(text, [](char c) { return !is_utf8_continuation(c); }));
  }

  void advance(std::size_t length) {
    for (const char c : text_.substr(at_, length)) {
      if (c == '\n') {
        ++line_;
        column_ = 1;
      } else if (!is_utf8_continuation(c)) {
        ++column_;
      }
    }
    at_ += length;
  }

  // Skips spaces and comments; false if a comment does not end.
  bool skip_blank() {
    while (at_ < text_.size()) {
      const std::string_view rest = text_.substr(at_);
      if (is_space(rest[0])) {
        advance(1);
      } else if (rest.starts_with("--")) {
        advance(std::min(rest.find('\n'), rest.size()));
      } else if (rest.starts_with("/*")) {
        const auto end = rest.find("*/", 2);
        if (end == std::string_view::npos) return false;
        advance(end + 2);
      } else {
        break;
      }
    }
    return true;
  }

  // Reads the token at the front into `token`. Returns its length in bytes, 0 if there is none.
  std::size_t read(Token& token) const {
    const std::string_view rest = text_.substr(at_);
    const char c = rest[0];
    if (starts_name(c)) return read_word(token, rest);
    if (is_ascii_digit(c) || (c == '.' && rest.size() > 1 && is_ascii_digit(rest[1]))) {
      return read_number(token, rest);
    }
    if (c == '\'') return read_quoted(token, TokenKind::kString, rest);
    if (c == '"') return read_quoted(token, TokenKind::kQuoted, rest);
    if (c == '`') return read_quoted(token, TokenKind::kIon, rest);
    if (c == '?') {
      token.kind = TokenKind::kParameter;
      token.text = "?";
      return 1;
    }
    return read_symbol(token, rest);
  }

  static std::size_t run_length(std::string_view text, bool (*belongs)(char)) {
    return static_cast<std::size_t>(std::ranges::find_if_not(text, belongs) - text.begin());
  }

  static std::size_t read_word(Token& token, std::string_view rest) {
    const std::size_t length = run_length(rest, in_name);
    token.text = ascii_lower_case(rest.substr(0, length));
    token.kind = is_keyword(token.text) ? TokenKind::kKeyword : TokenKind::kName;
    if (token.kind == TokenKind::kName) token.text = rest.substr(0, length);
    return length;
  }

  static std::size_t read_number(Token& token, std::string_view rest) {
    std::size_t length = run_length(rest, is_ascii_digit);
    if (length < rest.size() && rest[length] == '.') {
      ++length;
      length += run_length(rest.substr(length), is_ascii_digit);
    }
    const std::string_view digits = rest.substr(0, length);
    std::string_view exponent;
    if (length < rest.size() && (rest[length] == 'e' || rest[length] == 'E')) {
      std::size_t sign = ++length;
      if (sign < rest.size() && (rest[sign] == '+' || rest[sign] == '-')) ++sign;
      const std::size_t count = run_length(rest.substr(sign), is_ascii_digit);
      if (count == 0) return 0;
      exponent = rest.substr(length, sign + count - length);
      length = sign + count;
    }
    if (length < rest.size() && in_name(rest[length])) return 0;
    if (!fits(digits, exponent)) return 0;
    token.kind = TokenKind::kNumber;
    token.text = rest.substr(0, length);
    return length;
  }

  // A doubled quote is one quote character of the text.
  static std::size_t read_quoted(Token& token, TokenKind kind, std::string_view rest) {
    const char quote = rest[0];
    token.kind = kind;
    for (std::size_t i = 1; i < rest.size(); ++i) {
      if (rest[i] == quote) {
        if (i + 1 == rest.size() || rest[i + 1] != quote) return i + 1;
        ++i;
      }
      token.text += rest[i];
    }
    return 0;
  }

  static std::size_t read_symbol(Token& token, std::string_view rest) {
    for (const std::string_view two : {"<<", ">>", "<>", "!=", "<=", ">=", "||"}) {
      if (!rest.starts_with(two)) continue;
      token.kind = two == "<<" || two == ">>" ? TokenKind::kSymbol : TokenKind::kOperator;
      token.text = two == "!=" ? "<>" : two;
      return 2;
    }
    const auto is_one_of = [&](std::string_view all) {
      return all.find(rest[0]) != std::string_view::npos;
    };
    token.kind = is_one_of("=<>+-*/%") ? TokenKind::kOperator : TokenKind::kSymbol;
    token.text = rest[0];
    return token.kind == TokenKind::kOperator || is_one_of("()[]{},.:;@") ? 1 : 0;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  uint32_t line_ = 1;
  uint32_t column_ = 1;
};

}  // namespace

std::string to_string(const Position& position) {
  return fmt::format("{}:{}:{}", position.line, position.column, position.length);
}

Result<std::vector<Token>> tokenize(std::string_view statement) {
  return Lexer(statement).run();
}

Failure not_well_formed(std::string_view detail) {
  return fail(Code::kValidation, std::string(message::kNotWellFormed).append(detail));
}

}  // namespace stator::partiql
