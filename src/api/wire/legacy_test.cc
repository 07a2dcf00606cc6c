// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "api/json/item_json.h"
#include "api/wire/wire.h"
#include "support/matchers.h"

namespace stator::wire {
namespace {

using test::FailsWith;
using test::IsOk;

// The text with each placeholder replaced by its name or value.
std::string resolved(std::string text, const std::optional<Names>& names,
                     const std::optional<Values>& values) {
  const auto replace = [&text](const std::string& placeholder, const std::string& by) {
    for (std::size_t at = 0; (at = text.find(placeholder, at)) != std::string::npos;) {
      const std::size_t end = at + placeholder.size();
      if (end < text.size() && text[end] >= '0' && text[end] <= '9') {
        at = end;
        continue;
      }
      text.replace(at, placeholder.size(), by);
      at += by.size();
    }
  };
  if (names) {
    for (const auto& [placeholder, name] : *names) replace(placeholder, name);
  }
  if (values) {
    for (const auto& [placeholder, value] : *values) {
      std::string json = item_to_plain_json({{"", value}});
      replace(placeholder, json.substr(4, json.size() - 5));
    }
  }
  return text;
}

std::string put_body(std::string_view parameters) {
  return std::string(R"({"TableName":"Table","Item":{"pk":{"S":"a"}},)")
      .append(parameters)
      .append("}");
}

std::string condition_of(std::string_view parameters) {
  const auto read = read_request<PutItemRequest>(put_body(parameters));
  if (!read) return read.error().message;
  EXPECT_TRUE(read->legacy);
  return resolved(read->condition.value_or("none"), read->names, read->values);
}

TEST(Legacy, ExpectedBecomesACondition) {
  EXPECT_EQ(condition_of(R"("Expected":{"a":{"Value":{"N":"1"}}})"), "a = 1");
  EXPECT_EQ(condition_of(R"("Expected":{"a":{"Exists":true,"Value":{"N":"1"}}})"), "a = 1");
  EXPECT_EQ(condition_of(R"("Expected":{"a.b":{"Exists":false}})"), "attribute_not_exists(a.b)");
  EXPECT_EQ(condition_of(R"("Expected":{"a":{"ComparisonOperator":"GT","Value":{"S":"x"}}})"),
            R"(a > "x")");
  EXPECT_EQ(condition_of(R"("Expected":{"a":{"ComparisonOperator":"NULL"},)"
                         R"("b":{"ComparisonOperator":"NOT_NULL"}},"ConditionalOperator":"OR")"),
            "attribute_not_exists(a) OR attribute_exists(b)");
  EXPECT_EQ(condition_of(R"("Expected":{})"), "none");
}

TEST(Legacy, EveryComparisonOperatorHasItsExpression) {
  struct Case {
    std::string_view op;
    std::string_view list;
    std::string_view expected;
  };
  const Case cases[] = {
      {"EQ", R"({"N":"1"})", "a = 1"},
      {"NE", R"({"N":"1"})", "a <> 1"},
      {"LT", R"({"N":"1"})", "a < 1"},
      {"LE", R"({"N":"1"})", "a <= 1"},
      {"GT", R"({"N":"1"})", "a > 1"},
      {"GE", R"({"N":"1"})", "a >= 1"},
      {"IN", R"({"N":"1"},{"N":"2"})", "a IN (1, 2)"},
      {"BETWEEN", R"({"N":"1"},{"N":"2"})", "a BETWEEN 1 AND 2"},
      {"BEGINS_WITH", R"({"S":"x"})", R"(begins_with(a, "x"))"},
      {"CONTAINS", R"({"S":"x"})", R"(contains(a, "x"))"},
      {"NOT_CONTAINS", R"({"S":"x"})", R"((attribute_exists(a) AND NOT contains(a, "x")))"},
  };
  for (const Case& one : cases) {
    const std::string body = std::string(R"({"TableName":"Table","ScanFilter":{"a":)")
                                 .append(R"({"ComparisonOperator":")")
                                 .append(one.op)
                                 .append(R"(","AttributeValueList":[)")
                                 .append(one.list)
                                 .append("]}}}");
    const auto read = read_request<ScanRequest>(body);
    ASSERT_THAT(read, IsOk()) << body;
    EXPECT_EQ(resolved(read->filter.value_or(""), read->names, read->values), one.expected);
  }
}

TEST(Legacy, KeyConditionsCombineWithOtherExpressions) {
  const std::string keys = R"({"TableName":"Table","KeyConditions":{"pk":{"ComparisonOperator":)"
                           R"("EQ","AttributeValueList":[{"S":"a"}]}},)";
  EXPECT_THAT(read_request<QueryRequest>(keys + R"("ProjectionExpression":"a"})"), IsOk());
  EXPECT_THAT(
      read_request<QueryRequest>(keys + R"("ProjectionExpression":"a","AttributesToGet":["b"]})"),
      FailsWith(Code::kValidation,
                "Non-expression parameters: {AttributesToGet} "
                "Expression parameters: {ProjectionExpression}"));
  EXPECT_THAT(read_request<QueryRequest>(keys + R"("KeyConditionExpression":"pk = :a"})"),
              FailsWith(Code::kValidation, "Non-expression parameters: {KeyConditions}"));
}

TEST(Legacy, WrongUsesHaveTheirMessages) {
  struct Case {
    std::string_view parameters;
    std::string_view message;
  };
  const Case cases[] = {
      {R"("Expected":{"a":{}})", "Value must be provided when Exists is null for Attribute: a"},
      {R"("Expected":{"a":{"Exists":true}})",
       "Value must be provided when Exists is true for Attribute: a"},
      {R"("Expected":{"a":{"Exists":false,"Value":{"S":"x"}}})",
       "Value cannot be used when Exists is false for Attribute: a"},
      {R"("Expected":{"a":{"AttributeValueList":[]}})",
       "AttributeValueList can only be used with a ComparisonOperator for Attribute: a"},
      {R"("Expected":{"a":{"ComparisonOperator":"EQ","Exists":true}})",
       "Exists and ComparisonOperator cannot be used together for Attribute: a"},
      {R"("Expected":{"a":{"ComparisonOperator":"EQ"}})",
       "Value or AttributeValueList must be used with ComparisonOperator: EQ for Attribute: a"},
      {R"("Expected":{"a":{"ComparisonOperator":"EQ","AttributeValueList":[]}})",
       "Invalid number of argument(s) for the EQ ComparisonOperator"},
      {R"("Expected":{"a":{"ComparisonOperator":"BEGINS_WITH","Value":{"N":"1"}}})",
       "ComparisonOperator BEGINS_WITH is not valid for N AttributeValue type"},
      {R"("Expected":{"a":{"ComparisonOperator":"IN","AttributeValueList":[{"N":"1"},{"S":"x"}]}})",
       "AttributeValues inside AttributeValueList must be of same type"},
      {R"("Expected":{"a":{"ComparisonOperator":"BETWEEN","AttributeValueList":)"
       R"([{"N":"2"},{"N":"1"}]}})",
       "lower bound is greater than the upper bound"},
      {R"("Expected":{"a":{"ComparisonOperator":"XX"}})",
       "Value 'XX' at 'expected.a.member.comparisonOperator' failed to satisfy constraint: Member "
       "must satisfy enum value set: [IN, NULL, BETWEEN, LT, NOT_CONTAINS, EQ, GT, NOT_NULL, NE, "
       "LE, BEGINS_WITH, GE, CONTAINS]"},
      {R"("Expected":{"a":{"Exists":false}},"ConditionalOperator":"OR")",
       "ConditionalOperator can only be used when Filter or Expected has two or more elements"},
      {R"("Expected":{"":{"Exists":false}})", "Empty attribute name"},
      {R"("ConditionalOperator":"OR")",
       "ConditionalOperator cannot be used without Filter or Expected"},
      {R"("Expected":{"a":{"Exists":false}},"ConditionExpression":"x = y")",
       "Can not use both expression and non-expression parameters in the same request: "
       "Non-expression parameters: {Expected} Expression parameters: {ConditionExpression}"},
      {R"("Expected":{"a":{"Exists":false}},"ExpressionAttributeNames":{"#a":"b"})",
       "ExpressionAttributeNames can only be specified when using expressions"},
  };
  for (const Case& one : cases) {
    EXPECT_THAT(read_request<PutItemRequest>(put_body(one.parameters)),
                FailsWith(Code::kValidation, std::string(one.message)))
        << one.parameters;
  }
}

std::string update_of(std::string_view updates) {
  const auto read = read_request<UpdateItemRequest>(
      std::string(R"({"TableName":"Table","Key":{"pk":{"S":"a"}},"AttributeUpdates":{)")
          .append(updates)
          .append("}}"));
  if (!read) return read.error().message;
  return resolved(read->update.value_or("none"), read->names, read->values);
}

TEST(Legacy, AttributeUpdatesBecomeAnUpdate) {
  EXPECT_EQ(update_of(""), "none");
  EXPECT_EQ(update_of(R"("a":{"Value":{"S":"x"}},"b":{"Action":"PUT","Value":{"N":"1"}})"),
            R"(SET a = "x", b = 1)");
  EXPECT_EQ(update_of(R"("a":{"Action":"DELETE"},"b":{"Action":"DELETE","Value":{"SS":["x"]}},)"
                      R"("c":{"Action":"ADD","Value":{"N":"1"}})"),
            R"(REMOVE a ADD c 1 DELETE b ["x"])");
  EXPECT_EQ(update_of(R"("a":{"Action":"ADD","Value":{"L":[{"N":"1"}]}})"),
            "SET a = list_append(if_not_exists(a, []), [1])");
  EXPECT_EQ(update_of(R"("a":{"Action":"PUT"})"),
            "1 validation error detected: One or more parameter values were invalid: Only DELETE "
            "action is allowed when no attribute value is specified");
  EXPECT_EQ(update_of(R"("a":{"Action":"ADD","Value":{"S":"x"}})"),
            "1 validation error detected: One or more parameter values were invalid: ADD action is "
            "not supported for the type S");
  EXPECT_EQ(update_of(R"("a":{"Action":"DELETE","Value":{"N":"1"}})"),
            "1 validation error detected: One or more parameter values were invalid: DELETE action "
            "with value is not supported for the type N");
}

TEST(Legacy, KeyConditionsFiltersAndAttributesToGetBecomeAQuery) {
  const auto read = read_request<QueryRequest>(
      R"({"TableName":"Table","KeyConditions":{"pk":{"ComparisonOperator":"EQ",)"
      R"("AttributeValueList":[{"S":"a"}]},"sk":{"ComparisonOperator":"BEGINS_WITH",)"
      R"("AttributeValueList":[{"S":"b"}]}},"QueryFilter":{"c":{"ComparisonOperator":"NULL"}},)"
      R"("AttributesToGet":["pk","x.y"]})");
  ASSERT_THAT(read, IsOk());
  EXPECT_TRUE(read->legacy);
  EXPECT_EQ(resolved(*read->key_condition, read->names, read->values),
            R"(pk = "a" AND begins_with(sk, "b"))");
  EXPECT_EQ(resolved(*read->filter, read->names, read->values), "attribute_not_exists(c)");
  EXPECT_EQ(resolved(*read->projection, read->names, read->values), "pk, x.y");
}

TEST(Legacy, KeyConditionsCombineWithAFilterExpression) {
  const auto read = read_request<QueryRequest>(
      R"({"TableName":"Table","KeyConditions":{"pk":{"ComparisonOperator":"EQ",)"
      R"("AttributeValueList":[{"S":"a"}]}},"FilterExpression":"#legacy0 = :legacy0",)"
      R"("ExpressionAttributeNames":{"#legacy0":"mine"},)"
      R"("ExpressionAttributeValues":{":legacy0":{"N":"7"}}})");
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(resolved(*read->key_condition, read->names, read->values), R"(pk = "a")");
  EXPECT_EQ(resolved(*read->filter, read->names, read->values), "mine = 7");
}

TEST(Legacy, QueryRejectsOperatorsThatKeysDoNotSupport) {
  EXPECT_THAT(read_request<QueryRequest>(
                  R"({"TableName":"Table","KeyConditions":{"pk":{"ComparisonOperator":"NE",)"
                  R"("AttributeValueList":[{"S":"a"}]}}})"),
              FailsWith(Code::kValidation,
                        "Attempted conditional constraint is not an indexable operation"));
  EXPECT_THAT(read_request<QueryRequest>(R"({"TableName":"Table","KeyConditions":{}})"),
              FailsWith(Code::kValidation, "Conditions can be of length 1 or 2 only"));
  EXPECT_THAT(read_request<QueryRequest>(
                  R"({"TableName":"Table","KeyConditions":{},"KeyConditionExpression":"a = b"})"),
              FailsWith(Code::kValidation,
                        "Non-expression parameters: {KeyConditions} Expression parameters: "
                        "{KeyConditionExpression}"));
}

TEST(Legacy, AttributesToGetBecomeAProjection) {
  const auto get = read_request<GetItemRequest>(
      R"({"TableName":"Table","Key":{"pk":{"S":"a"}},"AttributesToGet":["b","a"]})");
  ASSERT_THAT(get, IsOk());
  EXPECT_EQ(resolved(*get->projection, get->names, {}), "b, a");
  EXPECT_THAT(
      read_request<GetItemRequest>(R"({"TableName":"Table","Key":{},"AttributesToGet":["b","b"]})"),
      FailsWith(Code::kValidation, "Duplicate value in attribute name: b"));
  EXPECT_THAT(
      read_request<GetItemRequest>(R"({"TableName":"Table","Key":{},"AttributesToGet":[]})"),
      FailsWith(Code::kValidation, "at 'attributesToGet' failed to satisfy constraint"));
  const auto batch = read_request<BatchGetItemRequest>(
      R"({"RequestItems":{"Table":{"Keys":[{"pk":{"S":"a"}}],"AttributesToGet":["b"]}}})");
  ASSERT_THAT(batch, IsOk());
  EXPECT_TRUE(batch->items.at("Table").legacy);
  EXPECT_EQ(batch->items.at("Table").projection, "#legacy0");
}

}  // namespace
}  // namespace stator::wire
