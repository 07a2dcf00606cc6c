// SPDX-License-Identifier: Apache-2.0
#include "policy/evaluate.h"

#include <fmt/format.h>

#include <algorithm>

#include "policy/times.h"

namespace stator::policy {

KeyValues Context::values(const KeyName& name, std::string& scratch) const {
  const auto one = [](const std::optional<std::string>& value) {
    return value ? KeyValues(std::string_view(*value)) : KeyValues();
  };
  const auto known = [](std::string_view value) {
    return value.empty() ? KeyValues() : KeyValues(value);
  };
  const auto several = [](const std::vector<std::string>& values) {
    return values.empty() ? KeyValues() : KeyValues(std::span(values));
  };
  switch (name.key) {
    case Key::kPrincipalAccount:
    case Key::kResourceAccount:
      return known(caller.account);
    case Key::kPrincipalArn:
      return known(caller.arn);
    case Key::kPrincipalType:
      return KeyValues("User");
    case Key::kUserId:
      return known(caller.user_id);
    case Key::kUsername:
      return known(caller.username);
    case Key::kCurrentTime:
      return KeyValues(scratch = time_text(caller.now_ms));
    case Key::kEpochTime:
      return KeyValues(scratch = std::to_string(caller.now_ms / 1000));
    case Key::kReferer:
      return known(caller.referer);
    case Key::kRequestedRegion:
      return known(caller.region);
    case Key::kSecureTransport:
      return KeyValues(caller.secure ? "true" : "false");
    case Key::kSourceIp:
      return known(caller.source_ip);
    case Key::kUserAgent:
      return known(caller.user_agent);
    case Key::kRequestTag: {
      const auto found = request_tags.find(name.tag);
      return found == request_tags.end() ? KeyValues() : KeyValues(found->second);
    }
    case Key::kTagKeys:
      return several(tag_keys);
    case Key::kAttributes:
      return several(attributes);
    case Key::kEnclosingOperation:
      return one(enclosing_operation);
    case Key::kFullTableScan:
      return one(full_table_scan);
    case Key::kLeadingKeys:
      return several(leading_keys);
    case Key::kReturnConsumedCapacity:
      return one(return_consumed_capacity);
    case Key::kReturnValues:
      return one(return_values);
    case Key::kSelect:
      return one(select);
  }
  return {};
}

bool Statement::applies(PolicyKind kind, const Context& context) const {
  if (kind == PolicyKind::kResource && !everyone) {
    const bool named = std::ranges::find(users, context.caller.arn) != users.end();
    // Allowing an account lets it give the right to its users, but does not give it to them.
    // Denying an account denies all its users.
    const bool of_account = effect == Effect::kDeny &&
                            std::ranges::find(accounts, context.caller.account) != accounts.end();
    if (!named && !of_account) return false;
  }
  const bool action = std::ranges::any_of(
      actions, [&](const Pattern& pattern) { return pattern.matches(context.action, context); });
  if (action == other_actions) return false;
  const bool resource = std::ranges::any_of(resources, [&](const ArnPattern& pattern) {
    return pattern.matches(context.resource, context);
  });
  if (resource == other_resources) return false;
  return std::ranges::all_of(conditions,
                             [&](const Condition& condition) { return condition.holds(context); });
}

Verdict evaluate(std::span<const Policy* const> policies, const Context& context) {
  Verdict verdict;
  for (const Policy* policy : policies) {
    if (policy == nullptr) continue;
    for (const Statement& statement : policy->statements()) {
      // A second Allow changes nothing.
      if (statement.effect == Effect::kAllow && verdict.allowed()) continue;
      if (!statement.applies(policy->kind(), context)) continue;
      const bool denies = statement.effect == Effect::kDeny;
      verdict = {.decision = denies ? Decision::kDenied : Decision::kAllowed,
                 .policy = policy,
                 .statement = &statement};
      if (denies) return verdict;
    }
  }
  return verdict;
}

std::string denial_text(const Verdict& verdict, const Context& context) {
  std::string text = fmt::format("User: {} is not authorized to perform: {} on resource: {} ",
                                 context.caller.arn, context.action, context.resource);
  if (verdict.decision == Decision::kDenied) {
    const bool identity = verdict.policy->kind() == PolicyKind::kIdentity;
    return text.append("with an explicit deny in ")
        .append(identity ? "an identity-based policy" : "a resource-based policy");
  }
  return text.append("because no identity-based policy allows the ")
      .append(context.action)
      .append(" action");
}

}  // namespace stator::policy
