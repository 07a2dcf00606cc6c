// SPDX-License-Identifier: Apache-2.0
// Operations by name, JSON in and JSON out.
#include "client/client_test.h"

namespace stator::test {
namespace {

class CallTest : public ClientTest {};
STATOR_IN_EACH_HOME(CallTest);

TEST_P(CallTest, ReturnsTheJsonOfTheOperation) {
  create(hash_table("Tab"));
  const auto put = client_.call(
      "PutItem", R"({"TableName": "Tab", "Item": {"pk": {"S": "a"}, "n": {"N": "1"}}})");
  ASSERT_THAT(put, IsOk());
  EXPECT_EQ(*put, "{}");
  const auto got = client_.call("GetItem", R"({"TableName": "Tab", "Key": {"pk": {"S": "a"}}})");
  ASSERT_THAT(got, IsOk());
  EXPECT_EQ(*got, R"({"Item":{"n":{"N":"1"},"pk":{"S":"a"}}})");
}

TEST_P(CallTest, FailsWithTheErrorsOfTheOperation) {
  create(hash_table("Tab"));
  EXPECT_THAT(client_.call("DescribeTable", R"({"TableName": "Lost"})"),
              FailsWith(Code::kResourceNotFound, "Lost"));
  EXPECT_THAT(client_.call("DescribeTable", "{"), FailsWith(Code::kSerialization, ""));
  constexpr const char* kPut = R"json({"TableName": "Tab", "Item": {"pk": {"S": "a"}},
                                       "ConditionExpression": "attribute_exists(pk)"})json";
  EXPECT_THAT(client_.call("PutItem", kPut),
              FailsWith(Code::kConditionalCheckFailed, "conditional request failed"));
}

TEST_P(CallTest, KnowsOperationsByTheirExactNames) {
  for (const char* name : {"describeTable", "Describe", "", "DynamoDB_20120810.ListTables",
                           "ListTables\r\nX-Other: 1"}) {
    EXPECT_THAT(client_.call(name, "{}"), FailsWith(Code::kUnknownOperation, "")) << name;
  }
}

}  // namespace
}  // namespace stator::test
