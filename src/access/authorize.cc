// SPDX-License-Identifier: Apache-2.0
#include "access/authorize.h"

#include <array>

#include "api/admin/document.h"
#include "base/check.h"
#include "engine/jobs/job_engine.h"

namespace stator::access {
namespace {

// The policy of a caller without an identity policy.
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

// `of_resource` can be null.
Result<void> decide(const Access& access, const policy::Context& context,
                    const policy::Policy* of_resource) {
  const std::array<const policy::Policy*, 2> policies = {&identity_policy(access), of_resource};
  const policy::Verdict verdict = policy::evaluate(policies, context);
  if (access.decided) access.decided(context, verdict);
  if (verdict.allowed()) return {};
  return fail(Code::kAccessDenied, policy::denial_text(verdict, context));
}

// Rejects a resource policy that would deny the caller its later change. The engine rejects a
// document that cannot be parsed.
Result<void> check_keeps_access(const Access& access, const policy::Context& context,
                                const std::string& document) {
  const auto changed = policy::Policy::parse(document, policy::PolicyKind::kResource);
  if (!changed) return {};
  const std::array<const policy::Policy*, 2> policies = {&identity_policy(access), &*changed};
  if (policy::evaluate(policies, context).decision != policy::Decision::kDenied) return {};
  return fail(Code::kValidation,
              "the policy denies you to change it later; to confirm, set "
              "ConfirmRemoveSelfResourceAccess to true");
}

}  // namespace

bool has_resource_policies(Engine& engine) {
  return engine.parts().resource_policies.any();
}

policy::Caller caller_of(Engine& engine, std::string_view username) {
  const EngineOptions& options = engine.parts().options;
  policy::Caller caller{.account = options.account, .username = std::string(username)};
  caller.arn.append("arn:aws:iam::").append(options.account).append(":user/").append(username);
  caller.region = options.region;
  return caller;
}

Result<void> authorize(const Access& access, Place place, std::string_view operation,
                       const Item& request) {
  return authorize_with(access, place, [&](Needs& needs) -> Result<void> {
    STATOR_RETURN_IF_ERROR(gather(needs, operation, request));
    if (operation != "PutResourcePolicy") return {};
    if (boolean_of(request, "ConfirmRemoveSelfResourceAccess")) return {};
    return check_keeps_access(access, needs.all().front().context, text_of(request, "Policy"));
  });
}

policy::KeySet wanted_keys(const Access& access, const AccessView& view) {
  return identity_policy(access).keys() | view.resource_policy_keys();
}

Result<void> decide(const Access& access, const Needs& needs) {
  for (const Need& need : needs.all()) {
    STATOR_RETURN_IF_ERROR(decide(access, need.context, need.policy.get()));
  }
  return {};
}

Result<void> authorize_action(const Access& access, std::string_view action) {
  return decide(access, {.caller = access.caller, .action = std::string(action), .resource = "*"},
                nullptr);
}

}  // namespace stator::access
