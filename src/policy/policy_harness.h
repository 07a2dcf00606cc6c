// SPDX-License-Identifier: Apache-2.0
// A caller, requests and policies for tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "policy/evaluate.h"
#include "policy/policy.h"
#include "support/matchers.h"

namespace stator::policy {

inline const Caller& ann() {
  static const Caller caller{.account = "111122223333",
                             .username = "ann",
                             .arn = "arn:aws:iam::111122223333:user/ann",
                             .user_id = "AKIDANN",
                             .source_ip = "203.0.113.7",
                             .region = "us-west-2",
                             .user_agent = "aws-cli/2.0",
                             .referer = "",
                             .secure = true,
                             .now_ms = 1'795'378'530'000};  // 2026-11-22T20:15:30Z
  return caller;
}

inline std::string table(std::string_view rest) {
  return "arn:aws:dynamodb:us-west-2:111122223333:table/" + std::string(rest);
}

inline Context request(std::string_view action, std::string resource = table("GameScores")) {
  return {.caller = ann(),
          .action = "dynamodb:" + std::string(action),
          .resource = std::move(resource)};
}

inline Policy parsed(std::string_view json, PolicyKind kind = PolicyKind::kIdentity) {
  auto policy = Policy::parse(json, kind);
  EXPECT_THAT(policy, test::IsOk()) << json;
  return policy ? std::move(*policy) : Policy();
}

inline Decision decide(const Policy& policy, const Context& context) {
  const Policy* const policies[] = {&policy};
  return evaluate(policies, context).decision;
}

// A policy of one statement.
inline Policy statement(std::string_view members, PolicyKind kind = PolicyKind::kIdentity) {
  return parsed(R"({"Version": "2012-10-17", "Statement": {)" + std::string(members) + "}}", kind);
}
// Whether an Allow of everything with this condition applies.
inline bool holds(std::string_view condition, const Context& context) {
  const Policy policy =
      statement(R"("Effect": "Allow", "Action": "*", "Resource": "*", "Condition": )" +
                std::string(condition));
  return decide(policy, context) == Decision::kAllowed;
}

}  // namespace stator::policy
