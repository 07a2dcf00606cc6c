// SPDX-License-Identifier: Apache-2.0
#include "server/decision_log.h"

#include <gtest/gtest.h>

#include <string>

#include "support/matchers.h"

namespace stator::server {
namespace {

class DecisionLines : public ::testing::Test {
 protected:
  static policy::Policy parsed(const char* json) {
    auto policy = policy::Policy::parse(json, policy::PolicyKind::kIdentity);
    EXPECT_THAT(policy, test::IsOk());
    return policy ? std::move(*policy) : policy::Policy();
  }

  const policy::Caller caller_{.account = "000000782867",
                               .username = "ann\nkey=ADMIN",
                               .user_id = "AKIDANN",
                               .source_ip = "192.0.2.1",
                               .now_ms = 1'795'378'530'123};
  const policy::Context context_{.caller = caller_,
                                 .action = "dynamodb:GetItem",
                                 .resource = "arn:aws:dynamodb:us-east-1:000000782867:table/T\"",
                                 .attributes = {"secret-attribute"},
                                 .leading_keys = {"secret-key"}};
};

TEST_F(DecisionLines, NameCallerActionAndReason) {
  const policy::Policy policy = parsed(
      R"({"Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"},
                        {"Sid": "No Reads", "Effect": "Deny", "Action": "*", "Resource": "*"}]})");
  const policy::Verdict verdict{.decision = policy::Decision::kDenied,
                                .policy = &policy,
                                .statement = &policy.statements()[1]};
  EXPECT_EQ(decision_to_text(context_, verdict),
            "time=2026-11-22T20:15:30.123Z client=192.0.2.1 key=AKIDANN user=ann?key?ADMIN "
            "action=dynamodb:GetItem resource=arn:aws:dynamodb:us-east-1:000000782867:table/T? "
            "decision=denied policy=identity statement=No?Reads");
  EXPECT_EQ(decision_to_json(context_, {.decision = policy::Decision::kAllowed,
                                        .policy = &policy,
                                        .statement = &policy.statements()[0]}),
            R"({"time":"2026-11-22T20:15:30.123Z","client":"192.0.2.1","key":"AKIDANN",)"
            R"("user":"ann?key?ADMIN","action":"dynamodb:GetItem",)"
            R"("resource":"arn:aws:dynamodb:us-east-1:000000782867:table/T?",)"
            R"("decision":"allowed","policy":"identity","statement":"1"})");
}

TEST_F(DecisionLines, ReportThatNoStatementDecided) {
  EXPECT_EQ(decision_to_text(context_, {}),
            "time=2026-11-22T20:15:30.123Z client=192.0.2.1 key=AKIDANN user=ann?key?ADMIN "
            "action=dynamodb:GetItem resource=arn:aws:dynamodb:us-east-1:000000782867:table/T? "
            "decision=not-allowed policy=- statement=-");
}

}  // namespace
}  // namespace stator::server
