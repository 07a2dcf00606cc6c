// SPDX-License-Identifier: Apache-2.0
#include "expression/parser.h"

#include <gtest/gtest.h>

#include <random>

#include "expression/printer.h"
#include "support/matchers.h"

namespace stator::expression {
namespace {

using test::FailsWith;
using test::IsOk;

constexpr auto kEnforced = ExpressionLimits::kEnforced;

struct Case {
  const char* text;
  const char* printed;
};

TEST(Parser, ReadsConditions) {
  const Case cases[] = {
      {"a = :v", "a = :v"},
      {" a\n=\t:v ", "a = :v"},
      {"a.b[3].#c <> :v", "a.b[3].#c <> :v"},
      {":v <= a", ":v <= a"},
      {"(a = :v)", "a = :v"},
      {"(a) = (:v)", "a = :v"},
      {"(size(a)) > (:v)", "size(a) > :v"},
      {"((size(a)) > (:v))", "size(a) > :v"},
      {"a = :v AND b = :w or not c < :x", "a = :v AND b = :w OR NOT c < :x"},
      {"a = :v and (b = :w OR c = :x)", "a = :v AND (b = :w OR c = :x)"},
      {"(#0 = :0) AND (begins_with (#1, :1))", "#0 = :0 AND begins_with(#1, :1)"},
      {"NOT (a = :v AND b = :w)", "NOT (a = :v AND b = :w)"},
      {"NOT NOT a = :v", "NOT NOT a = :v"},
      {"a BETWEEN :x AND :y AND b = :z", "a BETWEEN :x AND :y AND b = :z"},
      {"size(a) BETWEEN :x and size(b)", "size(a) BETWEEN :x AND size(b)"},
      {"a IN (:x,:y , b)", "a IN (:x, :y, b)"},
      {"attribute_exists(a.b) AND attribute_not_exists (c)",
       "attribute_exists(a.b) AND attribute_not_exists(c)"},
      {"attribute_type(a, :t) OR contains(a, :v)", "attribute_type(a, :t) OR contains(a, :v)"},
      {"((a = :v) AND (b = :w))", "a = :v AND b = :w"},
      {"(((a = :v)) AND b = :w)", nullptr},
      {"and1 = :v", "and1 = :v"},
  };
  for (const auto& [text, printed] : cases) {
    const auto tree = parse_condition(text, kEnforced);
    if (printed == nullptr) {
      EXPECT_THAT(tree, FailsWith(Code::kValidation, "redundant parentheses")) << text;
      continue;
    }
    ASSERT_THAT(tree, IsOk()) << text;
    EXPECT_EQ(print(*tree), printed);
    const auto again = parse_condition(print(*tree), kEnforced);
    ASSERT_THAT(again, IsOk()) << print(*tree);
    EXPECT_EQ(print(*again), printed);
  }
}

TEST(Parser, ReadsUpdates) {
  const Case cases[] = {
      {"SET a = :v", "SET a = :v"},
      {"set a=:v,b.c[0]=b.d remove e , f[1]", "SET a = :v, b.c[0] = b.d REMOVE e, f[1]"},
      {"ADD n :one DELETE s :t", "ADD n :one DELETE s :t"},
      {"REMOVE a\nSET b = if_not_exists(b, :zero) + :one",
       "SET b = if_not_exists(b, :zero) + :one REMOVE a"},
      {"SET l = list_append(if_not_exists(l, :e), :x)",
       "SET l = list_append(if_not_exists(l, :e), :x)"},
      {"SET a = (b + :v)", "SET a = b + :v"},
      {"SET a = (b - c) + :v", "SET a = (b - c) + :v"},
  };
  for (const auto& [text, printed] : cases) {
    const auto tree = parse_update(text, kEnforced);
    ASSERT_THAT(tree, IsOk()) << text;
    EXPECT_EQ(print(*tree), printed);
    EXPECT_EQ(print(*parse_update(printed, kEnforced)), printed);
  }
}

TEST(Parser, ReadsProjections) {
  const auto paths = parse_projection("a, b.c ,#d[2][3]", kEnforced);
  ASSERT_THAT(paths, IsOk());
  EXPECT_EQ(print(*paths), "a, b.c, #d[2][3]");
}

TEST(Parser, RejectsMalformedConditions) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "The expression can not be empty;"},
      {"  ", "The expression can not be empty;"},
      {"a = = b", "Syntax error; token: \"=\", near: \"= = b\""},
      {"a", "Syntax error; token: \"<EOF>\", near: \"a\""},
      {"a = :v b", "token: \"b\", near: \":v b\""},
      {"a = $v", "token: \"$\""},
      {"\xc3\xa9 = :v", "token: \"\xc3\xa9\", near: \"\xc3\xa9 =\""},
      {"((a)) = :v", "The expression has redundant parentheses;"},
      {"(((a)) = :v)", "The expression has redundant parentheses;"},
      {"a == :v", "Syntax error"},
      {"(a = :v", "token: \"<EOF>\""},
      {"a = :v)", "token: \")\""},
      {"a[b] = :v", "token: \"b\""},
      {"a[-1] = :v", "token: \"-\""},
      {"a. = :v", "Syntax error"},
      {"# = :v", "token: \"#\""},
      {"a = :", "token: \":\""},
      {"((a = :v))", "The expression has redundant parentheses;"},
      {"a = :v AND ((b = :w))", "The expression has redundant parentheses;"},
      {"exists(a)", "Invalid function name; function: exists"},
      {"Attribute_Exists(a)", "Invalid function name; function: Attribute_Exists"},
      {"attribute_exists(a, b)",
       "Incorrect number of operands for operator or function; operator or function: "
       "attribute_exists, number of operands: 2"},
      {"begins_with(a)", "number of operands: 1"},
      {"if_not_exists(a, :v) = :v", "not allowed in a condition expression"},
      {"contains(a, :v) = :v", "Syntax error"},
      {"size(a)", "Syntax error"},
      {"a + b = :v", "Syntax error"},
      {"a IN ()", "Syntax error"},
      {"(NOT) < a", "Syntax error; token: \")\", near: \"NOT) <\""},
      {"(NOT.a) < b", "Syntax error; token: \".\", near: \"NOT.a\""},
      {"a[99999999999] = :v", "List index is not within the allowable range"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(parse_condition(text, kEnforced), FailsWith(Code::kValidation, message)) << text;
  }
}

TEST(Parser, RejectsMalformedUpdates) {
  const std::pair<const char*, const char*> cases[] = {
      {"a = :v", "Syntax error"},
      {"SET a :v", "Syntax error"},
      {"SET", "Syntax error"},
      {"ADD a = :v", "Syntax error"},
      {"ADD a b", "Syntax error"},
      {"SET a = :v SET b = :v", "The \"SET\" section can only be used once"},
      {"SET a = size(b)", "not allowed in an update expression; function: size"},
      {"SET a = :x + :y + :z", "Syntax error"},
      {"SET a = ((b + :v))", "The expression has redundant parentheses;"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(parse_update(text, kEnforced), FailsWith(Code::kValidation, message)) << text;
  }
}

TEST(Parser, BoundsLengthOperatorsAndDepth) {
  EXPECT_THAT(
      parse_condition(std::string(4097, 'a'), kEnforced),
      FailsWith(Code::kValidation, "Expression size has exceeded the maximum allowed size;"));
  EXPECT_THAT(parse_condition(std::string(4097, 'a'), ExpressionLimits::kEnforcedWithSize),
              FailsWith(Code::kValidation, "maximum allowed size; expression size: 4097"));
  std::string chain = "a=:v";
  for (int i = 0; i < 160; ++i) chain += " AND a=:v";
  EXPECT_THAT(parse_condition(chain, kEnforced),
              FailsWith(Code::kValidation, "too many operators"));
  EXPECT_THAT(parse_condition(chain, ExpressionLimits::kLifted), IsOk());
  std::string list = "a IN (:v";
  for (int i = 0; i < 100; ++i) list += ",:v";
  EXPECT_THAT(parse_condition(list + ")", kEnforced), FailsWith(Code::kValidation, "101"));
  for (const std::string& deep :
       {std::string(4000, '('), std::string(1300, '(') + "a=:v" + std::string(1300, ')'),
        [] {
          std::string text;
          for (int i = 0; i < 1000; ++i) text += "NOT ";
          return text;
        }(),
        [] {
          std::string text;
          for (int i = 0; i < 800; ++i) text += "size(";
          return text;
        }()}) {
    EXPECT_FALSE(parse_condition(deep, kEnforced));
    EXPECT_FALSE(parse_condition(deep, ExpressionLimits::kLifted));
    EXPECT_FALSE(parse_update("SET a = " + deep, ExpressionLimits::kLifted));
  }
  std::string path = "a";
  for (int i = 0; i < 32; ++i) path += ".a";
  EXPECT_THAT(parse_projection(path, kEnforced),
              FailsWith(Code::kValidation, "nesting levels: 33"));
}

TEST(Parser, SurvivesAnyTokensInAnyOrder) {
  const std::vector<std::string> parts = {
      "a",    "#n",       ":v",  "(",      ")",   "[",  "]",   "1",       ".",
      ",",    "=",        "<>",  "<",      "AND", "OR", "NOT", "BETWEEN", "IN",
      "size", "contains", "SET", "REMOVE", "ADD", "+",  "-",   " ",       "\xff"};
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (auto n = random() % 20; n > 0; --n)
      text += parts[random() % parts.size()] + (random() % 2 ? " " : "");
    if (const auto tree = parse_condition(text, kEnforced)) {
      const auto again = parse_condition(print(*tree), kEnforced);
      ASSERT_THAT(again, IsOk()) << text;
      EXPECT_EQ(print(*again), print(*tree));
    }
    if (const auto tree = parse_update(text, kEnforced)) {
      EXPECT_EQ(print(*parse_update(print(*tree), kEnforced)), print(*tree)) << text;
    }
    (void)parse_projection(text, kEnforced);
  }
}

}  // namespace
}  // namespace stator::expression
