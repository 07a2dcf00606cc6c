// SPDX-License-Identifier: Apache-2.0
// Recursive descent. A chain of ANDs or ORs becomes one node with many children. Only parentheses,
// NOT and nested functions deepen the tree; their depth is limited.
#include "expression/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>

#include "expression/lexer.h"
#include "expression/messages.h"

namespace stator::expression {
namespace {

constexpr std::size_t kBytesMax = 4096;
constexpr int kOperatorsMax = 300;
constexpr std::size_t kInOperandsMax = 100;

bool equals_ignoring_case(std::string_view text, std::string_view upper) {
  return std::ranges::equal(text, upper, [](char a, char b) {
    return (a >= 'a' && a <= 'z' ? static_cast<char>(a - 'a' + 'A') : a) == b;
  });
}

struct ConditionFunction {
  const char* name;
  ConditionKind kind;
  std::size_t operands;
};
constexpr std::array<ConditionFunction, 5> kConditionFunctions = {{
    {"attribute_exists", ConditionKind::kAttributeExists, 1},
    {"attribute_not_exists", ConditionKind::kAttributeNotExists, 1},
    {"attribute_type", ConditionKind::kAttributeType, 2},
    {"begins_with", ConditionKind::kBeginsWith, 2},
    {"contains", ConditionKind::kContains, 2},
}};

struct OperandFunction {
  const char* name;
  OperandKind kind;
  std::size_t operands;
  bool in_updates;
};
constexpr std::array<OperandFunction, 3> kOperandFunctions = {{
    {"size", OperandKind::kSize, 1, false},
    {"if_not_exists", OperandKind::kIfNotExists, 2, true},
    {"list_append", OperandKind::kListAppend, 2, true},
}};

template <class Table>
auto find_function(const Table& table, std::string_view name) {
  return std::ranges::find_if(table, [&](const auto& entry) { return entry.name == name; });
}

std::optional<Comparator> comparator_from(std::string_view text) {
  for (const Comparator c :
       {Comparator::kEqual, Comparator::kNotEqual, Comparator::kLess, Comparator::kLessOrEqual,
        Comparator::kGreater, Comparator::kGreaterOrEqual}) {
    if (text == comparator_text(c)) return c;
  }
  return std::nullopt;
}

class Parser {
 public:
  Parser(std::string_view text, std::vector<Token> tokens, ExpressionLimits limits)
      : text_(text), tokens_(std::move(tokens)), limits_(limits) {}

  Result<ConditionNode> condition() {
    STATOR_ASSIGN_OR_RETURN(ConditionNode node, disjunction());
    STATOR_RETURN_IF_ERROR(finish());
    return node;
  }
  Result<UpdateTree> update();
  Result<ProjectionTree> projection();

 private:
  const Token& token() const { return tokens_[position_]; }
  const Token& token_after() const { return tokens_[std::min(position_ + 1, tokens_.size() - 1)]; }
  bool at_symbol(std::string_view symbol) const {
    return token().kind == TokenKind::kSymbol && token().text == symbol;
  }
  bool at_word(std::string_view upper) const {
    return token().kind == TokenKind::kWord && equals_ignoring_case(token().text, upper);
  }
  bool take_symbol(std::string_view symbol) {
    if (!at_symbol(symbol)) return false;
    ++position_;
    return true;
  }
  bool take_word(std::string_view upper) {
    if (!at_word(upper)) return false;
    ++position_;
    return true;
  }
  Failure syntax() const { return syntax_error(text_, tokens_, position_); }
  Result<void> expect(std::string_view symbol) {
    if (!take_symbol(symbol)) return syntax();
    return {};
  }
  Result<void> finish();

  // Counts the nesting depth of the expression that the calling function reads.
  class Nesting {
   public:
    explicit Nesting(int& depth) : depth_(depth) { ++depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    ~Nesting() { --depth_; }
    bool too_deep() const { return depth_ > kNestingMax; }

   private:
    int& depth_;
  };
  static Failure too_deep() {
    return fail(Code::kValidation, fmt::format(message::kTooDeep, kNestingMax));
  }

  Result<ConditionNode> chain(ConditionKind kind, std::string_view word,
                              Result<ConditionNode> (Parser::*next)());
  Result<ConditionNode> disjunction() {
    return chain(ConditionKind::kOr, "OR", &Parser::conjunction);
  }
  Result<ConditionNode> conjunction() {
    return chain(ConditionKind::kAnd, "AND", &Parser::negation);
  }
  Result<ConditionNode> negation();
  Result<ConditionNode> primary();
  Result<ConditionNode> parenthesized();
  Result<ConditionNode> condition_function(const ConditionFunction& function);
  Result<ConditionNode> comparison();
  Result<ConditionNode> between(ConditionNode node);
  Result<ConditionNode> in(ConditionNode node);

  bool at_parenthesized_operand();
  bool closed_just_before(std::size_t open) const;
  Result<Operand> condition_operand();
  Result<Operand> set_value();
  Result<Operand> set_operand();
  Result<Operand> unparenthesized_operand(bool in_update);
  Result<Operand> operand_function(bool in_update);
  Result<Operand> plain_operand();
  Result<std::vector<Operand>> arguments(std::string_view name, std::size_t count, bool in_update);
  Result<Path> path();
  Result<uint32_t> list_index();

  Result<void> section(std::string_view name, std::vector<UpdateAction>& actions);
  Result<UpdateAction> action(std::string_view section_name);

  std::string_view text_;
  std::vector<Token> tokens_;
  ExpressionLimits limits_;
  std::size_t position_ = 0;
  int depth_ = 0;
  int operators_ = 0;
};

Result<void> Parser::finish() {
  if (token().kind != TokenKind::kEnd) return syntax();
  if (limits_ != ExpressionLimits::kLifted && operators_ > kOperatorsMax) {
    return fail(Code::kValidation, fmt::format(message::kTooManyOperators, operators_));
  }
  return {};
}

Result<ConditionNode> Parser::chain(ConditionKind kind, std::string_view word,
                                    Result<ConditionNode> (Parser::*next)()) {
  STATOR_ASSIGN_OR_RETURN(ConditionNode first, (this->*next)());
  if (!at_word(word)) return first;
  ConditionNode node{.kind = kind};
  node.children.push_back(std::move(first));
  while (take_word(word)) {
    ++operators_;
    STATOR_ASSIGN_OR_RETURN(ConditionNode child, (this->*next)());
    node.children.push_back(std::move(child));
  }
  return node;
}

Result<ConditionNode> Parser::negation() {
  if (!take_word("NOT")) return primary();
  const Nesting nesting(depth_);
  if (nesting.too_deep()) return too_deep();
  ++operators_;
  STATOR_ASSIGN_OR_RETURN(ConditionNode child, negation());
  ConditionNode node{.kind = ConditionKind::kNot};
  node.children.push_back(std::move(child));
  return node;
}

// Whether an operand in parentheses follows, such as "(path)", "(:v)" or "(size(path))", and not a
// condition in parentheses.
bool Parser::at_parenthesized_operand() {
  const std::size_t start = position_;
  const int operators = operators_;
  std::size_t open = 0;
  while (take_symbol("(")) ++open;
  const bool found = !at_word("NOT") && unparenthesized_operand(false).has_value();
  while (open > 0 && take_symbol(")")) --open;
  position_ = start;
  operators_ = operators;
  return found && open == 0;
}

// Whether the parenthesis at `open` is closed by the last token that was read.
bool Parser::closed_just_before(std::size_t open) const {
  int depth = 0;
  for (std::size_t at = open; at < position_; ++at) {
    if (tokens_[at].kind != TokenKind::kSymbol) continue;
    depth += tokens_[at].text == "(" ? 1 : 0;
    depth -= tokens_[at].text == ")" ? 1 : 0;
    if (depth == 0) return at == position_ - 1;
  }
  return false;
}

Result<ConditionNode> Parser::primary() {
  if (at_symbol("(") && !at_parenthesized_operand()) return parenthesized();
  if (token().kind == TokenKind::kWord && token_after().text == "(" &&
      token_after().kind == TokenKind::kSymbol) {
    const auto function = find_function(kConditionFunctions, token().text);
    if (function != kConditionFunctions.end()) return condition_function(*function);
  }
  return comparison();
}

Result<ConditionNode> Parser::parenthesized() {
  const Nesting nesting(depth_);
  if (nesting.too_deep()) return too_deep();
  STATOR_RETURN_IF_ERROR(expect("("));
  const std::size_t inner = position_;
  const bool doubled = at_symbol("(");
  STATOR_ASSIGN_OR_RETURN(ConditionNode node, disjunction());
  // The inner pair encloses the whole content of the outer pair.
  if (doubled && at_symbol(")") && closed_just_before(inner)) {
    return fail(Code::kValidation, message::kRedundantParentheses);
  }
  STATOR_RETURN_IF_ERROR(expect(")"));
  return node;
}

Result<ConditionNode> Parser::condition_function(const ConditionFunction& function) {
  ++position_;
  ++operators_;
  ConditionNode node{.kind = function.kind};
  STATOR_ASSIGN_OR_RETURN(node.operands, arguments(function.name, function.operands, false));
  return node;
}

Result<ConditionNode> Parser::comparison() {
  ConditionNode node;
  STATOR_ASSIGN_OR_RETURN(Operand left, condition_operand());
  node.operands.push_back(std::move(left));
  ++operators_;
  if (take_word("BETWEEN")) return between(std::move(node));
  if (take_word("IN")) return in(std::move(node));
  const auto comparator =
      token().kind == TokenKind::kSymbol ? comparator_from(token().text) : std::nullopt;
  if (!comparator) return syntax();
  ++position_;
  node.comparator = *comparator;
  STATOR_ASSIGN_OR_RETURN(Operand right, condition_operand());
  node.operands.push_back(std::move(right));
  return node;
}

Result<ConditionNode> Parser::between(ConditionNode node) {
  node.kind = ConditionKind::kBetween;
  STATOR_ASSIGN_OR_RETURN(Operand lower, condition_operand());
  node.operands.push_back(std::move(lower));
  if (!take_word("AND")) return syntax();
  STATOR_ASSIGN_OR_RETURN(Operand upper, condition_operand());
  node.operands.push_back(std::move(upper));
  return node;
}

Result<ConditionNode> Parser::in(ConditionNode node) {
  node.kind = ConditionKind::kIn;
  STATOR_RETURN_IF_ERROR(expect("("));
  do {
    STATOR_ASSIGN_OR_RETURN(Operand candidate, condition_operand());
    node.operands.push_back(std::move(candidate));
  } while (take_symbol(","));
  STATOR_RETURN_IF_ERROR(expect(")"));
  const std::size_t candidates = node.operands.size() - 1;
  if (candidates > kInOperandsMax) {
    return fail(Code::kValidation, fmt::format(message::kInOperands, candidates));
  }
  return node;
}

Result<Operand> Parser::condition_operand() {
  if (!take_symbol("(")) return unparenthesized_operand(false);
  const Nesting nesting(depth_);
  if (nesting.too_deep()) return too_deep();
  const bool doubled = at_symbol("(");
  STATOR_ASSIGN_OR_RETURN(Operand operand, condition_operand());
  STATOR_RETURN_IF_ERROR(expect(")"));
  if (doubled) return fail(Code::kValidation, message::kRedundantParentheses);
  return operand;
}

Result<Operand> Parser::unparenthesized_operand(bool in_update) {
  if (token().kind == TokenKind::kWord && token_after().kind == TokenKind::kSymbol &&
      token_after().text == "(") {
    return operand_function(in_update);
  }
  return plain_operand();
}

Result<Operand> Parser::operand_function(bool in_update) {
  const std::string name(token().text);
  const auto function = find_function(kOperandFunctions, name);
  if (function == kOperandFunctions.end()) {
    if (find_function(kConditionFunctions, name) == kConditionFunctions.end()) {
      return fail(Code::kValidation, fmt::format(message::kInvalidFunction, name));
    }
    return fail(Code::kValidation,
                fmt::format(fmt::runtime(in_update ? message::kFunctionNotAllowedInUpdate
                                                   : message::kFunctionNotAllowed),
                            name));
  }
  if (function->in_updates != in_update) {
    return fail(Code::kValidation,
                fmt::format(fmt::runtime(in_update ? message::kFunctionNotAllowedInUpdate
                                                   : message::kFunctionNotAllowedInCondition),
                            name));
  }
  ++position_;
  ++operators_;
  Operand operand{.kind = function->kind};
  STATOR_ASSIGN_OR_RETURN(operand.operands, arguments(name, function->operands, in_update));
  return operand;
}

Result<std::vector<Operand>> Parser::arguments(std::string_view name, std::size_t count,
                                               bool in_update) {
  const Nesting nesting(depth_);
  if (nesting.too_deep()) return too_deep();
  STATOR_RETURN_IF_ERROR(expect("("));
  std::vector<Operand> operands;
  do {
    STATOR_ASSIGN_OR_RETURN(Operand operand, in_update ? set_operand() : condition_operand());
    operands.push_back(std::move(operand));
  } while (take_symbol(","));
  STATOR_RETURN_IF_ERROR(expect(")"));
  if (operands.size() != count) {
    return fail(Code::kValidation, fmt::format(message::kOperandCount, name, operands.size()));
  }
  return operands;
}

Result<Operand> Parser::plain_operand() {
  Operand operand;
  if (token().kind == TokenKind::kValue) {
    operand.kind = OperandKind::kValue;
    operand.token = token().text;
    ++position_;
    return operand;
  }
  STATOR_ASSIGN_OR_RETURN(operand.path, path());
  return operand;
}

Result<Path> Parser::path() {
  Path path;
  do {
    if (token().kind != TokenKind::kWord && token().kind != TokenKind::kName) return syntax();
    path.emplace_back(PathName{std::string(token().text)});
    ++position_;
    while (take_symbol("[")) {
      STATOR_ASSIGN_OR_RETURN(const uint32_t index, list_index());
      path.emplace_back(index);
      STATOR_RETURN_IF_ERROR(expect("]"));
    }
  } while (take_symbol("."));
  if (path.size() > kPathStepsMax) {
    return fail(Code::kValidation, fmt::format(message::kPathTooDeep, path.size()));
  }
  return path;
}

Result<uint32_t> Parser::list_index() {
  if (token().kind != TokenKind::kNumber) return syntax();
  const std::string_view digits = token().text;
  uint32_t index = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (read.ec != std::errc() || index > INT32_MAX) {
    return fail(Code::kValidation, fmt::format(message::kIndexTooLarge, digits));
  }
  ++position_;
  return index;
}

Result<Operand> Parser::set_value() {
  STATOR_ASSIGN_OR_RETURN(Operand left, set_operand());
  const bool plus = at_symbol("+");
  if (!plus && !at_symbol("-")) return left;
  ++position_;
  ++operators_;
  STATOR_ASSIGN_OR_RETURN(Operand right, set_operand());
  Operand sum{.kind = plus ? OperandKind::kPlus : OperandKind::kMinus};
  sum.operands.push_back(std::move(left));
  sum.operands.push_back(std::move(right));
  return sum;
}

Result<Operand> Parser::set_operand() {
  if (!take_symbol("(")) return unparenthesized_operand(true);
  const Nesting nesting(depth_);
  if (nesting.too_deep()) return too_deep();
  const std::size_t inner = position_;
  const bool doubled = at_symbol("(");
  STATOR_ASSIGN_OR_RETURN(Operand operand, set_value());
  if (doubled && at_symbol(")") && closed_just_before(inner)) {
    return fail(Code::kValidation, message::kRedundantParentheses);
  }
  STATOR_RETURN_IF_ERROR(expect(")"));
  return operand;
}

Result<UpdateAction> Parser::action(std::string_view section_name) {
  UpdateAction action{.position = position_};
  STATOR_ASSIGN_OR_RETURN(action.path, path());
  if (section_name == "REMOVE") return action;
  if (section_name == "SET") {
    STATOR_RETURN_IF_ERROR(expect("="));
    STATOR_ASSIGN_OR_RETURN(action.operand, set_value());
  } else {
    if (token().kind != TokenKind::kValue) return syntax();
    STATOR_ASSIGN_OR_RETURN(action.operand, plain_operand());
  }
  ++operators_;
  return action;
}

Result<void> Parser::section(std::string_view name, std::vector<UpdateAction>& actions) {
  if (!actions.empty()) {
    return fail(Code::kValidation, fmt::format(message::kSectionTwice, name));
  }
  do {
    STATOR_ASSIGN_OR_RETURN(UpdateAction next, action(name));
    actions.push_back(std::move(next));
  } while (take_symbol(","));
  return {};
}

Result<UpdateTree> Parser::update() {
  UpdateTree tree;
  while (token().kind != TokenKind::kEnd) {
    if (take_word("SET")) {
      STATOR_RETURN_IF_ERROR(section("SET", tree.sets));
    } else if (take_word("REMOVE")) {
      STATOR_RETURN_IF_ERROR(section("REMOVE", tree.removes));
    } else if (take_word("ADD")) {
      STATOR_RETURN_IF_ERROR(section("ADD", tree.adds));
    } else if (take_word("DELETE")) {
      STATOR_RETURN_IF_ERROR(section("DELETE", tree.deletes));
    } else {
      return syntax();
    }
  }
  STATOR_RETURN_IF_ERROR(finish());
  return tree;
}

Result<ProjectionTree> Parser::projection() {
  ProjectionTree paths;
  do {
    STATOR_ASSIGN_OR_RETURN(Path next, path());
    paths.push_back(std::move(next));
  } while (take_symbol(","));
  STATOR_RETURN_IF_ERROR(finish());
  return paths;
}

Result<Parser> open(std::string_view text, ExpressionLimits limits) {
  if (limits != ExpressionLimits::kLifted && text.size() > kBytesMax) {
    if (limits == ExpressionLimits::kEnforced) return fail(Code::kValidation, message::kTooLong);
    return fail(Code::kValidation, fmt::format(message::kTooLongWithSize, text.size()));
  }
  STATOR_ASSIGN_OR_RETURN(std::vector<Token> tokens, tokenize(text));
  if (tokens.size() == 1) return fail(Code::kValidation, message::kEmpty);
  return Parser(text, std::move(tokens), limits);
}

}  // namespace

Result<ConditionNode> parse_condition(std::string_view text, ExpressionLimits limits) {
  STATOR_ASSIGN_OR_RETURN(Parser parser, open(text, limits));
  return parser.condition();
}

Result<UpdateTree> parse_update(std::string_view text, ExpressionLimits limits) {
  // No layer reports the size of an update.
  if (limits == ExpressionLimits::kEnforcedWithSize) limits = ExpressionLimits::kEnforced;
  STATOR_ASSIGN_OR_RETURN(Parser parser, open(text, limits));
  return parser.update();
}

Result<ProjectionTree> parse_projection(std::string_view text, ExpressionLimits limits) {
  STATOR_ASSIGN_OR_RETURN(Parser parser, open(text, limits));
  return parser.projection();
}

}  // namespace stator::expression
