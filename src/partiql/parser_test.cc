// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "partiql/parser.h"
#include "partiql/planner.h"
#include "partiql/printer.h"
#include "support/matchers.h"

namespace stator::partiql {
namespace {

using test::FailsWith;

constexpr std::string_view kBad = "Statement wasn't well formed, can't be processed: ";

struct Printed {
  std::string_view text;
  std::string_view printed;
};

TEST(Parser, PrintsAndParsesTheSameTree) {
  constexpr Printed kCases[] = {
      {"select * from Music", R"(SELECT * FROM "Music")"},
      {"SELECT * FROM \"T\".\"ix\" WHERE a = 1;", R"(SELECT * FROM "T"."ix" WHERE ("a" = 1))"},
      {"SELECT a, b.c[0] FROM T", R"(SELECT "a", "b"."c"[0] FROM "T")"},
      {"SELECT a['b'] FROM T", R"(SELECT "a"."b" FROM "T")"},
      {"SELECT * FROM T WHERE a = 'it''s' AND b != .5e1 OR NOT c",
       R"(SELECT * FROM "T" WHERE ((("a" = 'it''s') and ("b" <> .5e1)) or (not "c")))"},
      {"SELECT * FROM T WHERE a IS NOT MISSING AND b IS DOUBLE PRECISION",
       R"(SELECT * FROM "T" WHERE (("a" IS NOT MISSING) and ("b" IS DOUBLE PRECISION)))"},
      {"SELECT * FROM T WHERE a NOT BETWEEN 1 AND 2 AND b IN ('x')",
       R"(SELECT * FROM "T" WHERE (("a" NOT BETWEEN 1 AND 2) and ("b" IN ['x'])))"},
      {"SELECT * FROM T WHERE a IN b - -? * 2 - 1",
       R"(SELECT * FROM "T" WHERE ("a" IN "b" - ((- ?) * 2) - 1))"},
      {"SELECT * FROM T /* c */ WHERE p = ? -- d\n ORDER BY s DESC, p",
       R"(SELECT * FROM "T" WHERE ("p" = ?) ORDER BY "s" DESC, "p")"},
      {"INSERT INTO T VALUE {'a': <<1, -2>>, 'b': [true, null, {}]}",
       R"(INSERT INTO "T" VALUE {'a': <<1, -2>>, 'b': [true, null, {}]})"},
      {"UPDATE T SET a = a + 1, b = list_append(b, [1]) REMOVE c[1] WHERE p = 1 "
       "RETURNING MODIFIED OLD *",
       R"(UPDATE "T" SET "a" = ("a" + 1) SET "b" = list_append("b", [1]) REMOVE "c"[1] )"
       R"(WHERE ("p" = 1) RETURNING MODIFIED OLD *)"},
      {"FROM T WHERE p = 1 SET a = 2", R"(UPDATE "T" SET "a" = 2 WHERE ("p" = 1))"},
      {"DELETE FROM T WHERE p = 1 RETURNING ALL OLD *",
       R"(DELETE FROM "T" WHERE ("p" = 1) RETURNING ALL OLD *)"},
      {"EXISTS(SELECT * FROM T WHERE p = 1)", R"(EXISTS(SELECT * FROM "T" WHERE ("p" = 1)))"},
  };
  for (const auto& [text, printed] : kCases) {
    const auto statement = parse(text);
    ASSERT_TRUE(statement) << text << ": " << statement.error().message;
    EXPECT_EQ(print(*statement), printed) << text;
    const auto again = parse(print(*statement));
    ASSERT_TRUE(again) << print(*statement) << ": " << again.error().message;
    EXPECT_EQ(print(*again), printed);
  }
}

TEST(Parser, ReportsMalformedStatements) {
  constexpr Printed kCases[] = {
      {"SELECT * FROM T WHERE", "Unexpected term"},
      {"SELECT * FROM T WHERE;", "Unexpected term"},
      {"SELECT * FROM T WHERE (", "Unexpected term"},
      {"SELECT * FROM", "Unexpected term"},
      {"SELECT * FROM T WHERE a = 1 AND", "Missing right-hand side expression of infix operator"},
      {"SELECT * FROM T WHERE ORDER BY a", "Unexpected keyword"},
      {"SELECT * FROM T WHERE IS NULL", "Unexpected operator"},
      {"SELECT * FROM T WHERE a = LIKE", "Unexpected operator"},
      {"SELECT * FROM T WHERE a IS FOO", "Expected type name"},
      {"SELECT * FROM T WHERE a = 1 foo", "Unexpected token after expression"},
      {"SELECT * FROM T WHERE a = 1)", "Unexpected token after expression"},
      {"SELECT * FROM T ORDER BY a WHERE a = 1", "Unexpected token after expression"},
      {"DELETE FROM T WHERE a = 1 ORDER BY a", "Unexpected token after expression"},
      {"FROM T SET c = 1 WHERE a = 1", "Unexpected token after expression"},
      {"INSERT INTO T t VALUE {'a': 1}", "Unexpected token after expression"},
      {"SELECTT * FROMM \"T\"", "Unexpected token after expression"},
      {"DELETE FROM", "Expected identifier for simple path"},
      {"DELETE FROM WHERE a = 1", "Expected identifier for simple path"},
      {"SLECT * FROM T WHERE a = 1", "Expected data manipulation"},
      {"UPDATE T-x SET a = 1", "Expected data manipulation"},
      {"INSERT INTO urls (key, value) VALUES (1, 2)", "Unexpected keyword"},
      {"SELECT * FROM T WHERE m.inner = 1", "Invalid path dot component"},
      {"SELECT * FROM T WHERE a = 1e2147483648", ""},
      {"SELECT * FROM T WHERE a = 1.5e-2147483647", ""},
      {"SELECT * FROM T WHERE a = 1 # note", ""},
      {"SELECT * FROM T WHERE a = 1 /* note", ""},
      {"SELECT * FROM \"T", ""},
  };
  for (const auto& [text, detail] : kCases) {
    const auto statement = parse(text);
    ASSERT_FALSE(statement) << text;
    EXPECT_EQ(statement.error().code, Code::kValidation) << text;
    EXPECT_EQ(statement.error().message, std::string(kBad).append(detail)) << text;
  }
}

TEST(Parser, RefusesDeepNestingInsteadOfOverflowingItsStack) {
  const auto deep = [](std::string_view open, std::string_view close) {
    std::string text = "SELECT * FROM T WHERE a = ";
    for (int i = 0; i < 4000; ++i) text += open;
    text += "1";
    for (int i = 0; i < 4000; ++i) text += close;
    return text;
  };
  for (const auto& [open, close] :
       {std::pair{"(", ")"}, std::pair{"[", "]"}, std::pair{"<<", ">>"}, std::pair{"{'a':", "}"},
        std::pair{"- ", ""}, std::pair{"1 + ", ""}, std::pair{"1 = ", ""}}) {
    const auto statement = parse(deep(open, close));
    ASSERT_FALSE(statement) << open;
    EXPECT_NE(statement.error().message.find("nested too deeply"), std::string::npos) << open;
  }
  std::string negations = "SELECT * FROM T WHERE ";
  for (int i = 0; i < 2000; ++i) negations += "NOT ";
  EXPECT_FALSE(parse(negations + "a = 1"));
}

TEST(Planner, RejectsMeaninglessStatements) {
  constexpr Printed kCases[] = {
      {"x IS INT4", "Unsupported operation: IsType"},
      {"CREATE TABLE x", "Unsupported operation: CreateTable"},
      {"SELECT * FROM T t WHERE a = 1", "Aliasing is not supported"},
      {"DELETE FROM T t WHERE a = 1", "Aliasing is not supported"},
      {"SELECT * FROM T.a.b", "A path may contain at most 2 components in the FROM clause"},
      {"SELECT * FROM \"\"", "Path component cannot be an empty string"},
      {"SELECT size(l) FROM T", "Unexpected path component at 1:8:4"},
      {"SELECT  count(*) FROM T", "Unexpected path component at 1:9:5"},
      {"SELECT * FROM T\nWHERE exists(a)", "Unrecognized function: exists at 2:7:6"},
      {"SELECT * FROM T WHERE a LIKE 'x'",
       "Unsupported operator in Condition Expression. Operator: like"},
      {"SELECT * FROM T WHERE a = MISSING", "MISSING must be compared using IS operator"},
      {"SELECT * FROM T LIMIT 5", "Unsupported clause: LIMIT at 1:23:1"},
      {"SELECT * FROM T WHERE a = 1e126",
       "Number overflow. Attempting to store a number with magnitude larger than supported range "
       "under root"},
      {"INSERT INTO T VALUE {'m': {'x': 1e126}}",
       "Number overflow. Attempting to store a number with magnitude larger than supported range "
       "under root.x"},
      {"INSERT INTO T VALUE {'l': [1, 1e126]}",
       "Number overflow. Attempting to store a number with magnitude larger than supported range "
       "under root[1]"},
      {"INSERT INTO T VALUE {'s': <<>>}", "Empty bags are not supported"},
      {"INSERT INTO T VALUE {'s': <<'x', 'x'>>}",
       "One or more parameter values were invalid: Input collection [x, x] contains duplicates."},
      {"INSERT INTO T VALUE {'s': set_add(<<'a'>>, <<'b'>>)}",
       "Unsupported data type: set_add under key root at 1:27:7"},
      {"UPDATE T SET t = set_add(s, <<'x'>>)",
       "The first argument to SET_ADD must equal the assignment value at 1:18:7"},
      {"UPDATE T SET s = set_add(s, 'x')",
       "The second argument to SET_ADD must be a value with type SET at 1:26:1"},
      {"UPDATE T SET s = set_delete(s)", "SET_DELETE must have exactly two arguments at 1:18:10"},
      {"SELECT * FROM T WHERE attribute_exists('s')",
       "Operator or function requires a document path; operator or function: attribute_exists"},
      {"SELECT * FROM T WHERE attribute_exists()",
       "Incorrect number of operands for operator or function; operator or function: "
       "attribute_exists, number of operands: 0"},
      {"SELECT * FROM T WHERE a < true",
       "Incorrect operand type for operator or function; operator or function: <, operand type: "
       "BOOL"},
      {"SELECT * FROM T WHERE a = ?", "Number of parameters in request and statement don't match."},
      {"DELETE FROM T RETURNING MODIFIED NEW *",
       "Invalid returning clause: RETURNING MODIFIED NEW *. Only RETURNING ALL OLD * is allowed in "
       "DELETE statements."},
      {"SELECT a.x, x FROM T", "Duplicate identifiers in select clause: x"},
      {"SELECT * FROM T ORDER BY a",
       "Must have WHERE clause in the statement when using ORDER BY clause."},
  };
  for (const auto& [text, message] : kCases) {
    EXPECT_THAT(plan(text, {}), FailsWith(Code::kValidation, std::string(message))) << text;
  }
}

}  // namespace
}  // namespace stator::partiql
