// SPDX-License-Identifier: Apache-2.0
// Names, values, evaluation: expressions as the engine uses them.
#include "expression/expression.h"

#include <gtest/gtest.h>

#include "support/matchers.h"

namespace stator {
namespace {

using test::FailsWith;
using test::IsOk;

const Item& film() {
  static const Item item = {
      {"pk", "film"},
      {"n", 5},
      {"title", "naïve"},
      {"raw_bytes", Binary{"\x01\xff"}},
      {"yes", true},
      {"nothing", nullptr},
      {"tags", StringSet{"a", "b"}},
      {"numbers", NumberSet{1, *Number::parse("2.50")}},
      {"players", List{"Perkins", 2, Map{{"part", "K"}}}},
      {"info", Map{{"rating", *Number::parse("7.6")}, {"deep", Map{{"er", List{1, 2, 3}}}}}},
  };
  return item;
}

const Values& values() {
  static const Values all = {
      {":five", *Number::parse("5.0")},
      {":six", 6},
      {":naive", "naïve"},
      {":na", "na"},
      {":a", "a"},
      {":z", "z"},
      {":yes", true},
      {":null", nullptr},
      {":ab", StringSet{"b", "a"}},
      {":n25", *Number::parse("25e-1")},
      {":S", "S"},
      {":SS", "SS"},
      {":ff", Binary{"\xff"}},
      {":bytes", Binary{"\x01\xff"}},
      {":bad", "X"},
      {":list", List{"x"}},
      {":one", 1},
      {":empty", List{}},
      {":info", Map{{"deep", Map{{"er", List{1, 2, 3}}}}, {"rating", *Number::parse("7.60")}}},
      {":tag", StringSet{"a", "c"}},
      {":nset", NumberSet{1}},
      {":map", Map{{"k", "v"}}},
      {":two", 2},
      {":three", 3},
  };
  return all;
}

const Names& names() {
  static const Names all = {{"#n", "n"}, {"#dot", "a.b"}, {"#tags", "tags"}};
  return all;
}

Result<Condition> condition(const std::string& text) {
  Placeholders placeholders(&names(), &values());
  return Condition::parse(text, ConditionRole::kCondition, placeholders);
}

TEST(ConditionExpression, IsDecidedAsInDynamoDb) {
  const EncodedItem item = encode_item(film());
  const std::pair<const char*, bool> cases[] = {
      {"n = :five", true},
      {"#n < :six", true},
      {"n > :six", false},
      {"n = :a", false},
      {"n < :a", false},
      {"gone <> :a", true},
      {"gone = :a", false},
      {"gone < :a", false},
      {"NOT gone = :a", true},
      {"n <> :a", true},
      {"title = :naive", true},
      {"begins_with(title, :na)", true},
      {"begins_with(n, :na)", false},
      {"begins_with(raw_bytes, :ff)", false},
      {"raw_bytes > :ff", false},
      {"raw_bytes = :bytes", true},
      {"contains(raw_bytes, :ff)", true},
      {"contains(title, :z)", false},
      {"contains(tags, :a)", true},
      {"contains(tags, :z)", false},
      {"contains(numbers, :n25)", true},
      {"contains(players, :two)", true},
      {"tags = :ab", true},
      {"info = :info", true},
      {"info.rating > :five", true},
      {"info.deep.er[1] = :two", true},
      {"info.deep.er[3] = :two", false},
      {"players[2].part = :a", false},
      {"attribute_exists(players[2].part)", true},
      {"attribute_not_exists(players[3])", true},
      {"attribute_not_exists(n.x)", true},
      {"attribute_type(title, :S)", true},
      {"attribute_type(tags, :S)", false},
      {"attribute_type(tags, :SS)", true},
      {"size(title) = :five", true},
      {"size(raw_bytes) = :two", true},
      {"size(tags) = :two", true},
      {"size(players) = :three", true},
      {"size(info) < :three", true},
      {"size(n) = :one", false},
      {"size(gone) <> :one", true},
      {"yes = :yes", true},
      {"nothing = :null", true},
      {"yes < :five", false},
      {"n BETWEEN :five AND :six", true},
      {"n BETWEEN :six AND :six", false},
      {"size(tags) BETWEEN :one AND :three", true},
      {"n IN (:a, :five)", true},
      {"n IN (:a, :six)", false},
      {"gone IN (:a)", false},
      {"n = :five AND gone = :a OR yes = :yes", true},
      {"n = :six OR NOT yes = :yes", false},
      {"attribute_not_exists(#dot)", true},
      {"n = info.deep.er[0]", false},
  };
  for (const auto& [text, holds] : cases) {
    const auto parsed = condition(text);
    ASSERT_THAT(parsed, IsOk()) << text;
    EXPECT_EQ(parsed->matches(ItemView(item)), holds) << text;
  }
}

TEST(ConditionExpression, OfAnAbsentItemSeesNoAttributes) {
  EXPECT_TRUE(condition("attribute_not_exists(pk)")->matches(std::nullopt));
  EXPECT_FALSE(condition("attribute_exists(pk)")->matches(std::nullopt));
  EXPECT_TRUE(condition("n <> :five")->matches(std::nullopt));
}

TEST(ConditionExpression, RejectsMeaninglessConditions) {
  const std::pair<const char*, const char*> cases[] = {
      {"size = :a",
       "Invalid ConditionExpression: Attribute name is a reserved keyword; reserved keyword: size"},
      {"Status = :a", "reserved keyword: Status"},
      {"#x = :a", "attribute name: #x"},
      {"a = :x", "attribute value: :x"},
      {"a < :yes", "operator or function: <, operand type: BOOL"},
      {"begins_with(a, :five)", "operator or function: begins_with, operand type: N"},
      {"size(:five) = :one", "operator or function: size, operand type: N"},
      {"size(size(a)) = :one", "operator or function: size, operand type: N"},
      {"begins_with(a, size(b))", "operator or function: begins_with, operand type: N"},
      {"contains(size(a), :one)", "operator or function: contains, operand type: N"},
      {"attribute_type(a, :bad)", "Invalid attribute type name found; type: X"},
      {"attribute_type(a, :five)", "operator or function: attribute_type, operand type: N"},
      {"attribute_exists(:a)", "requires a document path"},
      {"a = a", "first operand: [a]"},
      {"a BETWEEN :one AND a", "operator: BETWEEN, first operand: [a]"},
      {"attribute_type(a, a)", "operator: attribute_type, first operand: [a]"},
      {"b.c[1] < b.c[1]", "operator: <, first operand: [b, c, [1]]"},
      {"n BETWEEN :six AND :five",
       "lower bound operand: AttributeValue: {N:6}, upper bound operand: AttributeValue: {N:5}"},
      {"n BETWEEN :six AND :z", "requires same data type"},
      {"n BETWEEN :bytes AND :z",
       "lower bound operand: AttributeValue: "
       "{B:java.nio.HeapByteBuffer[pos=0 lim=2 cap=2]}"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(condition(text), FailsWith(Code::kValidation, message)) << text;
  }
}

TEST(ConditionExpression, RefusesNamesThatBeginWithAnUnderscore) {
  const std::pair<const char*, const char*> cases[] = {
      {"_abc = :a", "Syntax error; token: \"_\", near: \"_abc\""},
      {"a._b = :a", "Syntax error; token: \"_\", near: \"._b\""},
      {"a = _", "Syntax error; token: \"_\", near: \"= _\""},
      {"_f(b)", "Syntax error; token: \"_\", near: \"_f\""},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(condition(text), FailsWith(Code::kValidation, message)) << text;
  }
  EXPECT_THAT(condition("a_ = :a AND a_b.c_1 = :a"), IsOk());
}

TEST(ConditionExpression, NamesItsTopLevelAttributes) {
  const auto parsed = condition("info.rating = :one AND size(#tags) = :two OR contains(title, :a)");
  ASSERT_THAT(parsed, IsOk());
  EXPECT_EQ(parsed->attributes(), (std::set<std::string, std::less<>>{"info", "tags", "title"}));
}

TEST(Placeholders, MustBeWellFormedAndUsed) {
  const Names names_map = {{"#a", "a"}};
  const Values values_map = {{":v", 1}, {":w", 2}};
  Placeholders placeholders(&names_map, &values_map);
  EXPECT_THAT(placeholders.validate(), IsOk());
  EXPECT_THAT(Condition::parse("#a = :v", ConditionRole::kFilter, placeholders), IsOk());
  EXPECT_THAT(
      placeholders.check_all_used(),
      FailsWith(Code::kValidation, "ExpressionAttributeValues unused in expressions: keys: {:w}"));
  const Names empty;
  EXPECT_THAT(Placeholders(&empty, nullptr).validate(),
              FailsWith(Code::kValidation, "must not be empty"));
  const Names bad = {{"a", "a"}};
  EXPECT_THAT(Placeholders(&bad, nullptr).validate(),
              FailsWith(Code::kValidation, "contains invalid key: Syntax error; key: \"a\""));
  const Names keyless = {{"", "a"}};
  EXPECT_THAT(Placeholders(&keyless, nullptr).validate(),
              FailsWith(Code::kValidation, "The expression attribute map contains an empty key;"));
  const Names nameless = {{"#a", ""}};
  EXPECT_THAT(Placeholders(&nameless, nullptr).validate(),
              FailsWith(Code::kValidation, "Empty attribute name for key #a"));
}

Result<Item> update(const std::string& text, const std::optional<Item>& old = film()) {
  Placeholders placeholders(&names(), &values());
  STATOR_ASSIGN_OR_RETURN(const Update parsed, Update::parse(text, placeholders));
  const EncodedItem encoded = old ? encode_item(*old) : EncodedItem();
  const auto view = old ? std::optional<ItemView>(encoded) : std::nullopt;
  STATOR_ASSIGN_OR_RETURN(const std::optional<EncodedItem> changed,
                          parsed.apply(view, {{"pk", "film"}}));
  if (!changed) return Item();
  EXPECT_TRUE(validate_item(*changed));
  return decode_item(ItemView(*changed));
}

AttributeValue updated(const std::string& text, const std::string& attribute,
                       const std::optional<Item>& old = film()) {
  const auto changed = update(text, old);
  EXPECT_THAT(changed, IsOk()) << text;
  return changed && changed->contains(attribute) ? changed->at(attribute)
                                                 : AttributeValue("absent");
}

TEST(UpdateExpression, ReadsTheOldImage) {
  const auto changed = update("SET n = :six, title = n, #dot = n");
  ASSERT_THAT(changed, IsOk());
  EXPECT_EQ(changed->at("n"), AttributeValue(6));
  EXPECT_EQ(changed->at("title"), AttributeValue(5));
  EXPECT_EQ(changed->at("a.b"), AttributeValue(5));
}

TEST(UpdateExpression, ComputesAndAppends) {
  EXPECT_EQ(updated("SET n = n + :one", "n"), AttributeValue(6));
  EXPECT_EQ(updated("SET n = :one - n", "n"), AttributeValue(-4));
  EXPECT_EQ(updated("SET m = if_not_exists(m, :five) + :one", "m"), AttributeValue(6));
  EXPECT_EQ(updated("SET n = if_not_exists(n, :one)", "n"), AttributeValue(5));
  EXPECT_EQ(updated("SET l = list_append(if_not_exists(l, :empty), :list)", "l"),
            AttributeValue(List{"x"}));
  EXPECT_EQ(updated("SET info.deep.er = list_append(:list, info.deep.er)", "info"),
            AttributeValue(
                Map{{"deep", Map{{"er", List{"x", 1, 2, 3}}}}, {"rating", *Number::parse("7.6")}}));
  EXPECT_EQ(updated("SET #tags = :map", "tags"), AttributeValue(Map{{"k", "v"}}));
}

TEST(UpdateExpression, WritesListElementsByTheirOldNumbers) {
  EXPECT_EQ(updated("SET players[9] = :z, players[7] = :a, players[0] = :one", "players"),
            AttributeValue(List{1, 2, Map{{"part", "K"}}, "a", "z"}));
  EXPECT_EQ(updated("REMOVE players[0], players[2]", "players"), AttributeValue(List{2}));
  EXPECT_EQ(updated("SET players[1] = :a REMOVE players[0]", "players"),
            AttributeValue(List{"a", Map{{"part", "K"}}}));
  EXPECT_EQ(updated("REMOVE players[10]", "players"), film().at("players"));
}

TEST(UpdateExpression, AddsAndDeletes) {
  EXPECT_EQ(updated("ADD n :one, fresh :five", "fresh"), AttributeValue(5));
  EXPECT_EQ(updated("ADD #tags :tag", "tags"), AttributeValue(StringSet{"a", "b", "c"}));
  EXPECT_EQ(updated("DELETE #tags :tag", "tags"), AttributeValue(StringSet{"b"}));
  EXPECT_EQ(updated("DELETE #tags :ab", "tags"), AttributeValue("absent"));
  EXPECT_EQ(updated("DELETE gone :ab", "gone"), AttributeValue("absent"));
  EXPECT_EQ(
      updated("ADD info.rating :one", "info"),
      AttributeValue(Map{{"deep", Map{{"er", List{1, 2, 3}}}}, {"rating", *Number::parse("8.6")}}));
}

TEST(UpdateExpression, CreatesAnAbsentItemFromItsKey) {
  const auto made = update("SET a = :one REMOVE b", std::nullopt);
  ASSERT_THAT(made, IsOk());
  EXPECT_EQ(*made, (Item{{"pk", "film"}, {"a", 1}}));
}

TEST(UpdateExpression, MakesNoItemToRemoveFrom) {
  for (const char* text : {"REMOVE a", "REMOVE a.b, c[0]", "DELETE a :ab", "DELETE a.b :ab",
                           "REMOVE a DELETE b[1] :ab"}) {
    const auto made = update(text, std::nullopt);
    ASSERT_THAT(made, IsOk()) << text;
    EXPECT_EQ(*made, Item()) << text;
  }
  EXPECT_EQ(*update("ADD a :one REMOVE b", std::nullopt), (Item{{"pk", "film"}, {"a", 1}}));
  for (const char* text : {"SET a = :one REMOVE b.c", "SET a = :one DELETE b[0] :ab"}) {
    EXPECT_THAT(update(text, std::nullopt), FailsWith(Code::kValidation, "invalid for update"));
  }
}

TEST(UpdateExpression, NestsNoFunctionButIfNotExists) {
  const std::string refused =
      "Invalid UpdateExpression: The function is not allowed to be used this way in an expression; "
      "function: list_append";
  for (const char* text : {
           "SET a = list_append(list_append(:list, :list), :list)",
           "SET a = list_append(:list, (list_append(:list, :list)))",
           "SET a = if_not_exists(a, list_append(b, :list))",
           "SET a = list_append(:list, :list) + :one",
           "SET a = :one - list_append(:undefined, :list)",
       }) {
    EXPECT_THAT(update(text), FailsWith(Code::kValidation, refused)) << text;
  }
  EXPECT_EQ(updated("SET a = if_not_exists(b, if_not_exists(c, n))", "a"), AttributeValue(5));
  EXPECT_EQ(updated("SET a = if_not_exists(b, :one) + if_not_exists(c, n)", "a"),
            AttributeValue(6));
}

TEST(UpdateExpression, RejectsOperandsThatDoNotFitTheItem) {
  const std::pair<const char*, const char*> cases[] = {
      {"SET a = gone", "refers to an attribute that does not exist in the item"},
      {"SET a = title + :one", "An operand in the update expression has an incorrect data type"},
      {"SET a = list_append(title, :list)", "incorrect data type"},
      {"SET gone.a = :one",
       "document path provided in the update expression is invalid for update"},
      {"SET title.a = :one", "invalid for update"},
      {"SET info[0] = :one", "invalid for update"},
      {"REMOVE gone.a", "invalid for update"},
      {"ADD title :one", "incorrect data type"},
      {"ADD #tags :nset", "incorrect data type"},
      {"DELETE #tags :nset", "incorrect data type"},
      {"ADD a :z",
       "Invalid UpdateExpression: Incorrect operand type for operator or function; operator: ADD, "
       "operand type: STRING"},
      {"DELETE a :one", "operator: DELETE, operand type: NUMBER"},
      {"SET a = :z + :one", "operator or function: +, operand type: S"},
      {"SET a = list_append(:z, b)", "operator or function: list_append, operand type: S"},
      {"SET a = if_not_exists(:z, b)", "requires a document path"},
      {"SET a = if_not_exists(b, b)",
       "The first operand must be distinct from the remaining operands for this operator or "
       "function; operator: if_not_exists, first operand: [b]"},
      {"SET a = :one, a = :one",
       "Two document paths overlap with each other; must remove or rewrite one of these paths; "
       "path one: [a], path two: [a]"},
      {"SET a.b = :one REMOVE a", "path one: [a, b], path two: [a]"},
      {"REMOVE a SET a.b = :one", "path one: [a], path two: [a, b]"},
      {"SET a = :one ADD a :z", "Two document paths overlap"},
      {"SET a.b = :one, a[0] = :one", "Two document paths conflict"},
      {"SET n = :one ADD n :one", "overlap"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(update(text), FailsWith(Code::kValidation, message)) << text;
  }
}

TEST(UpdateExpression, LegacyActionsNameATypeThatDoesNotFitInTheirOwnWay) {
  Placeholders placeholders(&names(), &values());
  const auto parsed = Update::parse("ADD title :one", placeholders, ExpressionLimits::kLifted);
  ASSERT_THAT(parsed, IsOk());
  const EncodedItem old = encode_item(film());
  EXPECT_THAT(parsed->apply(ItemView(old), {}),
              FailsWith(Code::kValidation, "Type mismatch for attribute to update"));
}

TEST(UpdateExpression, ShowsOnlyTheFragmentsThatItWrote) {
  Placeholders placeholders(&names(), &values());
  const auto parsed = Update::parse(
      "SET info.deep.er[2] = :one, players[1] = :z, n = :six REMOVE gone", placeholders);
  ASSERT_THAT(parsed, IsOk());
  const EncodedItem old = encode_item(film());
  EXPECT_EQ(decode_item(ItemView(parsed->updated_part(ItemView(old)))),
            (Item{{"info", Map{{"deep", Map{{"er", List{3}}}}}}, {"players", List{2}}, {"n", 5}}));
}

TEST(UpdateExpression, DoesNotReturnElementsAppendedPastTheEndOfAList) {
  const Item old = {{"l", List{1, 2}}, {"m", Map{{"k", List{}}}}};
  Placeholders placeholders(&names(), &values());
  const auto parsed = Update::parse("SET l[2] = :one, l[9] = :z, m.k[3] = :one", placeholders);
  ASSERT_THAT(parsed, IsOk());
  const EncodedItem before = encode_item(old);
  const auto after = parsed->apply(ItemView(before), {});
  ASSERT_THAT(after, IsOk());
  ASSERT_TRUE(*after);
  EXPECT_EQ(decode_item(ItemView(**after)).at("l"),
            AttributeValue(List{1, 2, values().at(":one"), values().at(":z")}));
  EXPECT_EQ(decode_item(ItemView(parsed->updated_part(ItemView(**after)))),
            (Item{{"l", List{values().at(":one")}}}));
}

TEST(UpdateExpression, RemovesEmptiedSetsWithoutRenumberingTheirList) {
  const Item old = {{"l", List{StringSet{"a", "b"}, 2, StringSet{"b"}, 4}}};
  EXPECT_EQ(updated("DELETE l[0] :ab REMOVE l[1]", "l", old),
            AttributeValue(List{StringSet{"b"}, 4}));
  EXPECT_EQ(updated("DELETE l[0] :ab, l[2] :ab", "l", old), AttributeValue(List{2, 4}));
}

TEST(UpdateExpression, CopiesNoMoreThanTheSizeOfAnItem) {
  const Item old = {{"a", List(100'000, AttributeValue(nullptr))}};
  std::string text = "SET b0 = a";
  for (int i = 1; i < 299; ++i) text += ",b" + std::to_string(i) + "=a";
  EXPECT_THAT(update(text, old), FailsWith(Code::kValidation, "Item size to update"));
  EXPECT_THAT(update("SET b = a", old), IsOk());
}

TEST(ProjectionExpression, MergesPathsAndCompactsLists) {
  Placeholders placeholders(&names(), nullptr);
  const auto parsed = ProjectionExpression::parse(
      "players[2].part, players[0], info.rating, #n, gone, n.x, #dot", placeholders);
  EXPECT_THAT(parsed, FailsWith(Code::kValidation, "overlap"));
  const auto good = ProjectionExpression::parse(
      "players[2].part, players[0], info.rating, #n, gone, title.x, #dot", placeholders);
  ASSERT_THAT(good, IsOk());
  const EncodedItem item = encode_item(film());
  EXPECT_EQ(decode_item(ItemView(good->apply(ItemView(item)))),
            (Item{{"players", List{"Perkins", Map{{"part", "K"}}}},
                  {"info", Map{{"rating", *Number::parse("7.6")}}},
                  {"n", 5}}));
}

Result<KeyCondition> key_condition(const std::string& text) {
  static const Values all = {{":s", "x"}, {":t", "y"}, {":n", 1}, {":m", 2}, {":e", ""}};
  Placeholders placeholders(nullptr, &all);
  return KeyCondition::parse(text, placeholders, {{"pk", KeyType::kHash}, {"sk", KeyType::kRange}},
                             {{"pk", ScalarType::kS}, {"sk", ScalarType::kN}});
}

TEST(KeyConditionExpression, FindsHashAndRange) {
  using enum KeyCondition::Operator;
  EXPECT_EQ(key_condition("pk = :s")->hash, std::vector<AttributeValue>{"x"});
  EXPECT_EQ(key_condition("(sk = :n) AND (pk = :s)")->equal, std::vector<AttributeValue>{1});
  EXPECT_EQ(key_condition("pk = :s AND sk <= :n")->range->op, kLessOrEqual);
  EXPECT_EQ(key_condition("pk = :s AND :n <= sk")->range->op, kGreaterOrEqual);
  EXPECT_EQ(key_condition(":s = pk AND sk BETWEEN :n AND :m")->range->upper, AttributeValue(2));
}

TEST(KeyConditionExpression, RefusesTheRest) {
  const std::pair<const char*, const char*> cases[] = {
      {"sk = :n", "Query condition missed key schema element: pk"},
      {"size(pk) = :s",
       "Invalid KeyConditionExpression: KeyConditionExpressions cannot contain nested operations"},
      {"pk < :s", "Query key condition not supported"},
      {"pk = :s AND pk = :t",
       "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition "
       "per key"},
      {"pk = :s AND sk > :n AND stranger = :n",
       "The number of query conditions (3) exceeds the number of key attributes defined in the "
       "schema (2)"},
      {"pk = :s AND sk > :n AND sk < :m", "must only contain one condition per key"},
      {"pk = :s OR sk = :n", "Invalid operator used in KeyConditionExpression: OR"},
      {"pk = :s AND sk <> :n", "Invalid operator used in KeyConditionExpression: <>"},
      {"pk = :s AND attribute_exists(sk)",
       "Invalid operator used in KeyConditionExpression: attribute_exists"},
      {"pk = :s AND stranger = :n", "Query condition missed key schema element: sk"},
      {"pk = :n", "Condition parameter type does not match schema type"},
      {"pk = :s AND begins_with(sk, :s)", "does not match schema type"},
      {"pk = :e", "cannot contain an empty string value. Key: pk"},
      {"pk.a = :s", "nested attributes"},
      {"pk = sk", "Query key condition not supported"},
      {"pk = :", "Invalid KeyConditionExpression: Syntax error"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(key_condition(text), FailsWith(Code::kValidation, message)) << text;
  }
}

TEST(KeyConditionExpression, OfSeveralAttributesUsesAPrefixOfTheRange) {
  const KeySchema schema = {{"h1", KeyType::kHash},
                            {"h2", KeyType::kHash},
                            {"r1", KeyType::kRange},
                            {"r2", KeyType::kRange},
                            {"r3", KeyType::kRange}};
  const std::vector<AttributeDefinition> attributes = {{"h1"}, {"h2"}, {"r1"}, {"r2"}, {"r3"}};
  const Values all = {{":a", "a"}};
  const auto parse = [&](const std::string& text) {
    Placeholders placeholders(nullptr, &all);
    return KeyCondition::parse(text, placeholders, schema, attributes);
  };
  const auto good = parse("h2 = :a AND h1 = :a AND r1 = :a AND r2 > :a");
  ASSERT_THAT(good, IsOk());
  EXPECT_EQ(good->hash.size(), 2U);
  EXPECT_EQ(good->equal.size(), 1U);
  EXPECT_TRUE(good->range);
  EXPECT_THAT(parse("h1 = :a AND r1 = :a"),
              FailsWith(Code::kValidation, "missed key schema element: h2"));
  const std::string equality =
      " must have equality conditions specified in the query because a condition is present on key "
      "attribute ";
  EXPECT_THAT(parse("h1 = :a AND h2 = :a AND r2 = :a"),
              FailsWith(Code::kValidation, "RANGE key attributes r1" + equality + "r2"));
  EXPECT_THAT(parse("h1 = :a AND h2 = :a AND r3 = :a"),
              FailsWith(Code::kValidation, "RANGE key attributes r1, r2" + equality + "r3"));
  EXPECT_THAT(parse("h1 = :a AND h2 = :a AND r1 > :a AND r2 = :a"),
              FailsWith(Code::kValidation, "RANGE key attributes r1" + equality + "r2"));
}

}  // namespace
}  // namespace stator
