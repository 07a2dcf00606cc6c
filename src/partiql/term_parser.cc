// SPDX-License-Identifier: Apache-2.0
#include "partiql/term_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/ascii.h"
#include "partiql/messages.h"

namespace stator::partiql {
namespace {

Failure too_deep() {
  return not_well_formed(fmt::format(message::kTooDeep, kDepthMax));
}

// A term with its parts; kValidation if it is nested too deeply.
Result<Term> make(TermKind kind, const Position& at, std::string text, std::vector<Term> parts) {
  Term term{.kind = kind, .at = at, .text = std::move(text), .parts = std::move(parts)};
  for (const Term& part : term.parts) term.depth = std::max(term.depth, part.depth + 1);
  if (term.depth > kDepthMax) return too_deep();
  return term;
}

std::vector<Term> list_of(Term first) {
  std::vector<Term> parts;
  parts.push_back(std::move(first));
  return parts;
}

std::vector<Term> list_of(Term first, Term second) {
  std::vector<Term> parts = list_of(std::move(first));
  parts.push_back(std::move(second));
  return parts;
}

constexpr std::string_view kInfixWords[] = {"and", "between", "in", "is", "like", "or", "union"};

struct TypeName {
  std::string_view word;
  std::string_view name;
};
constexpr auto kTypes = std::to_array<TypeName>({
    {"bag", "BAG"},
    {"blob", "BLOB"},
    {"bool", "BOOLEAN"},
    {"boolean", "BOOLEAN"},
    {"char", "CHARACTER"},
    {"character", "CHARACTER"},
    {"clob", "CLOB"},
    {"date", "DATE"},
    {"dec", "DECIMAL"},
    {"decimal", "DECIMAL"},
    {"double", "DOUBLE_PRECISION"},
    {"float", "FLOAT"},
    {"int", "INTEGER"},
    {"integer", "INTEGER"},
    {"list", "LIST"},
    {"missing", "MISSING"},
    {"null", "NULL"},
    {"numeric", "NUMERIC"},
    {"real", "REAL"},
    {"sexp", "SEXP"},
    {"smallint", "SMALLINT"},
    {"string", "STRING"},
    {"struct", "STRUCT"},
    {"symbol", "SYMBOL"},
    {"time", "TIME"},
    {"timestamp", "TIMESTAMP"},
    {"tuple", "TUPLE"},
    {"varchar", "CHARACTER_VARYING"},
    {"int2", "INTEGER2"},
    {"int4", "INTEGER4"},
    {"int8", "INTEGER8"},
});

}  // namespace

// Counts the parser's recursion depth.
class TermParser::Level {
 public:
  explicit Level(TermParser& parser) : parser_(parser) { ++parser_.level_; }
  ~Level() { --parser_.level_; }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;
  bool too_deep() const { return parser_.level_ > kDepthMax; }

 private:
  TermParser& parser_;
};

bool TermParser::take_keyword(std::string_view word) {
  if (!is_keyword(word)) return false;
  take();
  return true;
}

bool TermParser::take_symbol(std::string_view text) {
  if (!is_symbol(text)) return false;
  take();
  return true;
}

Result<void> TermParser::expect_symbol(std::string_view text, std::string_view called) {
  if (take_symbol(text)) return {};
  return not_well_formed(fmt::format(message::kExpectedToken, called));
}

template <class Parse>
Result<Term> TermParser::parse_right(Parse parse) {
  if (is_end()) return not_well_formed(message::kMissingRight);
  return parse();
}

Result<Term> TermParser::parse_or() {
  STATOR_ASSIGN_OR_RETURN(Term first, parse_and());
  if (!is_keyword("or")) return first;
  const Position at = head().at;
  std::vector<Term> parts = list_of(std::move(first));
  while (take_keyword("or")) {
    STATOR_ASSIGN_OR_RETURN(Term next, parse_right([&] { return parse_and(); }));
    parts.push_back(std::move(next));
  }
  return make(TermKind::kOperator, at, "or", std::move(parts));
}

Result<Term> TermParser::parse_and() {
  STATOR_ASSIGN_OR_RETURN(Term first, parse_not());
  if (!is_keyword("and")) return first;
  const Position at = head().at;
  std::vector<Term> parts = list_of(std::move(first));
  while (take_keyword("and")) {
    STATOR_ASSIGN_OR_RETURN(Term next, parse_right([&] { return parse_not(); }));
    parts.push_back(std::move(next));
  }
  return make(TermKind::kOperator, at, "and", std::move(parts));
}

Result<Term> TermParser::parse_not() {
  if (!is_keyword("not")) return parse_comparison();
  const Level level(*this);
  if (level.too_deep()) return too_deep();
  const Position at = take().at;
  STATOR_ASSIGN_OR_RETURN(Term inner, parse_not());
  return make(TermKind::kOperator, at, "not", list_of(std::move(inner)));
}

bool TermParser::starts_comparison() const {
  if (head().kind == TokenKind::kOperator) {
    return std::ranges::any_of(std::array<std::string_view, 6>{"=", "<>", "<", "<=", ">", ">="},
                               [&](std::string_view text) { return head().text == text; });
  }
  return is_keyword("like");
}

Result<Term> TermParser::parse_comparison() {
  STATOR_ASSIGN_OR_RETURN(Term left, parse_sum());
  for (;;) {
    if (starts_comparison()) {
      const Token sign = take();
      STATOR_ASSIGN_OR_RETURN(Term right, parse_right([&] { return parse_sum(); }));
      STATOR_ASSIGN_OR_RETURN(left, make(TermKind::kOperator, sign.at, sign.text,
                                         list_of(std::move(left), std::move(right))));
    } else if (is_keyword("is")) {
      STATOR_ASSIGN_OR_RETURN(left, parse_is(std::move(left)));
    } else if (is_keyword("between") || is_keyword("in") || is_keyword("not")) {
      const bool negated = take_keyword("not");
      if (is_keyword("between")) {
        STATOR_ASSIGN_OR_RETURN(left, parse_between(std::move(left), negated));
      } else if (is_keyword("in")) {
        STATOR_ASSIGN_OR_RETURN(left, parse_in(std::move(left), negated));
      } else {
        return not_well_formed(message::kLeftover);
      }
    } else {
      return left;
    }
  }
}

Result<Term> TermParser::parse_is(Term operand) {
  const Position at = take().at;
  const bool negated = take_keyword("not");
  const Token token = take();
  const bool word = token.kind == TokenKind::kKeyword || token.kind == TokenKind::kName;
  const std::string lower = ascii_lower_case(token.text);
  const auto type = std::ranges::find(kTypes, std::string_view(lower), &TypeName::word);
  if (!word || type == kTypes.end()) return not_well_formed(message::kExpectedTypeName);
  std::string name(type->name);
  if (lower == "double" && !take_keyword("precision")) {
    return not_well_formed(message::kExpectedTypeName);
  }
  if ((lower == "char" || lower == "character") && take_keyword("varying")) {
    name = "CHARACTER_VARYING";
  }
  STATOR_ASSIGN_OR_RETURN(Term term,
                          make(TermKind::kIs, at, std::move(name), list_of(std::move(operand))));
  term.negated = negated;
  return term;
}

Result<Term> TermParser::parse_between(Term operand, bool negated) {
  const Position at = take().at;
  std::vector<Term> parts = list_of(std::move(operand));
  STATOR_ASSIGN_OR_RETURN(Term lower, parse_right([&] { return parse_sum(); }));
  parts.push_back(std::move(lower));
  if (!take_keyword("and")) {
    return not_well_formed(fmt::format(message::kExpectedToken, "AND after BETWEEN"));
  }
  STATOR_ASSIGN_OR_RETURN(Term upper, parse_right([&] { return parse_sum(); }));
  parts.push_back(std::move(upper));
  STATOR_ASSIGN_OR_RETURN(Term term, make(TermKind::kBetween, at, "between", std::move(parts)));
  term.negated = negated;
  return term;
}

Result<Term> TermParser::parse_in(Term operand, bool negated) {
  const Position at = take().at;
  Result<Term> sequence;
  if (is_symbol("(")) {  // a list here, even with one element: ('a')
    take();
    sequence = parse_collection(TermKind::kList, ")", "RIGHT_PAREN");
  } else {
    sequence = parse_right([&] { return parse_sum(); });
  }
  if (!sequence) return sequence;
  STATOR_ASSIGN_OR_RETURN(
      Term term, make(TermKind::kIn, at, "in", list_of(std::move(operand), std::move(*sequence))));
  term.negated = negated;
  return term;
}

Result<Term> TermParser::parse_sum() {
  STATOR_ASSIGN_OR_RETURN(Term left, parse_product());
  while (is_operator("+") || is_operator("-") || is_operator("||")) {
    const Token sign = take();
    STATOR_ASSIGN_OR_RETURN(Term right, parse_right([&] { return parse_product(); }));
    STATOR_ASSIGN_OR_RETURN(left, make(TermKind::kOperator, sign.at, sign.text,
                                       list_of(std::move(left), std::move(right))));
  }
  return left;
}

Result<Term> TermParser::parse_product() {
  STATOR_ASSIGN_OR_RETURN(Term left, parse_unary());
  while (is_operator("*") || is_operator("/") || is_operator("%")) {
    const Token sign = take();
    STATOR_ASSIGN_OR_RETURN(Term right, parse_right([&] { return parse_unary(); }));
    STATOR_ASSIGN_OR_RETURN(left, make(TermKind::kOperator, sign.at, sign.text,
                                       list_of(std::move(left), std::move(right))));
  }
  return left;
}

Result<Term> TermParser::parse_unary() {
  if (!is_operator("+") && !is_operator("-")) return parse_term();
  const Level level(*this);
  if (level.too_deep()) return too_deep();
  const Token sign = take();
  STATOR_ASSIGN_OR_RETURN(Term inner, parse_unary());
  if (inner.kind == TermKind::kNumber) {
    inner.at = sign.at;
    if (sign.text == "+") return inner;
    if (inner.text.starts_with('-')) {
      inner.text.erase(0, 1);
    } else {
      inner.text.insert(0, 1, '-');
    }
    return inner;
  }
  return make(TermKind::kOperator, sign.at, sign.text, list_of(std::move(inner)));
}

Result<Term> TermParser::parse_term() {
  const Level level(*this);
  if (level.too_deep()) return too_deep();
  Term term{.at = head().at, .text = head().text};
  switch (head().kind) {
    case TokenKind::kName:
      if (tokens_[next_ + 1].kind == TokenKind::kSymbol && tokens_[next_ + 1].text == "(") {
        return parse_call();
      }
      return parse_path();
    case TokenKind::kQuoted:
      return parse_path();
    case TokenKind::kKeyword:
      return parse_keyword_term();
    case TokenKind::kString:
      term.kind = TermKind::kString;
      break;
    case TokenKind::kNumber:
      term.kind = TermKind::kNumber;
      break;
    case TokenKind::kIon:
      term.kind = TermKind::kIon;
      break;
    case TokenKind::kParameter:
      term.kind = TermKind::kParameter;
      term.index = parameters_++;
      break;
    case TokenKind::kOperator:
      return not_well_formed(message::kUnexpectedOperator);
    case TokenKind::kSymbol:
      if (take_symbol("(")) return parse_parenthesis();
      if (take_symbol("[")) return parse_collection(TermKind::kList, "]", "RIGHT_BRACKET");
      if (take_symbol("<<"))
        return parse_collection(TermKind::kBag, ">>", "RIGHT_DOUBLE_ANGLE_BRACKET");
      if (is_symbol("{")) return parse_struct();
      if (take_symbol("@") && is_name()) return parse_path();
      return not_well_formed(message::kUnexpectedTerm);
    case TokenKind::kEnd:
      return not_well_formed(message::kUnexpectedTerm);
  }
  take();
  return term;
}

Result<Term> TermParser::parse_keyword_term() {
  Term term{.at = head().at, .text = head().text};
  if (term.text == "true" || term.text == "false") {
    term.kind = TermKind::kBoolean;
  } else if (term.text == "null") {
    term.kind = TermKind::kNull;
  } else if (term.text == "missing" && !(tokens_[next_ + 1].text == "(")) {
    term.kind = TermKind::kMissing;
  } else if (term.text == "from") {
    return from_in_expression();
  } else if (std::ranges::find(kInfixWords, std::string_view(term.text)) != std::end(kInfixWords)) {
    return not_well_formed(message::kUnexpectedOperator);
  } else if (term.text == "select" || term.text == "case" || term.text == "cast") {
    return fail(Code::kValidation, fmt::format(message::kUnsupportedToken,
                                               term.text == "select" ? "SELECT" : term.text) +
                                       " at " + to_string(term.at));
  } else if (tokens_[next_ + 1].kind == TokenKind::kSymbol && tokens_[next_ + 1].text == "(" &&
             term.text != "values" && term.text != "missing") {
    return parse_call();
  } else {
    return not_well_formed(message::kUnexpectedKeyword);
  }
  take();
  return term;
}

Result<Term> TermParser::parse_call() {
  const Token name = take();
  take();  // the parenthesis
  std::string lower = ascii_lower_case(name.text);
  if (is_operator("*")) take();  // count(*)
  STATOR_ASSIGN_OR_RETURN(Term arguments, parse_collection(TermKind::kList, ")", "RIGHT_PAREN"));
  return make(TermKind::kCall, name.at, std::move(lower), std::move(arguments.parts));
}

// Reads one expression or the elements of a list, after "(".
Result<Term> TermParser::parse_parenthesis() {
  if (is_symbol(")")) return not_well_formed(message::kUnexpectedTerm);
  STATOR_ASSIGN_OR_RETURN(Term list, parse_collection(TermKind::kList, ")", "RIGHT_PAREN"));
  if (list.parts.size() != 1) return list;
  Term only = std::move(list.parts.front());
  return only;
}

Result<Term> TermParser::parse_collection(TermKind kind, std::string_view close,
                                          std::string_view called) {
  const Position at = tokens_[next_ == 0 ? 0 : next_ - 1].at;
  std::vector<Term> parts;
  if (!take_symbol(close)) {
    do {
      STATOR_ASSIGN_OR_RETURN(Term part, parse_expression());
      parts.push_back(std::move(part));
    } while (take_symbol(","));
    STATOR_RETURN_IF_ERROR(expect_symbol(close, called));
  }
  return make(kind, at, "", std::move(parts));
}

Result<Term> TermParser::parse_struct() {
  const Position at = take().at;
  std::vector<Term> parts;
  if (!take_symbol("}")) {
    do {
      STATOR_ASSIGN_OR_RETURN(Term key, parse_expression());
      parts.push_back(std::move(key));
      STATOR_RETURN_IF_ERROR(expect_symbol(":", "COLON"));
      STATOR_ASSIGN_OR_RETURN(Term value, parse_expression());
      parts.push_back(std::move(value));
    } while (take_symbol(","));
    STATOR_RETURN_IF_ERROR(expect_symbol("}", "RIGHT_CURLY"));
  }
  return make(TermKind::kStruct, at, "", std::move(parts));
}

Result<Term> TermParser::parse_path() {
  const Token name = take();
  Term path{.kind = TermKind::kPath, .at = name.at, .text = name.text};
  if (name.text.empty()) return fail(Code::kValidation, message::kEmptyPathPart);
  path.path.emplace_back(expression::PathName{name.text});
  for (;;) {
    if (is_symbol(".")) {
      take();
      if (is_operator("*")) {
        return fail(Code::kValidation, fmt::format(message::kUnpivotPath, to_string(head().at)));
      }
      if (!is_name()) return not_well_formed(message::kPathDot);
      if (head().text.empty()) return fail(Code::kValidation, message::kEmptyPathPart);
      path.path.emplace_back(expression::PathName{take().text});
    } else if (take_symbol("[")) {
      STATOR_RETURN_IF_ERROR(parse_bracket(path));
    } else {
      break;
    }
  }
  if (path.path.size() > expression::kPathStepsMax) {
    return fail(Code::kValidation,
                fmt::format("The document path has too many nesting elements; nesting levels: {}",
                            path.path.size()));
  }
  return path;
}

Result<void> TermParser::parse_bracket(Term& path) {
  const Position at = head().at;
  if (is_operator("*")) {
    return fail(Code::kValidation, fmt::format(message::kWildcardPath, to_string(at)));
  }
  STATOR_ASSIGN_OR_RETURN(const Term step, parse_expression());
  STATOR_RETURN_IF_ERROR(expect_symbol("]", "RIGHT_BRACKET"));
  if (step.kind == TermKind::kString) {
    if (step.text.empty()) return fail(Code::kValidation, message::kEmptyPathPart);
    path.path.emplace_back(expression::PathName{step.text});
    return {};
  }
  const bool whole = step.kind == TermKind::kNumber &&
                     step.text.find_first_not_of("-0123456789") == std::string::npos;
  if (!whole) {
    return fail(Code::kValidation, fmt::format(message::kPathComponent, to_string(at)));
  }
  uint32_t index = 0;
  const char* const end = step.text.data() + step.text.size();
  const auto [last, error] = std::from_chars(step.text.data(), end, index);
  if (error != std::errc() || last != end) {
    return fail(Code::kValidation, fmt::format(message::kListIndex, step.text, to_string(at)));
  }
  path.path.emplace_back(index);
  return {};
}

}  // namespace stator::partiql
