// SPDX-License-Identifier: Apache-2.0
// The needs of requests, as one line for each action on a resource.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "access/authorize.h"
#include "access/gather.h"
#include "api/wire/wire.h"
#include "engine/admin/administration.h"
#include "engine/testing/engine_harness.h"

namespace stator::access {
namespace {

using test::EngineTest;
using test::FailsWith;
using test::IsOk;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class NeedsTest : public EngineTest {
 protected:
  NeedsTest() {
    CreateTableRequest table = test::range_table("Tab");
    table.attributes.push_back({.name = "city", .type = ScalarType::kS});
    table.global_indexes = {test::index_on("ByCity", {{"city", KeyType::kHash}})};
    EXPECT_THAT(engine_->create_table(table), IsOk());
    CreateTableRequest numbers = test::hash_table("Num");
    numbers.attributes[0].type = ScalarType::kN;
    EXPECT_THAT(engine_->create_table(numbers), IsOk());
  }

  // For all keys unless the test names some.
  template <class Request>
  std::vector<std::string> needs_of(std::string_view json, policy::KeySet wanted = all_keys()) {
    auto request = wire::read_request<Request>(json);
    EXPECT_THAT(request, IsOk()) << json;
    const AccessView view(*engine_, /*may_wait=*/true);
    const policy::Caller caller;
    Needs needs(view, caller, wanted);
    gathered_ = gather(needs, *request);
    EXPECT_TRUE(needs.complete());
    std::vector<std::string> lines;
    for (const Need& need : needs.all()) lines.push_back(line_of(need.context));
    return lines;
  }
  static policy::KeySet all_keys() { return policy::KeySet().set(); }

  static std::string line_of(const policy::Context& context) {
    constexpr std::string_view kStart = "arn:aws:dynamodb:us-east-1:000000782867:";
    std::string line = context.action.substr(std::string_view("dynamodb:").size());
    EXPECT_TRUE(context.resource.starts_with(kStart)) << context.resource;
    line += " " + context.resource.substr(kStart.size());
    const auto add = [&](const char* name, const std::vector<std::string>& values) {
      if (values.empty()) return;
      line.append(" ").append(name).append("=");
      for (const std::string& value : values) line.append(value).append(",");
      line.pop_back();
    };
    const auto add_one = [&](const char* name, const std::optional<std::string>& value) {
      if (value) line.append(" ").append(name).append("=").append(*value);
    };
    add("keys", context.leading_keys);
    add("attributes", context.attributes);
    add_one("select", context.select);
    add_one("return", context.return_values);
    add_one("in", context.enclosing_operation);
    add_one("scan", context.full_table_scan);
    add("tags", context.tag_keys);
    if (context.return_consumed_capacity != "NONE") {
      add_one("capacity", context.return_consumed_capacity);
    }
    return line;
  }

  Result<void> gathered_;
};

TEST_F(NeedsTest, OfReadsNameKeysAndReturnedAttributes) {
  EXPECT_THAT(needs_of<GetItemRequest>(R"({"TableName": "Tab", "Key": {"pk": {"S": "a"},
                  "sk": {"N": "1"}}})"),
              ElementsAre("GetItem table/Tab keys=a attributes=pk,sk select=ALL_ATTRIBUTES"));
  EXPECT_THAT(
      needs_of<GetItemRequest>(R"({"TableName": "Tab", "Key": {"pk": {"S": "a"}, "sk": {"N": "1"}},
          "ProjectionExpression": "#x.y1, pk, size_of[2]", "ReturnConsumedCapacity": "TOTAL",
          "ExpressionAttributeNames": {"#x": "name"}})"),
      ElementsAre(
          "GetItem table/Tab keys=a attributes=name,pk,size_of,sk select=SPECIFIC_ATTRIBUTES "
          "capacity=TOTAL"));
  EXPECT_THAT(
      needs_of<GetItemRequest>(R"({"TableName": "Tab", "Key": {"pk": {"S": "a"}, "sk": {"N": "1"}},
          "AttributesToGet": ["name"]})"),
      ElementsAre("GetItem table/Tab keys=a attributes=name,pk,sk select=SPECIFIC_ATTRIBUTES"));
  EXPECT_THAT(needs_of<BatchGetItemRequest>(R"({"RequestItems": {
          "Num": {"Keys": [{"pk": {"N": "1.50"}}, {"pk": {"N": "2"}}]},
          "Tab": {"Keys": [{"pk": {"S": "a"}, "sk": {"N": "1"}}], "ProjectionExpression": "color"}}})"),
              ElementsAre("BatchGetItem table/Num keys=1.5,2 attributes=pk select=ALL_ATTRIBUTES",
                          "BatchGetItem table/Tab keys=a attributes=color,pk,sk "
                          "select=SPECIFIC_ATTRIBUTES"));
  EXPECT_THAT(needs_of<TransactGetItemsRequest>(R"({"TransactItems": [
          {"Get": {"TableName": "Num", "Key": {"pk": {"N": "7"}}}}]})"),
              ElementsAre("GetItem table/Num keys=7 attributes=pk select=ALL_ATTRIBUTES "
                          "in=TransactGetItems"));
}

TEST_F(NeedsTest, OfWritesNameWrittenAndReturnedAttributes) {
  EXPECT_THAT(
      needs_of<PutItemRequest>(R"({"TableName": "Tab", "ReturnValues": "ALL_OLD",
          "Item": {"pk": {"S": "a"}, "sk": {"N": "1"}, "color": {"S": "red"}},
          "ConditionExpression": "attribute_not_exists(#o) AND size(weight) < :n",
          "ExpressionAttributeNames": {"#o": "owner"},
          "ExpressionAttributeValues": {":n": {"N": "3"}}})"),
      ElementsAre("PutItem table/Tab keys=a attributes=color,owner,pk,sk,weight return=ALL_OLD"));
  EXPECT_THAT(needs_of<UpdateItemRequest>(R"({"TableName": "Tab", "Key": {"pk": {"S": "a"},
          "sk": {"N": "1"}}, "ReturnValues": "UPDATED_NEW",
          "UpdateExpression": "SET a = if_not_exists(b, c) + :n REMOVE d[0] ADD e :n DELETE f :s",
          "ConditionExpression": "g IN (h, :n) OR NOT i BETWEEN :n AND j",
          "ExpressionAttributeValues": {":n": {"N": "3"}, ":s": {"SS": ["x"]}}})"),
              ElementsAre("UpdateItem table/Tab keys=a attributes=a,b,c,d,e,f,g,h,i,j,pk,sk "
                          "return=UPDATED_NEW"))
      << gathered_.error().message;
  EXPECT_THAT(needs_of<UpdateItemRequest>(R"({"TableName": "Num", "Key": {"pk": {"N": "1"}},
          "AttributeUpdates": {"a": {"Action": "PUT", "Value": {"S": "x"}}},
          "Expected": {"b": {"Exists": false}}})"),
              ElementsAre("UpdateItem table/Num keys=1 attributes=a,b,pk return=NONE"));
  // An item returned with a failed condition counts as a returned old item.
  EXPECT_THAT(needs_of<DeleteItemRequest>(R"({"TableName": "Num", "Key": {"pk": {"N": "1"}},
          "ReturnValuesOnConditionCheckFailure": "ALL_OLD"})"),
              ElementsAre("DeleteItem table/Num keys=1 attributes=pk return=ALL_OLD"));
  // Either can be returned, so both are needed.
  EXPECT_THAT(needs_of<UpdateItemRequest>(R"({"TableName": "Num", "Key": {"pk": {"N": "1"}},
          "UpdateExpression": "SET a = :n", "ExpressionAttributeValues": {":n": {"N": "3"}},
          "ReturnValues": "ALL_NEW", "ReturnValuesOnConditionCheckFailure": "ALL_OLD"})"),
              ElementsAre("UpdateItem table/Num keys=1 attributes=a,pk return=ALL_OLD",
                          "UpdateItem table/Num keys=1 attributes=a,pk return=ALL_NEW"));
  EXPECT_THAT(needs_of<BatchWriteItemRequest>(R"({"RequestItems": {"Num": [
          {"PutRequest": {"Item": {"pk": {"N": "1"}, "color": {"S": "red"}}}},
          {"DeleteRequest": {"Key": {"pk": {"N": "2"}}}}]}})"),
              ElementsAre("BatchWriteItem table/Num keys=1,2 attributes=color,pk"));
  EXPECT_THAT(
      needs_of<TransactWriteItemsRequest>(R"({"TransactItems": [
          {"Put": {"TableName": "Num", "Item": {"pk": {"N": "1"}}}},
          {"Update": {"TableName": "Num", "Key": {"pk": {"N": "2"}}, "UpdateExpression": "REMOVE x"}},
          {"ConditionCheck": {"TableName": "Num", "Key": {"pk": {"N": "3"}},
              "ConditionExpression": "attribute_exists(y) ",
              "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}},
          {"Delete": {"TableName": "Num", "Key": {"pk": {"N": "4"}}}}]})"),
      ElementsAre("PutItem table/Num keys=1 attributes=pk return=NONE in=TransactWriteItems",
                  "UpdateItem table/Num keys=2 attributes=pk,x return=NONE "
                  "in=TransactWriteItems",
                  "ConditionCheckItem table/Num keys=3 attributes=pk,y return=ALL_OLD "
                  "in=TransactWriteItems",
                  "DeleteItem table/Num keys=4 attributes=pk return=NONE "
                  "in=TransactWriteItems"));
}

TEST_F(NeedsTest, OfQueriesNameThePartitionOfTheirTableOrIndex) {
  EXPECT_THAT(needs_of<QueryRequest>(
                  R"({"TableName": "Tab", "KeyConditionExpression": "#p = :p AND sk > :s",
          "FilterExpression": "color = :p", "ExpressionAttributeNames": {"#p": "pk"},
          "ExpressionAttributeValues": {":p": {"S": "a"}, ":s": {"N": "1"}}})"),
              ElementsAre("Query table/Tab keys=a attributes=color,pk,sk select=ALL_ATTRIBUTES"));
  EXPECT_THAT(
      needs_of<QueryRequest>(R"({"TableName": "Tab", "IndexName": "ByCity", "Select": "COUNT",
          "KeyConditionExpression": ":c = city",
          "ExpressionAttributeValues": {":c": {"S": "Oslo"}}})"),
      ElementsAre("Query table/Tab/index/ByCity keys=Oslo attributes=city select=COUNT"));
  EXPECT_THAT(needs_of<QueryRequest>(R"({"TableName": "Tab", "KeyConditions": {"pk":
          {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "a"}]}},
          "ExclusiveStartKey": {"pk": {"S": "a"}, "sk": {"N": "1"}}})"),
              ElementsAre("Query table/Tab keys=a attributes=pk,sk select=ALL_ATTRIBUTES"));
  EXPECT_THAT(needs_of<ScanRequest>(R"({"TableName": "Tab", "IndexName": "ByCity",
          "FilterExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "a"}}})"),
              ElementsAre("Scan table/Tab/index/ByCity attributes=pk "
                          "select=ALL_PROJECTED_ATTRIBUTES"));
  EXPECT_THAT(needs_of<QueryRequest>(R"({"TableName": "Absent", "KeyConditionExpression": "pk = :p",
          "ExpressionAttributeValues": {":p": {"S": "a"}}})"),
              ElementsAre("Query table/Absent attributes=pk select=ALL_ATTRIBUTES"));
}

TEST_F(NeedsTest, OfStatementsFollowFromTheirPlans) {
  const auto of = [&](const std::string& statement, const std::string& more = "") {
    return needs_of<ExecuteStatementRequest>(R"({"Statement": ")" + statement + "\"" + more + "}");
  };
  EXPECT_THAT(
      of("SELECT * FROM Tab WHERE pk = 'a' AND color = 'red'"),
      ElementsAre("PartiQLSelect table/Tab keys=a attributes=color,pk select=ALL_ATTRIBUTES "
                  "scan=false"));
  EXPECT_THAT(of("SELECT color FROM Tab WHERE pk IN ['a', 'b'] AND sk > 1"),
              ElementsAre("PartiQLSelect table/Tab keys=a,b attributes=color,pk,sk "
                          "select=SPECIFIC_ATTRIBUTES scan=false"));
  EXPECT_THAT(of("SELECT * FROM Tab WHERE (pk = 'a' AND sk = 1) OR pk = ?",
                 R"(, "Parameters": [{"S": "b"}])"),
              ElementsAre("PartiQLSelect table/Tab keys=a,b attributes=pk,sk select=ALL_ATTRIBUTES "
                          "scan=false"));
  EXPECT_THAT(of("SELECT * FROM Tab WHERE pk = 'a' OR color = 'red'"),
              ElementsAre("PartiQLSelect table/Tab attributes=color,pk select=ALL_ATTRIBUTES "
                          "scan=true"));
  // The engine reads everything for an AND within an OR that is part of an AND, and for more than
  // 1,000 partitions.
  EXPECT_THAT(of("SELECT sk FROM Tab WHERE sk = 1 AND ((pk = 'a' AND sk = 2) OR pk = 'b')"),
              ElementsAre("PartiQLSelect table/Tab attributes=pk,sk select=SPECIFIC_ATTRIBUTES "
                          "scan=true"));
  std::string many = "pk IN ['a'";
  for (int i = 0; i < 99; ++i) many += ",'a'";
  many += "]";
  std::string or_many = many;
  for (int i = 0; i < 10; ++i) or_many += " OR " + many;
  EXPECT_THAT(of("SELECT sk FROM Tab WHERE " + or_many),
              ElementsAre("PartiQLSelect table/Tab attributes=pk,sk select=SPECIFIC_ATTRIBUTES "
                          "scan=true"));
  // The engine reads the partitions of the first condition that lists some.
  EXPECT_THAT(of("SELECT sk FROM Tab WHERE pk IN ['a'] AND pk = 'b'"),
              ElementsAre("PartiQLSelect table/Tab keys=a attributes=pk,sk "
                          "select=SPECIFIC_ATTRIBUTES scan=false"));
  // The key of a write comes only from equalities, whatever else is listed.
  EXPECT_THAT(of("DELETE FROM Tab WHERE pk IN ['a'] AND pk = 'b' AND sk = 1"),
              ElementsAre("PartiQLDelete table/Tab keys=b attributes=pk,sk return=NONE"));
  EXPECT_THAT(
      of("UPDATE Tab SET color = 'red' WHERE (pk = 'a' OR pk = 'c') AND pk = 'b' AND sk = 1"),
      ElementsAre("PartiQLUpdate table/Tab keys=b attributes=color,pk,sk return=NONE"));
  EXPECT_THAT(of("SELECT * FROM Tab WHERE pk > 'a'"),
              ElementsAre("PartiQLSelect table/Tab attributes=pk select=ALL_ATTRIBUTES scan=true"));
  EXPECT_THAT(of(R"(SELECT * FROM Tab.ByCity WHERE city = 'Oslo')"),
              ElementsAre("PartiQLSelect table/Tab/index/ByCity keys=Oslo attributes=city "
                          "select=ALL_PROJECTED_ATTRIBUTES scan=false"));
  EXPECT_THAT(of("INSERT INTO Num VALUE {'pk': 1, 'color': 'red'}"),
              ElementsAre("PartiQLInsert table/Num keys=1 attributes=color,pk"));
  EXPECT_THAT(of("UPDATE Num SET a = b REMOVE c WHERE pk = 1 AND d = 2 RETURNING ALL OLD *"),
              ElementsAre("PartiQLUpdate table/Num keys=1 attributes=a,b,c,d,pk return=ALL_OLD"));
  EXPECT_THAT(of("DELETE FROM Num WHERE pk = 1"),
              ElementsAre("PartiQLDelete table/Num keys=1 attributes=pk return=NONE"));
  EXPECT_THAT(
      needs_of<ExecuteTransactionRequest>(R"({"TransactStatements": [
          {"Statement": "EXISTS(SELECT * FROM Num WHERE pk = 1 AND color = 'red') "},
          {"Statement": "DELETE FROM Num WHERE pk = 2"}]})"),
      ElementsAre("PartiQLSelect table/Num keys=1 attributes=color,pk in=ExecuteTransaction",
                  "PartiQLDelete table/Num keys=2 attributes=pk return=NONE "
                  "in=ExecuteTransaction"));
  EXPECT_THAT(of("SELECT nothing"), IsEmpty());
  EXPECT_THAT(gathered_, FailsWith(Code::kValidation, ""));
}

TEST_F(NeedsTest, OfUnreadableExpressionsAreRefusedIfPoliciesNeedThem) {
  constexpr const char* kBroken =
      R"({"TableName": "Tab", "Key": {"pk": {"S": "a"}, "sk": {"N": "1"}},
          "ProjectionExpression": "a..b"})";
  EXPECT_THAT(needs_of<GetItemRequest>(kBroken), testing::SizeIs(1));
  EXPECT_THAT(gathered_, FailsWith(Code::kValidation, "Invalid ProjectionExpression"));
  EXPECT_THAT(needs_of<GetItemRequest>(kBroken, {}), testing::SizeIs(1));
  EXPECT_THAT(gathered_, IsOk()) << "the engine refuses it";
}

// If a policy is added during a request, the values of its condition keys are gathered too.
TEST_F(NeedsTest, AreGatheredAgainForKeysThatAPolicyTurnsOutToHave) {
  const std::string arn = "arn:aws:dynamodb:us-east-1:000000782867:table/Num";
  const Item put{{"ResourceArn", arn},
                 {"Policy", R"({"Statement": {"Effect": "Deny", "Principal": "*", "Action": "*",
                     "Resource": "*", "Condition": {"ForAnyValue:StringEquals":
                     {"dynamodb:LeadingKeys": "7"}}}})"}};
  ASSERT_THAT(engine_->administer(admin::kPutResourcePolicy, put), IsOk());
  const AccessView view(*engine_, /*may_wait=*/true);
  const policy::Caller caller;
  const GetItemRequest request{.table = "Num", .key = {{"pk", 7}}};
  Needs ignorant(view, caller, {});
  EXPECT_THAT(gather(ignorant, request), IsOk());
  EXPECT_FALSE(ignorant.complete());
  Needs knowing(view, caller, all_keys());
  EXPECT_THAT(gather(knowing, request), IsOk());
  EXPECT_TRUE(knowing.complete());
  ASSERT_NE(knowing.all().front().policy, nullptr);
  EXPECT_THAT(knowing.all().front().context.leading_keys, ElementsAre("7"));
}

TEST_F(NeedsTest, OfNewTablesNameTheirTags) {
  EXPECT_THAT(needs_of<CreateTableRequest>(R"({"TableName": "New", "ResourcePolicy": "{}",
          "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
          "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
          "Tags": [{"Key": "team", "Value": "ops"}]})"),
              ElementsAre("CreateTable table/New tags=team", "TagResource table/New tags=team",
                          "PutResourcePolicy table/New"));
}

TEST(AuthorizeAction, UsesOnlyTheIdentityPolicy) {
  const auto with = [](const std::string& actions) {
    auto parsed = policy::Policy::parse(
        R"({"Statement": {"Effect": "Allow", "Action": )" + actions + R"(, "Resource": "*"}})",
        policy::PolicyKind::kIdentity);
    EXPECT_THAT(parsed, IsOk());
    return Access{.policy = std::make_shared<const policy::Policy>(std::move(*parsed))};
  };
  constexpr std::string_view kAction = "cloudwatch:GetMetricData";
  EXPECT_THAT(authorize_action({}, kAction), IsOk()) << "all rights";
  EXPECT_THAT(authorize_action(with(R"("cloudwatch:Get*")"), kAction), IsOk());
  EXPECT_THAT(authorize_action(with(R"("dynamodb:*")"), kAction),
              FailsWith(Code::kAccessDenied, "cloudwatch:GetMetricData on resource: *"));
}

}  // namespace
}  // namespace stator::access
