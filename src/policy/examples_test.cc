// SPDX-License-Identifier: Apache-2.0
// The policies that AWS publishes as examples of fine-grained access control, with our own names,
// and the requests that each allows.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-iam.html
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/rbac-examples.html
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "policy/policy_harness.h"

namespace stator::policy {
namespace {

struct Facts {
  std::vector<std::string> keys = {};
  std::vector<std::string> attributes = {};
  const char* select = nullptr;
  const char* return_values = nullptr;
  const char* enclosing = nullptr;
};

bool allows(const Policy& policy, const char* action, const Facts& facts,
            std::string resource = table("Scores")) {
  Context context = request(action, std::move(resource));
  context.leading_keys = facts.keys;
  context.attributes = facts.attributes;
  if (facts.select != nullptr) context.select = facts.select;
  if (facts.return_values != nullptr) context.return_values = facts.return_values;
  if (facts.enclosing != nullptr) context.enclosing_operation = facts.enclosing;
  return decide(policy, context) == Decision::kAllowed;
}

TEST(PublishedExamples, ItemsOfOneUserAndSomeOfTheirAttributes) {
  const Policy policy = statement(R"("Sid": "OwnItems", "Effect": "Allow",
      "Action": ["dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query", "dynamodb:PutItem",
                 "dynamodb:UpdateItem", "dynamodb:DeleteItem", "dynamodb:BatchWriteItem"],
      "Resource": ["arn:aws:dynamodb:us-west-2:111122223333:table/Scores"],
      "Condition": {
        "ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["${aws:username}"],
                                      "dynamodb:Attributes": ["Player", "Game", "Wins"]},
        "StringEqualsIfExists": {"dynamodb:Select": "SPECIFIC_ATTRIBUTES"}})");
  const Facts own{.keys = {"ann"}, .attributes = {"Game", "Player"}};
  EXPECT_TRUE(allows(policy, "PutItem", own));
  EXPECT_FALSE(allows(policy, "Scan", own));
  EXPECT_FALSE(allows(policy, "PutItem", own, table("Others")));
  EXPECT_FALSE(allows(policy, "PutItem", {.keys = {"bob"}, .attributes = {"Player"}}));
  EXPECT_FALSE(allows(policy, "BatchGetItem", {.keys = {"ann", "bob"}}));
  EXPECT_FALSE(allows(policy, "PutItem", {.keys = {"ann"}, .attributes = {"Player", "Email"}}));
  EXPECT_TRUE(allows(policy, "GetItem",
                     {.keys = {"ann"}, .attributes = {"Wins"}, .select = "SPECIFIC_ATTRIBUTES"}));
  EXPECT_FALSE(allows(policy, "GetItem",
                      {.keys = {"ann"}, .attributes = {"Player"}, .select = "ALL_ATTRIBUTES"}));
}

TEST(PublishedExamples, UpdatesThatReturnOnlyChangedAttributes) {
  const Policy policy = statement(R"("Effect": "Allow",
      "Action": ["dynamodb:UpdateItem", "dynamodb:GetItem", "dynamodb:Query", "dynamodb:Scan"],
      "Resource": "arn:aws:dynamodb:us-west-2:111122223333:table/Scores",
      "Condition": {
        "ForAllValues:StringEquals": {"dynamodb:Attributes": ["Player", "Top"]},
        "StringEqualsIfExists": {"dynamodb:Select": "SPECIFIC_ATTRIBUTES",
                                 "dynamodb:ReturnValues": ["NONE", "UPDATED_OLD", "UPDATED_NEW"]}})");
  EXPECT_TRUE(
      allows(policy, "UpdateItem", {.attributes = {"Top"}, .return_values = "UPDATED_NEW"}));
  EXPECT_TRUE(allows(policy, "UpdateItem", {.attributes = {"Top"}, .return_values = "NONE"}));
  EXPECT_FALSE(allows(policy, "UpdateItem", {.attributes = {"Top"}, .return_values = "ALL_OLD"}));
  EXPECT_FALSE(allows(policy, "Scan", {.attributes = {"Top"}, .select = "ALL_ATTRIBUTES"}));
  EXPECT_TRUE(allows(policy, "Scan", {.attributes = {"Top"}, .select = "SPECIFIC_ATTRIBUTES"}));
}

TEST(PublishedExamples, UpdatesThatSpareSomeAttributes) {
  const Policy policy = statement(R"("Effect": "Allow", "Action": "dynamodb:UpdateItem",
      "Resource": "arn:aws:dynamodb:us-west-2:111122223333:table/Scores",
      "Condition": {
        "ForAllValues:StringNotLike": {"dynamodb:Attributes": ["Free*", "Unlocked"]},
        "StringEquals": {"dynamodb:ReturnValues": ["NONE", "UPDATED_OLD", "UPDATED_NEW"]}})");
  EXPECT_TRUE(allows(policy, "UpdateItem", {.attributes = {"Top"}, .return_values = "NONE"}));
  EXPECT_FALSE(
      allows(policy, "UpdateItem", {.attributes = {"Top", "Unlocked"}, .return_values = "NONE"}));
  EXPECT_FALSE(
      allows(policy, "UpdateItem", {.attributes = {"FreeGames"}, .return_values = "NONE"}));
  EXPECT_FALSE(allows(policy, "UpdateItem", {.attributes = {"Top"}}));
}

TEST(PublishedExamples, QueriesOfAnIndexForItsProjection) {
  const Policy policy = statement(R"("Effect": "Allow", "Action": ["dynamodb:Query"],
      "Resource": ["arn:aws:dynamodb:us-west-2:111122223333:table/Scores/index/ByTop"],
      "Condition": {"StringEquals": {"dynamodb:Select": "ALL_PROJECTED_ATTRIBUTES"}})");
  const std::string index = table("Scores/index/ByTop");
  EXPECT_TRUE(allows(policy, "Query", {.select = "ALL_PROJECTED_ATTRIBUTES"}, index));
  EXPECT_FALSE(allows(policy, "Query", {.select = "ALL_ATTRIBUTES"}, index));
  EXPECT_FALSE(allows(policy, "Query", {.select = "ALL_PROJECTED_ATTRIBUTES"}));
}

TEST(PublishedExamples, NoFullScansInPartiQl) {
  const Policy policy = parsed(R"({"Version": "2012-10-17", "Statement": [
      {"Effect": "Deny", "Action": ["dynamodb:PartiQLSelect"],
       "Resource": ["arn:aws:dynamodb:us-west-2:111122223333:table/Watches"],
       "Condition": {"Bool": {"dynamodb:FullTableScan": ["true"]}}},
      {"Effect": "Allow",
       "Action": ["dynamodb:PartiQLInsert", "dynamodb:PartiQLUpdate", "dynamodb:PartiQLSelect"],
       "Resource": ["arn:aws:dynamodb:us-west-2:111122223333:table/Watches"]}]})");
  Context context = request("PartiQLSelect", table("Watches"));
  context.full_table_scan = "true";
  EXPECT_EQ(decide(policy, context), Decision::kDenied);
  context.full_table_scan = "false";
  EXPECT_EQ(decide(policy, context), Decision::kAllowed);
  context.action = "dynamodb:PartiQLDelete";
  EXPECT_EQ(decide(policy, context), Decision::kNotAllowed);
}

TEST(PublishedExamples, OnlyInTransactionsOrNeverInThem) {
  const Policy only = statement(R"("Effect": "Allow",
      "Action": ["dynamodb:ConditionCheckItem", "dynamodb:PutItem", "dynamodb:GetItem"],
      "Resource": ["arn:aws:dynamodb:*:*:table/Scores"],
      "Condition": {"ForAnyValue:StringEquals":
        {"dynamodb:EnclosingOperation": ["TransactWriteItems", "TransactGetItems"]}})");
  EXPECT_TRUE(allows(only, "PutItem", {.enclosing = "TransactWriteItems"}));
  EXPECT_FALSE(allows(only, "PutItem", {}));
  const Policy never = parsed(R"({"Version": "2012-10-17", "Statement": [
      {"Effect": "Deny", "Action": ["dynamodb:PutItem", "dynamodb:GetItem"], "Resource": "*",
       "Condition": {"ForAnyValue:StringEquals":
         {"dynamodb:EnclosingOperation": ["TransactWriteItems", "TransactGetItems"]}}},
      {"Effect": "Allow", "Action": ["dynamodb:PutItem", "dynamodb:GetItem"], "Resource": "*"}]})");
  EXPECT_FALSE(allows(never, "PutItem", {.enclosing = "TransactWriteItems"}));
  EXPECT_TRUE(allows(never, "PutItem", {}));
}

TEST(PublishedExamples, ReadOnlyWithoutTableManagement) {
  const Policy policy = parsed(R"({"Version": "2012-10-17", "Statement": [
      {"Sid": "ReadTables", "Effect": "Allow",
       "Action": ["dynamodb:BatchGet*", "dynamodb:Describe*", "dynamodb:Get*", "dynamodb:List*",
                  "dynamodb:Query", "dynamodb:Scan"], "Resource": "*"},
      {"Sid": "NotTheLedger", "Effect": "Deny", "Action": "dynamodb:*",
       "Resource": ["arn:aws:dynamodb:*:*:table/Ledger", "arn:aws:dynamodb:*:*:table/Ledger/*"]}]})");
  EXPECT_TRUE(allows(policy, "Query", {}));
  EXPECT_TRUE(allows(policy, "ListTables", {}, table("*")));
  EXPECT_FALSE(allows(policy, "DeleteTable", {}));
  EXPECT_FALSE(allows(policy, "Query", {}, table("Ledger/index/ByDay")));
}

TEST(PublishedExamples, ATableSharedWithOneUserAndOneAddressRange) {
  const Policy policy = parsed(
      R"({"Version": "2012-10-17", "Statement": [
      {"Sid": "Readers", "Effect": "Allow",
       "Principal": {"AWS": ["arn:aws:iam::111122223333:user/ann"]},
       "Action": ["dynamodb:GetItem", "dynamodb:Query"],
       "Resource": "arn:aws:dynamodb:us-west-2:111122223333:table/Scores"},
      {"Sid": "FromHere", "Effect": "Deny", "Principal": {"AWS": "*"}, "Action": "dynamodb:*",
       "Resource": "arn:aws:dynamodb:us-west-2:111122223333:table/Scores",
       "Condition": {"NotIpAddress": {"aws:SourceIp": ["203.0.113.0/24"]}}}]})",
      PolicyKind::kResource);
  EXPECT_TRUE(allows(policy, "GetItem", {}));
  EXPECT_FALSE(allows(policy, "PutItem", {}));
  Caller abroad = ann();
  abroad.source_ip = "198.51.100.1";
  EXPECT_EQ(
      decide(policy, {.caller = abroad, .action = "dynamodb:GetItem", .resource = table("Scores")}),
      Decision::kDenied);
}

}  // namespace
}  // namespace stator::policy
