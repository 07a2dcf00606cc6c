// SPDX-License-Identifier: Apache-2.0
#include "policy/evaluate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "policy/policy_harness.h"

namespace stator::policy {
namespace {

TEST(Evaluation, DeniesByDefault) {
  const Policy reader =
      statement(R"("Effect": "Allow", "Action": "dynamodb:GetItem", "Resource": "*")");
  EXPECT_EQ(decide(reader, request("GetItem")), Decision::kAllowed);
  EXPECT_EQ(decide(reader, request("PutItem")), Decision::kNotAllowed);
  EXPECT_EQ(evaluate({}, request("GetItem")).decision, Decision::kNotAllowed);
}

TEST(Evaluation, PutsADenyBeforeEachAllow) {
  const Policy allows = statement(R"("Effect": "Allow", "Action": "*", "Resource": "*")");
  const Policy denies =
      statement(R"("Effect": "Deny", "Action": "dynamodb:Get*", "Resource": "*")");
  const Policy* const one[] = {&allows, &denies};
  const Policy* const other[] = {&denies, nullptr, &allows};
  EXPECT_EQ(evaluate(one, request("GetItem")).decision, Decision::kDenied);
  EXPECT_EQ(evaluate(other, request("GetItem")).decision, Decision::kDenied);
  EXPECT_EQ(evaluate(other, request("PutItem")).decision, Decision::kAllowed);
}

TEST(Evaluation, NamesTheStatement) {
  const Policy policy = parsed(R"({"Statement": [
      {"Effect": "Allow", "Action": "dynamodb:Put*", "Resource": "*"},
      {"Sid": "Read", "Effect": "Allow", "Action": "dynamodb:Get*", "Resource": "*"}]})");
  const Policy* const policies[] = {&policy};
  const Verdict verdict = evaluate(policies, request("GetItem"));
  ASSERT_NE(verdict.statement, nullptr);
  EXPECT_EQ(verdict.statement->sid, "Read");
  EXPECT_EQ(verdict.statement->number, 2U);
  EXPECT_EQ(verdict.policy, &policy);
}

TEST(Evaluation, ReportsReasonsAsDynamoDbDoes) {
  const std::string start =
      "User: arn:aws:iam::111122223333:user/ann is not authorized to perform: dynamodb:GetItem on "
      "resource: arn:aws:dynamodb:us-west-2:111122223333:table/GameScores ";
  const Context context = request("GetItem");
  EXPECT_EQ(denial_text(evaluate({}, context), context),
            start + "because no identity-based policy allows the dynamodb:GetItem action");
  const Policy identity = statement(R"("Effect": "Deny", "Action": "*", "Resource": "*")");
  const Policy* const denied[] = {&identity};
  EXPECT_EQ(denial_text(evaluate(denied, context), context),
            start + "with an explicit deny in an identity-based policy");
  const Policy resource =
      statement(R"("Effect": "Deny", "Principal": "*", "Action": "*", "Resource": "*")",
                PolicyKind::kResource);
  const Policy* const denied_there[] = {&resource};
  EXPECT_EQ(denial_text(evaluate(denied_there, context), context),
            start + "with an explicit deny in a resource-based policy");
}

TEST(Evaluation, MatchesActionsInAnyCase) {
  const struct {
    const char* action;
    const char* asked;
    bool matches;
  } cases[] = {
      {"*", "GetItem", true},
      {"dynamodb:*", "GetItem", true},
      {"dynamodb:getitem", "GetItem", true},
      {"DynamoDB:GETITEM", "GetItem", true},
      {"dynamodb:*Item", "BatchGetItem", true},
      {"dynamodb:*Item", "BatchGetItems", false},
      {"dynamodb:*Get*Item", "BatchGetItem", true},
      {"dynamodb:?etItem", "GetItem", true},
      {"dynamodb:?GetItem", "GetItem", false},
      {"dynamodb:Get", "GetItem", false},
      {"s3:GetItem", "GetItem", false},
  };
  for (const auto& [action, asked, matches] : cases) {
    const Policy policy = statement(R"("Effect": "Allow", "Resource": "*", "Action": ")" +
                                    std::string(action) + "\"");
    EXPECT_EQ(decide(policy, request(asked)) == Decision::kAllowed, matches) << action;
    const Policy others = statement(R"("Effect": "Allow", "Resource": "*", "NotAction": ")" +
                                    std::string(action) + "\"");
    EXPECT_EQ(decide(others, request(asked)) == Decision::kAllowed, !matches) << action;
  }
}

TEST(Evaluation, MatchesResourcesPartByPart) {
  const struct {
    const char* pattern;
    const char* arn;
    bool matches;
  } cases[] = {
      {"*", "*", true},
      {"*", "arn:aws:dynamodb:us-west-2:111122223333:table/A", true},
      {"arn:aws:dynamodb:*:*:table/A", "arn:aws:dynamodb:us-west-2:111122223333:table/A", true},
      {"arn:aws:dynamodb:*:table/A:*", "arn:aws:dynamodb:us-west-2:111122223333:table/A", false},
      {"arn:aws:dynamodb:*:*:*", "*", false},
      {"arn:aws:dynamodb:*:*:table/A", "arn:aws:dynamodb:us-west-2:111122223333:table/a", false},
      {"arn:aws:dynamodb:*:*:table/A*", "arn:aws:dynamodb:us-west-2:111122223333:table/A/index/B",
       true},
      {"arn:aws:dynamodb:*:*:table/A/index/*", "arn:aws:dynamodb:us-west-2:111122223333:table/A",
       false},
      {"arn:aws:dynamodb:*:*:table/*/stream/*",
       "arn:aws:dynamodb:us-west-2:111122223333:table/A/stream/2026-01-02T03:04:05.678", true},
      {"arn:aws:dynamodb:us-east-1:*:table/A", "arn:aws:dynamodb:us-west-2:111122223333:table/A",
       false},
      {"arn:aws:dynamodb:*:*:table/${aws:username}-*",
       "arn:aws:dynamodb:us-west-2:111122223333:table/ann-notes", true},
      {"arn:aws:dynamodb:*:*:table/${aws:username}-*",
       "arn:aws:dynamodb:us-west-2:111122223333:table/bob-notes", false},
  };
  for (const auto& [pattern, arn, matches] : cases) {
    const Policy policy = statement(R"("Effect": "Allow", "Action": "*", "Resource": ")" +
                                    std::string(pattern) + "\"");
    EXPECT_EQ(decide(policy, request("GetItem", arn)) == Decision::kAllowed, matches)
        << pattern << " " << arn;
    const Policy others = statement(R"("Effect": "Allow", "Action": "*", "NotResource": ")" +
                                    std::string(pattern) + "\"");
    EXPECT_EQ(decide(others, request("GetItem", arn)) == Decision::kAllowed, !matches)
        << pattern << " " << arn;
  }
}

TEST(Evaluation, DoesNotTreatAVariablesValueAsAPattern) {
  Caller caller = ann();
  caller.username = "*";
  Context context{.caller = caller, .action = "dynamodb:GetItem", .resource = table("bob")};
  const Policy policy = statement(R"("Effect": "Allow", "Action": "*",
      "Resource": "arn:aws:dynamodb:*:*:table/${aws:username}")");
  EXPECT_EQ(decide(policy, context), Decision::kNotAllowed);
  context.resource = table("*");
  EXPECT_EQ(decide(policy, context), Decision::kAllowed);
}

TEST(Conditions, CompareStrings) {
  Context context = request("Query");
  context.select = "COUNT";
  const struct {
    const char* condition;
    bool holds;
  } cases[] = {
      {R"({"StringEquals": {"dynamodb:Select": "COUNT"}})", true},
      {R"({"StringEquals": {"DynamoDB:select": ["A", "COUNT"]}})", true},
      {R"({"StringEquals": {"dynamodb:Select": "count"}})", false},
      {R"({"StringEquals": {"dynamodb:Select": "C*"}})", false},
      {R"({"StringNotEquals": {"dynamodb:Select": ["A", "COUNT"]}})", false},
      {R"({"StringNotEquals": {"dynamodb:Select": ["A", "B"]}})", true},
      {R"({"StringEqualsIgnoreCase": {"dynamodb:Select": "count"}})", true},
      {R"({"StringNotEqualsIgnoreCase": {"dynamodb:Select": "count"}})", false},
      {R"({"StringLike": {"dynamodb:Select": "C?U*"}})", true},
      {R"({"StringLike": {"dynamodb:Select": "COUNT?"}})", false},
      {R"({"StringLike": {"dynamodb:Select": "c*"}})", false},
      {R"({"StringLike": {"dynamodb:Select": "*O*N*"}})", true},
      {R"({"StringLike": {"dynamodb:Select": "*O*O*"}})", false},
      {R"({"StringLike": {"dynamodb:Select": "${*}"}})", false},
      {R"({"StringNotLike": {"dynamodb:Select": "C*"}})", false},
      {R"({"StringEquals": {"aws:username": "${aws:username}"}})", true},
      {R"({"StringEquals": {"dynamodb:Select": "${aws:referer, 'COUNT'}"}})", true},
      {R"({"StringEquals": {"dynamodb:Select": "${aws:referer}"}})", false},
      {R"({"StringEquals": {"dynamodb:Select": "COUNT", "aws:username": "bob"}})", false},
      {R"({"StringEquals": {"aws:SecureTransport": true}})", true},
  };
  for (const auto& [condition, expected] : cases) {
    EXPECT_EQ(holds(condition, context), expected) << condition;
  }
}

// A negated operator holds if the key is absent, the others do not.
TEST(Conditions, TreatAbsentKeysAsDocumented) {
  const Context context = request("GetItem");
  const struct {
    const char* condition;
    bool holds;
  } cases[] = {
      {R"({"StringEquals": {"dynamodb:Select": "COUNT"}})", false},
      {R"({"StringNotEquals": {"dynamodb:Select": "COUNT"}})", true},
      {R"({"StringEqualsIfExists": {"dynamodb:Select": "COUNT"}})", true},
      {R"({"StringNotLikeIfExists": {"dynamodb:Select": "COUNT"}})", true},
      {R"({"Bool": {"dynamodb:FullTableScan": "false"}})", false},
      {R"({"BoolIfExists": {"dynamodb:FullTableScan": "false"}})", true},
      {R"({"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": "a"}})", true},
      {R"({"ForAnyValue:StringEquals": {"dynamodb:LeadingKeys": "a"}})", false},
      {R"({"ForAnyValue:StringNotEquals": {"dynamodb:LeadingKeys": "a"}})", false},
      {R"({"ForAnyValue:StringEqualsIfExists": {"dynamodb:LeadingKeys": "a"}})", true},
      {R"({"Null": {"dynamodb:LeadingKeys": "true"}})", true},
      {R"({"Null": {"dynamodb:LeadingKeys": "false"}})", false},
      {R"({"Null": {"aws:username": false}})", true},
  };
  for (const auto& [condition, expected] : cases) {
    EXPECT_EQ(holds(condition, context), expected) << condition;
  }
}

TEST(Conditions, CompareSetsOfValues) {
  Context context = request("BatchGetItem");
  context.leading_keys = {"ann", "bob"};
  const struct {
    const char* condition;
    bool holds;
  } cases[] = {
      {R"({"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["ann", "bob", "eve"]}})", true},
      {R"({"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["ann"]}})", false},
      {R"({"ForAnyValue:StringEquals": {"dynamodb:LeadingKeys": ["ann"]}})", true},
      {R"({"ForAnyValue:StringEquals": {"dynamodb:LeadingKeys": ["eve"]}})", false},
      {R"({"ForAllValues:StringNotEquals": {"dynamodb:LeadingKeys": ["eve"]}})", true},
      {R"({"ForAllValues:StringNotEquals": {"dynamodb:LeadingKeys": ["ann"]}})", false},
      {R"({"ForAnyValue:StringNotEquals": {"dynamodb:LeadingKeys": ["ann"]}})", true},
      {R"({"ForAnyValue:StringNotEquals": {"dynamodb:LeadingKeys": ["ann", "bob"]}})", false},
      {R"({"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["a*", "b*"]}})", true},
      {R"({"Null": {"dynamodb:LeadingKeys": "false"}})", true},
  };
  for (const auto& [condition, expected] : cases) {
    EXPECT_EQ(holds(condition, context), expected) << condition;
  }
}

TEST(Conditions, CompareOtherTypes) {
  Context context = request("GetItem");
  context.leading_keys = {"42"};
  const struct {
    const char* condition;
    bool holds;
  } cases[] = {
      {R"({"IpAddress": {"aws:SourceIp": "203.0.113.0/24"}})", true},
      {R"({"IpAddress": {"aws:SourceIp": ["10.0.0.0/8", "203.0.113.7"]}})", true},
      {R"({"IpAddress": {"aws:SourceIp": "203.0.113.8"}})", false},
      {R"({"IpAddress": {"aws:SourceIp": "::ffff:203.0.113.7"}})", true},
      {R"({"IpAddress": {"aws:SourceIp": "2001:db8::/32"}})", false},
      {R"({"NotIpAddress": {"aws:SourceIp": "203.0.113.0/24"}})", false},
      {R"({"NotIpAddress": {"aws:SourceIp": ["203.0.113.0/29", "10.0.0.0/8"]}})", false},
      {R"({"NotIpAddress": {"aws:SourceIp": "203.0.113.8/29"}})", true},
      {R"({"DateGreaterThan": {"aws:CurrentTime": "2026-11-22T20:15:29Z"}})", true},
      {R"({"DateGreaterThan": {"aws:CurrentTime": "2026-11-22T20:15:30Z"}})", false},
      {R"({"DateLessThanEquals": {"aws:CurrentTime": "2026-11-22T20:15:30Z"}})", true},
      {R"({"DateLessThan": {"aws:EpochTime": "1795378531"}})", true},
      {R"({"DateNotEquals": {"aws:EpochTime": "1795378530"}})", false},
      {R"({"NumericGreaterThanEquals": {"aws:EpochTime": 1795378530}})", true},
      {R"({"NumericLessThan": {"aws:EpochTime": 1795378530}})", false},
      {R"({"ForAllValues:NumericLessThan": {"dynamodb:LeadingKeys": "42.5"}})", true},
      {R"({"ForAllValues:NumericEquals": {"dynamodb:LeadingKeys": "42.0"}})", true},
      {R"({"ForAllValues:NumericNotEquals": {"dynamodb:LeadingKeys": "42.0"}})", false},
      {R"({"Bool": {"aws:SecureTransport": "true"}})", true},
      {R"({"Bool": {"aws:SecureTransport": false}})", false},
      {R"({"ArnEquals": {"aws:PrincipalArn": "arn:aws:iam::111122223333:user/ann"}})", true},
      {R"({"ArnLike": {"aws:PrincipalArn": "arn:aws:iam::*:user/a*"}})", true},
      {R"({"ArnNotLike": {"aws:PrincipalArn": "arn:aws:iam::*:user/a*"}})", false},
      {R"({"ArnNotEquals": {"aws:PrincipalArn": "arn:aws:iam::111122223333:user/bob"}})", true},
  };
  for (const auto& [condition, expected] : cases) {
    EXPECT_EQ(holds(condition, context), expected) << condition;
  }
}

TEST(ResourcePolicies, ConcernThePrincipalsThatTheyName) {
  const auto policy = [](std::string_view effect, std::string_view principal) {
    return statement(R"("Effect": ")" + std::string(effect) + R"(", "Principal": )" +
                         std::string(principal) + R"(, "Action": "*", "Resource": "*")",
                     PolicyKind::kResource);
  };
  const Context context = request("GetItem");
  EXPECT_EQ(decide(policy("Allow", R"("*")"), context), Decision::kAllowed);
  EXPECT_EQ(decide(policy("Allow", R"({"AWS": "*"})"), context), Decision::kAllowed);
  EXPECT_EQ(decide(policy("Allow", R"({"AWS": ["arn:aws:iam::111122223333:user/ann"]})"), context),
            Decision::kAllowed);
  EXPECT_EQ(decide(policy("Allow", R"({"AWS": "arn:aws:iam::111122223333:user/bob"})"), context),
            Decision::kNotAllowed);
  EXPECT_EQ(decide(policy("Allow", R"({"Service": "dynamodb.amazonaws.com"})"), context),
            Decision::kNotAllowed);
  // An account leaves the decision to the policies of its users.
  EXPECT_EQ(decide(policy("Allow", R"({"AWS": "111122223333"})"), context), Decision::kNotAllowed);
  EXPECT_EQ(decide(policy("Deny", R"({"AWS": "111122223333"})"), context), Decision::kDenied);
  EXPECT_EQ(decide(policy("Deny", R"({"AWS": "arn:aws:iam::111122223333:root"})"), context),
            Decision::kDenied);
  EXPECT_EQ(decide(policy("Deny", R"({"AWS": "arn:aws:iam::444455556666:root"})"), context),
            Decision::kNotAllowed);
}

// ---- Random policies compared with a small model

// Simple and slow: tries every way to match the start of the pattern.
bool glob(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*') {
    return glob(pattern.substr(1), text) || (!text.empty() && glob(pattern, text.substr(1)));
  }
  return !text.empty() && (pattern[0] == '?' || pattern[0] == text[0]) &&
         glob(pattern.substr(1), text.substr(1));
}

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  std::size_t below(std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(engine_);
  }
  std::string text(std::string_view letters, std::size_t longest) {
    std::string result;
    for (std::size_t left = below(longest + 1); left > 0; --left) {
      result += letters[below(letters.size())];
    }
    return result;
  }

 private:
  std::mt19937 engine_;
};

struct ModelStatement {
  bool allows = false;
  std::string resource;
  std::string quantifier;
  bool negated = false;
  std::vector<std::string> values;
};

bool applies(const ModelStatement& one, const std::string& name,
             const std::vector<std::string>& keys) {
  if (!glob(one.resource, name)) return false;
  const auto fits = [&](const std::string& key) {
    return std::ranges::any_of(one.values, [&](const auto& value) { return glob(value, key); }) !=
           one.negated;
  };
  return one.quantifier == "ForAllValues:" ? std::ranges::all_of(keys, fits)
                                           : std::ranges::any_of(keys, fits);
}

TEST(Evaluation, AgreesWithAModel) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    Dice dice(seed);
    std::vector<ModelStatement> model(1 + dice.below(4));
    std::string json;
    for (ModelStatement& one : model) {
      one = {.allows = dice.below(2) == 0,
             .resource = dice.text("ab*?", 4) + "*",
             .quantifier = dice.below(2) == 0 ? "ForAllValues:" : "ForAnyValue:",
             .negated = dice.below(3) == 0,
             .values = {dice.text("ab*?", 3), dice.text("ab*", 3)}};
      if (!json.empty()) json += ",";
      json += R"({"Effect": ")" + std::string(one.allows ? "Allow" : "Deny") +
              R"(", "Action": "*", "Resource": "arn:aws:dynamodb:*:*:table/)" + one.resource +
              R"(", "Condition": {")" + one.quantifier +
              (one.negated ? "StringNotLike" : "StringLike") + R"(": {"dynamodb:LeadingKeys": [")" +
              one.values[0] + R"(", ")" + one.values[1] + R"("]}}})";
    }
    const Policy policy = parsed(R"({"Statement": [)" + json + "]}");
    for (int i = 0; i < 4; ++i) {
      const std::string name = dice.text("ab", 4);
      Context context = request("GetItem", table(name));
      for (std::size_t count = dice.below(3); count > 0; --count) {
        context.leading_keys.push_back(dice.text("ab", 3));
      }
      Decision expected = Decision::kNotAllowed;
      for (const ModelStatement& one : model) {
        if (!applies(one, name, context.leading_keys)) continue;
        if (!one.allows) expected = Decision::kDenied;
        if (one.allows && expected != Decision::kDenied) expected = Decision::kAllowed;
      }
      ASSERT_EQ(decide(policy, context), expected) << "seed " << seed << " " << json;
    }
  }
}

}  // namespace
}  // namespace stator::policy
