// SPDX-License-Identifier: Apache-2.0
// The expressions within a statement, by precedence: OR, AND, NOT, comparisons, then arithmetic.
#pragma once

#include <string_view>
#include <vector>

#include "partiql/tree.h"
#include "stator/result.h"

namespace stator::partiql {

class TermParser {
 public:
  explicit TermParser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}
  virtual ~TermParser() = default;
  TermParser(const TermParser&) = delete;
  TermParser& operator=(const TermParser&) = delete;

 protected:
  const Token& head() const { return tokens_[next_]; }
  bool is_end() const { return head().kind == TokenKind::kEnd; }
  bool is_name() const {
    return head().kind == TokenKind::kName || head().kind == TokenKind::kQuoted;
  }
  bool is_keyword(std::string_view word) const {
    return head().kind == TokenKind::kKeyword && head().text == word;
  }
  bool is_symbol(std::string_view text) const {
    return head().kind == TokenKind::kSymbol && head().text == text;
  }
  Token take() { return tokens_[is_end() ? next_ : next_++]; }
  bool take_keyword(std::string_view word);
  bool take_symbol(std::string_view text);
  // Fails with "Expected RIGHT_PAREN" or similar if the token is missing.
  Result<void> expect_symbol(std::string_view text, std::string_view called);

  Result<Term> parse_expression() { return parse_or(); }
  Result<Term> parse_path();  // begins with a name

  std::size_t parameters() const { return parameters_; }

  // The error for FROM at the start of a term, or the first error in the rest of the statement.
  virtual Failure from_in_expression() = 0;

 private:
  class Level;

  Result<Term> parse_or();
  Result<Term> parse_and();
  Result<Term> parse_not();
  Result<Term> parse_comparison();
  Result<Term> parse_sum();
  Result<Term> parse_product();
  Result<Term> parse_unary();
  Result<Term> parse_term();
  Result<Term> parse_keyword_term();
  Result<Term> parse_call();
  Result<Term> parse_parenthesis();
  Result<Term> parse_collection(TermKind kind, std::string_view close, std::string_view called);
  Result<Term> parse_struct();
  Result<Term> parse_is(Term operand);
  Result<Term> parse_between(Term operand, bool negated);
  Result<Term> parse_in(Term operand, bool negated);
  Result<void> parse_bracket(Term& path);

  // Parses the right-hand side of an infix operator. A missing one has its own message.
  template <class Parse>
  Result<Term> parse_right(Parse parse);
  bool is_operator(std::string_view text) const {
    return head().kind == TokenKind::kOperator && head().text == text;
  }
  bool starts_comparison() const;

  std::vector<Token> tokens_;
  std::size_t next_ = 0;
  std::size_t parameters_ = 0;
  int level_ = 0;
};

}  // namespace stator::partiql
