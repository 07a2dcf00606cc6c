// SPDX-License-Identifier: Apache-2.0
#include "access/authorize.h"

#include <array>

#include "base/check.h"
#include "engine/engine_impl.h"

namespace stator::access {
namespace {

// Of a caller without an identity policy.
const policy::Policy& all_rights() {
  static const policy::Policy policy = [] {
    auto parsed = policy::Policy::parse(
        R"({"Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}})",
        policy::PolicyKind::kIdentity);
    STATOR_CHECK(parsed.has_value());
    return std::move(*parsed);
  }();
  return policy;
}

const policy::Policy& identity_policy(const Access& access) {
  return access.policy ? *access.policy : all_rights();
}

}  // namespace

bool has_resource_policies(Engine& engine) {
  return engine.impl().resource_policies.any();
}

std::string user_arn(std::string_view account, std::string_view username) {
  return std::string("arn:aws:iam::").append(account).append(":user/").append(username);
}

policy::KeySet wanted_keys(const Access& access, const AccessView& view) {
  return identity_policy(access).keys() | view.resource_policy_keys();
}

Result<void> decide(const Access& access, const Needs& needs) {
  for (const Need& need : needs.all()) {
    const PolicyPtr of_resource =
        need.table.empty() ? nullptr : needs.view().resource_policy(need.table, need.rest);
    const std::array<const policy::Policy*, 2> policies = {&identity_policy(access),
                                                           of_resource.get()};
    const policy::Verdict verdict = policy::evaluate(policies, need.context);
    if (access.decided) access.decided(need.context, verdict);
    if (!verdict.allowed()) {
      return fail(Code::kAccessDenied, policy::denial_text(verdict, need.context));
    }
  }
  return {};
}

}  // namespace stator::access
