// SPDX-License-Identifier: Apache-2.0
#include "policy/printer.h"

#include <gtest/gtest.h>

#include <string>

#include "policy/policy_harness.h"

namespace stator::policy {
namespace {

std::string printed(std::string_view json, PolicyKind kind = PolicyKind::kIdentity) {
  const std::string text = print(parsed(json, kind));
  EXPECT_EQ(print(parsed(text, kind)), text);
  return text;
}

std::string printed_condition(const std::string& condition) {
  const std::string text =
      printed(R"({"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Action": "*",
              "Resource": "*", "Condition": )" +
              condition + "}}");
  const std::string begin = R"({"Statement":[{"Action":["*"],"Condition":)";
  const std::string end = R"(,"Effect":"Allow","Resource":["*"]}],"Version":"2012-10-17"})";
  EXPECT_TRUE(text.starts_with(begin) && text.ends_with(end)) << text;
  return text.substr(begin.size(), text.size() - begin.size() - end.size());
}

TEST(PolicyPrinter, PrintsStatements) {
  EXPECT_EQ(printed(R"({"Statement": {"Sid": "One", "Effect": "Deny", "NotAction": "dynamodb:Get**",
              "NotResource": "arn:aws:dynamodb:*:1:table/A$"}})"),
            R"({"Statement":[{"Effect":"Deny","NotAction":["dynamodb:Get*"],)"
            R"("NotResource":["arn:aws:dynamodb:*:1:table/A${$}"],"Sid":"One"}],)"
            R"("Version":"2012-10-17"})");
  EXPECT_EQ(printed(R"({"Statement": [{"Effect": "Allow", "Principal": {"Service": "x", "AWS":
              ["arn:aws:iam::111122223333:root", "arn:aws:iam::111122223333:user/ann", "*"]},
              "Action": ["dynamodb:Scan"], "Resource": "*"}]})",
                    PolicyKind::kResource),
            R"({"Statement":[{"Action":["dynamodb:Scan"],"Effect":"Allow",)"
            R"("Principal":{"AWS":["*","111122223333","arn:aws:iam::111122223333:user/ann"]},)"
            R"("Resource":["*"]}],"Version":"2012-10-17"})");
}

TEST(PolicyPrinter, PrintsVariablesAndLiteralWildcards) {
  EXPECT_EQ(printed_condition(R"({"StringLike": {"aws:username": ["a*${*}?${?}${$}{",
                              "${ aws:RequestTag/team , 'it's*' }${aws:userid}"]}})"),
            R"({"StringLike":{"aws:username":["a*${*}?${?}${$}{",)"
            R"("${aws:RequestTag/team, 'it's*'}${aws:userid}"]}})");
  EXPECT_EQ(printed_condition(R"({"StringEquals": {"aws:username": "a*"}})"),
            R"({"StringEquals":{"aws:username":["a${*}"]}})");
}

TEST(PolicyPrinter, PrintsOperandsOfEveryKind) {
  EXPECT_EQ(printed_condition(R"({"ForAllValues:StringEqualsIfExists": {"dynamodb:attributes": "a"},
                              "NumericLessThan": {"aws:EpochTime": 1.50},
                              "Bool": {"aws:SecureTransport": [true, "FALSE"]},
                              "NotIpAddress": {"aws:SourceIp": ["10.1.0.0/16", "2001:db8::/32"]},
                              "ArnLike": {"aws:PrincipalArn": "arn:aws:iam::*:user/*"},
                              "Null": {"aws:referer": "true"}})"),
            R"({"ArnLike":{"aws:PrincipalArn":["arn:aws:iam::*:user/*"]},)"
            R"("Bool":{"aws:SecureTransport":["true","false"]},)"
            R"("ForAllValues:StringEqualsIfExists":{"dynamodb:Attributes":["a"]},)"
            R"("NotIpAddress":{"aws:SourceIp":["::ffff:10.1.0.0/112","2001:db8::/32"]},)"
            R"("Null":{"aws:referer":["true"]},"NumericLessThan":{"aws:EpochTime":["1.5"]}})");
  EXPECT_EQ(printed_condition(R"({"DateLessThan": {"aws:CurrentTime": ["2026",
                              "2026-11-22T20:15:30.5+01:00", 0, "0001-01-01T00:00+14:59",
                              "9999-12-31T23:59-14:59"]}})"),
            R"({"DateLessThan":{"aws:CurrentTime":["2026-01-01T00:00:00.000Z",)"
            R"("2026-11-22T19:15:30.500Z","1970-01-01T00:00:00.000Z",)"
            R"("0001-01-01T00:00:00.000+14:59","9999-12-31T23:59:00.000-14:59"]}})");
}

TEST(PolicyPrinter, KeepsConditionsOnOneKeyApart) {
  EXPECT_EQ(printed_condition(R"({"StringLike": {"aws:username": "a*", "AWS:UserName": "*b"}})"),
            R"({"StringLike":{"Aws:username":["a*"],"aws:username":["*b"]}})");
}

}  // namespace
}  // namespace stator::policy
