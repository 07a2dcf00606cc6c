// SPDX-License-Identifier: Apache-2.0
#include "policy/policy.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>

#include "policy/policy_harness.h"
#include "policy/times.h"

namespace stator::policy {
namespace {

using test::FailsWith;
using test::IsOk;

// A statement of an identity policy with other members.
std::string with(std::string_view members) {
  return R"({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", )" + std::string(members) +
         "}]}";
}
std::string with_condition(std::string_view condition) {
  return with(R"("Action": "*", "Resource": "*", "Condition": )" + std::string(condition));
}

TEST(PolicyDocument, RejectsUnknownElements) {
  const struct {
    std::string json;
    const char* problem;
  } wrong[] = {
      {"nothing", "the text is not a JSON object"},
      {"[]", "the text is not a JSON object"},
      {R"({"Version": "2012-10-17"})", "the policy has no 'Statement'"},
      {R"({"Statement": []})", "the policy has no statements"},
      {R"({"Statement": [1]})", "statement 1 must be an object"},
      {R"({"Version": "2015", "Statement": []})", "'Version' must be '2012-10-17'"},
      {R"({"Statement": [], "Statement": []})", "member 'Statement' is repeated"},
      {R"({"Statement": [], "Rules": []})", "element 'Rules' is not supported"},
      {R"({"Statement": {"Effect": "allow", "Action": "*", "Resource": "*"}})",
       "statement 1: 'Effect' must be 'Allow' or 'Deny'"},
      {with(R"("Action": "*")"), "a statement needs either 'Resource' or 'NotResource'"},
      {with(R"("Resource": "*")"), "a statement needs either 'Action' or 'NotAction'"},
      {with(R"("Action": "*", "NotAction": "*", "Resource": "*")"), "either 'Action'"},
      {with(R"("Action": [], "Resource": "*")"), "'Action' must be a string or a list of strings"},
      {with(R"("Action": null, "Resource": "*")"),
       "'Action' must be a string or a list of strings"},
      {with(R"("Action": true, "Resource": "*")"),
       "'Action' must be a string or a list of strings"},
      {with(R"("Action": "GetItem", "Resource": "*")"), "'GetItem' is not an action"},
      {with(R"("Action": "dyn*:GetItem", "Resource": "*")"), "is not an action"},
      {with(R"("Action": "dynamodb:", "Resource": "*")"), "is not an action"},
      {with(R"("Action": "*", "Resource": "table/Music")"), "'table/Music' is not an ARN"},
      {with(R"("Action": "*", "Resource": "arn:aws:dynamodb:*")"), "is not an ARN"},
      {with(R"("Action": "*", "Resource": "arn:aws:dynamodb:*:*:")"), "is not an ARN"},
      {with(R"("Action": "*", "Resource": "arn:aws:dynamodb:*:*:table/${www.amazon.com:user_id}")"),
       "policy variable '${www.amazon.com:user_id}' is not supported"},
      {with(R"("Action": "*", "Resource": "arn:aws:dynamodb:*:*:table/${aws:username")"),
       "that is not closed"},
      {with(R"("Action": "*", "Resource": "*", "Principal": "*")"),
       "an identity policy has no 'Principal'"},
      {with(R"("Action": "*", "Resource": "*", "Extra": 1)"), "element 'Extra' is not supported"},
      {with(R"("Action": "*", "Resource": "*", "Condition": [])"), "'Condition' must be an object"},
      {with(R"("Action": "*", "Resource": "*", "Condition": null)"),
       "'Condition' must be an object"},
      {with_condition(R"({"StringEquals": {}})"), "must be an object of condition keys"},
      {with_condition(R"({"StringEquals": {"aws:username": []}})"), "must be a string or a list"},
      {with_condition(R"({"StringEquals": {"aws:username": {}}})"), "must be a string or a list"},
      {with_condition(R"({"StringIs": {"aws:username": "a"}})"),
       "condition operator 'StringIs' is not supported"},
      {with_condition(R"({"ForSome:StringEquals": {"aws:username": "a"}})"), "is not supported"},
      {with_condition(R"({"NullIfExists": {"aws:username": "true"}})"), "is not supported"},
      {with_condition(R"({"Bool": {"aws:MultiFactorAuthPresent": "true"}})"),
       "condition key 'aws:MultiFactorAuthPresent' is not supported"},
      {with_condition(R"({"StringEquals": {"aws:PrincipalTag/team": "a"}})"), "is not supported"},
      {with_condition(R"({"StringEquals": {"aws:username/a": "a"}})"), "is not supported"},
      {with_condition(R"({"StringEquals": {"aws:RequestTag": "a"}})"), "is not supported"},
      {with_condition(R"({"StringEquals": {"dynamodb:LeadingKeys": "a"}})"),
       "has several values; use ForAllValues:StringEquals or ForAnyValue:StringEquals"},
      {with_condition(R"({"IpAddress": {"aws:username": "10.0.0.1"}})"),
       "condition operator 'IpAddress' does not fit the key 'aws:username'"},
      {with_condition(R"({"IpAddress": {"aws:SourceIp": "10.0.0.256"}})"),
       "'10.0.0.256' is not a value for IpAddress"},
      {with_condition(R"({"IpAddress": {"aws:SourceIp": "10.0.0.1/2147483647"}})"),
       "'10.0.0.1/2147483647' is not a value for IpAddress"},
      {with_condition(R"({"IpAddress": {"aws:SourceIp": "10.0.0.1\u0000x"}})"),
       "is not a value for IpAddress"},
      {with_condition(R"({"IpAddress": {"aws:SourceIp": "10.0.0.0/33"}})"), "is not a value"},
      {with_condition(R"({"IpAddress": {"aws:SourceIp": "10.0.0.0/-1"}})"), "is not a value"},
      {with_condition(R"({"DateLessThan": {"aws:CurrentTime": "tomorrow"}})"), "is not a value"},
      {with_condition(R"({"NumericEquals": {"aws:EpochTime": "many"}})"), "is not a value"},
      {with_condition(R"({"Bool": {"aws:SecureTransport": "yes"}})"), "is not a value for Bool"},
      {with_condition(R"({"Null": {"aws:referer": "maybe"}})"), "is not a value for Null"},
      {with_condition(R"({"ArnLike": {"aws:PrincipalArn": "user/ann"}})"), "is not an ARN"},
      {with_condition(R"({"StringEquals": {"aws:username": "${dynamodb:LeadingKeys}"}})"),
       "is not supported"},
      {with_condition(R"({"StringEquals": {"aws:username": "${aws:referer, none}"}})"),
       "must be in single quotes"},
      {R"({"Statement": {"Effect": "Allow", "Action": "*", "Resource": "*",
           "Condition": {"StringEquals": {"aws:username": "${aws:username}"}}}})",
       "that cannot be here"},
      {R"({"Statement": [{"Sid": "a", "Effect": "Deny", "Action": "*", "Resource": "*"},
                         {"Sid": "a", "Effect": "Deny", "Action": "*", "Resource": "*"}]})",
       "statement 2: Sid 'a' is repeated"},
      {with_condition(R"({"StringEquals": {"aws:username": "a", "aws:username": "b"}})"),
       "member 'aws:username' is repeated"},
  };
  for (const auto& [json, problem] : wrong) {
    EXPECT_THAT(Policy::parse(json, PolicyKind::kIdentity),
                FailsWith(Code::kInvalidArgument, problem))
        << json;
  }
}

TEST(PolicyDocument, RejectsIndistinguishablePrincipals) {
  const auto of = [&](std::string_view members) {
    std::string json = R"({"Statement": {"Effect": "Deny", "Action": "*", "Resource": "*")";
    return json.append(members).append("}}");
  };
  const struct {
    const char* members;
    const char* problem;
  } wrong[] = {
      {"", "a statement of a resource policy needs 'Principal'"},
      {R"(, "Principal": "ann")", "'Principal' must be '*' or an object"},
      {R"(, "Principal": {})", "'Principal' must be '*' or an object"},
      {R"(, "Principal": {"User": "ann"})", "element 'User' is not supported"},
      {R"(, "Principal": {"AWS": "arn:aws:iam::111122223333:user/*"})", "is not a principal"},
      {R"(, "Principal": {"AWS": "ann"})", "is not a principal"},
      {R"(, "NotPrincipal": {"AWS": "*"})", "'NotPrincipal' is not supported"},
  };
  for (const auto& [members, problem] : wrong) {
    EXPECT_THAT(Policy::parse(of(members), PolicyKind::kResource),
                FailsWith(Code::kInvalidArgument, problem))
        << members;
  }
  EXPECT_THAT(Policy::parse(of(R"(, "Principal": {"Service": "replication.dynamodb.amazonaws.com",
                                   "AWS": ["111122223333", "arn:aws:iam::111122223333:root"]})"),
                            PolicyKind::kResource),
              IsOk());
}

TEST(PolicyDocument, IsBounded) {
  const std::string start = R"({"Id": ")";
  const std::string end = R"(", "Statement": {"Effect": "Deny", "Action": "*", "Resource": "*"}})";
  const std::string id(kPolicyBytesMax - start.size() - end.size(), 'a');
  EXPECT_THAT(Policy::parse(start + id + end, PolicyKind::kIdentity), IsOk());
  EXPECT_THAT(Policy::parse(start + id + "a" + end, PolicyKind::kIdentity),
              FailsWith(Code::kInvalidArgument, "the policy is larger than 20480 bytes"));
  std::string deep;
  for (int i = 0; i < 40; ++i) deep += R"({"Statement": )";
  deep += "1" + std::string(40, '}');
  EXPECT_THAT(Policy::parse(deep, PolicyKind::kIdentity),
              FailsWith(Code::kInvalidArgument, "nested too deeply"));
  const auto with_action = [](const std::string& action) {
    return Policy::parse(
        R"({"Statement": {"Effect": "Deny", "Resource": "*", "Action": "dynamodb:)" + action +
            "\"}}",
        PolicyKind::kIdentity);
  };
  EXPECT_THAT(with_action(std::string(100, '?')), IsOk());
  EXPECT_THAT(with_action(std::string(200, '?')),
              FailsWith(Code::kInvalidArgument, "more than 128 wildcards"));
}

// Documents with changed bytes are accepted or refused; accepted ones can be evaluated.
TEST(PolicyDocument, SurvivesDamage) {
  const std::string sound = R"({"Version": "2012-10-17", "Statement": [{"Sid": "a",
      "Effect": "Allow", "Action": ["dynamodb:Get*", "*"], "NotResource":
      "arn:aws:dynamodb:*:*:table/${aws:username, 'x'}-?*", "Condition": {
      "ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["${aws:userid}*", "${*}"]},
      "IpAddressIfExists": {"aws:SourceIp": "10.0.0.0/8"}, "Null": {"aws:referer": true},
      "DateLessThan": {"aws:CurrentTime": "2026-11-22T20:15:30.5+01:00"},
      "NumericLessThan": {"aws:EpochTime": 1.5e9}}}]})";
  constexpr std::string_view kBytes = "{}[]\":,$*?'\\/.0-9eE:nul\x80\xff";
  std::mt19937 engine(7);
  const auto below = [&](std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(engine);
  };
  Context context = request("GetItem");
  context.leading_keys = {"AKIDANN1", "*"};
  int read = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = sound;
    for (std::size_t changes = 1 + below(3); changes > 0; --changes) {
      const std::size_t at = below(damaged.size());
      if (below(3) == 0)
        damaged.erase(at, 1 + below(4));
      else
        damaged[at] = kBytes[below(kBytes.size())];
    }
    const auto policy = Policy::parse(damaged, PolicyKind::kIdentity);
    if (!policy) {
      EXPECT_FALSE(policy.error().message.empty());
      continue;
    }
    ++read;
    static_cast<void>(decide(*policy, context));
  }
  EXPECT_GT(read, 100);
}

TEST(PolicyTimes, ReadsW3cTimes) {
  EXPECT_EQ(parse_time("1970"), 0);
  EXPECT_EQ(parse_time("1970-02"), 31 * 86'400'000LL);
  EXPECT_EQ(parse_time("1970-01-02"), 86'400'000);
  EXPECT_EQ(parse_time("2026-11-22T20:15:30Z"), 1'795'378'530'000);
  EXPECT_EQ(parse_time("2026-11-22T21:15:30.25+01:00"), 1'795'378'530'250);
  EXPECT_EQ(parse_time("2026-11-22T19:15-01:00"), 1'795'378'500'000);
  EXPECT_EQ(parse_time("1795378530"), 1'795'378'530'000);
  for (const char* text : {"", "now", "2026-13", "2026-02-30", "2026-11-22T20", "2026-11-22T24:00Z",
                           "2026-11-22T20:15:30", "2026-11-22T20:15:30.Z", "-5", "2026-11-22 ",
                           "99999999999999999999", "2026-11-22T20:15Z!"}) {
    EXPECT_EQ(parse_time(text), std::nullopt) << text;
  }
  EXPECT_EQ(time_text(1'795'378'530'999), "2026-11-22T20:15:30Z");
}

}  // namespace
}  // namespace stator::policy
