// SPDX-License-Identifier: Apache-2.0
// stator policy check.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "cli/stator_program.h"
#include "support/temp_dir.h"

namespace stator::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PolicyCommand : public ::testing::Test {
 protected:
  PolicyCommand() {
    write("reader.json", R"({"Version": "2012-10-17", "Statement": [
        {"Sid": "OwnItems", "Effect": "Allow", "Action": ["dynamodb:GetItem", "dynamodb:Query"],
         "Resource": "arn:aws:dynamodb:*:*:table/Orders",
         "Condition": {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": "${aws:username}",
                         "dynamodb:Attributes": ["pk", "price"]},
                       "IpAddressIfExists": {"aws:SourceIp": "192.0.2.0/24"}}}]})");
    write("shared.json", R"({"Statement": [
        {"Effect": "Deny", "Principal": "*", "Action": "dynamodb:Query", "Resource": "*"}]})");
  }

  std::string path(const std::string& name) const { return (directory_.path() / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
  }
  static Ran check(std::vector<std::string> arguments) {
    std::vector<std::string> all = {"policy", "check"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return run_stator(all);
  }
  Ran decide(std::vector<std::string> more) const {
    std::vector<std::string> all = {
        "--policy", path("reader.json"), "--resource", "Orders", "--user", "ann"};
    all.insert(all.end(), more.begin(), more.end());
    return check(all);
  }

  const TempDir directory_;
};

TEST_F(PolicyCommand, ReportsWhetherADocumentIsAccepted) {
  const Ran identity = check({path("reader.json")});
  EXPECT_EQ(identity.status, 0);
  EXPECT_EQ(identity.out, "accepted: identity policy with 1 statement\n");
  const Ran resource = check({path("shared.json"), "--json"});
  EXPECT_EQ(resource.status, 0);
  EXPECT_EQ(resource.out, "{\"accepted\":true,\"policy\":\"resource\",\"statements\":1}\n");
  write("wrong.json", R"({"Statement": {"Effect": "Deny", "Action": "*"}})");
  const Ran wrong = check({path("wrong.json")});
  EXPECT_EQ(wrong.status, 1);
  EXPECT_THAT(wrong.out, IsEmpty());
  EXPECT_EQ(wrong.err, "stator: invalid policy '" + path("wrong.json") +
                           "': statement 1: a statement needs either 'Resource' or "
                           "'NotResource'\n");
  EXPECT_EQ(check({path("absent.json")}).status, 1);
}

TEST_F(PolicyCommand, NamesTheStatementThatDecides) {
  const Ran allowed =
      decide({"--action", "GetItem", "--leading-key", "ann", "--attributes", "pk,price"});
  EXPECT_EQ(allowed.status, 0);
  EXPECT_EQ(allowed.out, "allowed by statement 1 (OwnItems) of the identity policy\n");
  const Ran other = decide({"--action", "dynamodb:GetItem", "--leading-key", "bob"});
  EXPECT_EQ(other.status, 1);
  EXPECT_EQ(other.out,
            "not-allowed\nUser: arn:aws:iam::000000782867:user/ann is not authorized to perform: "
            "dynamodb:GetItem on resource: arn:aws:dynamodb:us-east-1:000000782867:table/Orders "
            "because no identity-based policy allows the dynamodb:GetItem action\n");
  EXPECT_EQ(decide({"--action", "GetItem", "--attributes", "pk,name"}).status, 1);
  EXPECT_EQ(decide({"--action", "GetItem", "--context", "aws:SourceIp=192.0.2.9"}).status, 0);
  EXPECT_EQ(decide({"--action", "GetItem", "--context", "aws:SourceIp=198.51.100.1"}).status, 1);
  const Ran denied =
      decide({"--action", "Query", "--resource-policy", path("shared.json"), "--json"});
  EXPECT_EQ(denied.status, 1);
  EXPECT_THAT(denied.out, HasSubstr(R"("decision":"denied")"));
  EXPECT_THAT(denied.out, HasSubstr(R"("policy":"resource","statement":1)"));
  EXPECT_THAT(denied.out, HasSubstr("with an explicit deny in a resource-based policy"));
}

TEST_F(PolicyCommand, RejectsIncompleteQueries) {
  EXPECT_EQ(check({}).status, 2);
  EXPECT_THAT(check({"--action", "GetItem", "--resource", "Orders"}).err,
              HasSubstr("--policy or --resource-policy is missing"));
  EXPECT_THAT(check({"--policy", path("reader.json"), "--action", "GetItem"}).err,
              HasSubstr("--resource is missing"));
  EXPECT_THAT(check({"--policy", path("reader.json")}).err, HasSubstr("--action is missing"));
  const Ran unknown = decide({"--action", "GetItem", "--context", "aws:SourceVpc=vpc-1"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("invalid --context 'aws:SourceVpc=vpc-1'"));
}

}  // namespace
}  // namespace stator::test
