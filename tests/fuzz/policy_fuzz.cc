// SPDX-License-Identifier: Apache-2.0
// Any text as an access policy of an identity and of a resource. If it parses, it can be evaluated,
// and its printed form parses too and gives the same decisions.
#include <array>
#include <span>
#include <vector>

#include "base/check.h"
#include "policy/evaluate.h"
#include "policy/printer.h"

namespace {

using namespace stator;
using policy::Caller;
using policy::Context;
using policy::Policy;
using policy::PolicyKind;

std::vector<Context> contexts() {
  static const Caller ann{.account = "111122223333",
                          .username = "ann",
                          .arn = "arn:aws:iam::111122223333:user/ann",
                          .user_id = "AKIDANN",
                          .source_ip = "203.0.113.7",
                          .region = "us-west-2",
                          .user_agent = "aws-cli/2.0",
                          .referer = "https://example.com/*",
                          .secure = true,
                          .now_ms = 1'795'378'530'000};
  static const Caller nobody{.source_ip = "2001:db8::7"};
  const std::string table = "arn:aws:dynamodb:us-west-2:111122223333:table/";
  return {{.caller = ann, .action = "dynamodb:GetItem", .resource = table + "ann"},
          {.caller = nobody, .action = "dynamodb:ListTables", .resource = "*"},
          {.caller = ann,
           .action = "dynamodb:Query",
           .resource = table + "Games/index/ByScore",
           .enclosing_operation = "PartiQLSelect",
           .full_table_scan = "false",
           .return_consumed_capacity = "TOTAL",
           .select = "SPECIFIC_ATTRIBUTES",
           .attributes = {"pk", "score", "a*", "$"},
           .leading_keys = {"ann", "12"}},
          {.caller = nobody,
           .action = "dynamodb:UpdateItem",
           .resource = table + "?",
           .return_values = "ALL_OLD",
           .leading_keys = {""}},
          {.caller = ann,
           .action = "dynamodb:TagResource",
           .resource = table + "Music",
           .tag_keys = {"team", "cost"},
           .request_tags = {{"team", "ann"}, {"cost", "1e3"}}}};
}

policy::Verdict decide(const Policy& policy, const Context& context) {
  const Policy* const policies[] = {&policy};
  return policy::evaluate(policies, context);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  static const std::vector<Context> requests = contexts();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const PolicyKind kind : {PolicyKind::kIdentity, PolicyKind::kResource}) {
    const auto parsed = Policy::parse(text, kind);
    if (!parsed) continue;
    const std::string printed = policy::print(*parsed);
    if (printed.size() > policy::kPolicyBytesMax) continue;
    const auto again = Policy::parse(printed, kind);
    STATOR_CHECK(again);
    STATOR_CHECK(policy::print(*again) == printed);
    STATOR_CHECK(again->keys() == parsed->keys());
    for (const Context& request : requests) {
      const policy::Verdict verdict = decide(*parsed, request);
      const policy::Verdict same = decide(*again, request);
      STATOR_CHECK(verdict.decision == same.decision);
      STATOR_CHECK((verdict.statement == nullptr) == (same.statement == nullptr));
      if (verdict.statement == nullptr) continue;
      STATOR_CHECK(verdict.statement->number == same.statement->number);
      if (!verdict.allowed()) STATOR_CHECK(!policy::denial_text(verdict, request).empty());
    }
  }
  return 0;
}
