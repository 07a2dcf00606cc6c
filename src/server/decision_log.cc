// SPDX-License-Identifier: Apache-2.0
#include "server/decision_log.h"

#include <string_view>
#include <utility>
#include <vector>

#include "server/log_field.h"

namespace stator::server {
namespace {

std::string_view decision_name(policy::Decision decision) {
  switch (decision) {
    case policy::Decision::kAllowed:
      return "allowed";
    case policy::Decision::kDenied:
      return "denied";
    case policy::Decision::kNotAllowed:
      return "not-allowed";
  }
  return "";
}

// Names and values in the order of a line. Empty values are left out of JSON, and "-" in text.
std::vector<std::pair<std::string_view, std::string>> fields_of(const policy::Context& context,
                                                                const policy::Verdict& verdict) {
  const policy::Caller& caller = context.caller;
  std::string policy;
  std::string statement;
  if (verdict.statement != nullptr) {
    policy = verdict.policy->kind() == policy::PolicyKind::kIdentity ? "identity" : "resource";
    statement = verdict.statement->sid.empty() ? std::to_string(verdict.statement->number)
                                               : verdict.statement->sid;
  }
  return {
      {"client", caller.source_ip},   {"key", caller.user_id},
      {"user", caller.username},      {"action", context.action},
      {"resource", context.resource}, {"decision", std::string(decision_name(verdict.decision))},
      {"policy", std::move(policy)},  {"statement", std::move(statement)}};
}

}  // namespace

std::string decision_to_text(const policy::Context& context, const policy::Verdict& verdict) {
  std::string text = "time=" + timestamp(context.caller.now_ms);
  for (const auto& [name, value] : fields_of(context, verdict)) {
    text.append(" ").append(name).append("=").append(value.empty() ? "-" : log_field(value));
  }
  return text;
}

std::string decision_to_json(const policy::Context& context, const policy::Verdict& verdict) {
  std::string text = R"({"time":")" + timestamp(context.caller.now_ms) + '"';
  for (const auto& [name, value] : fields_of(context, verdict)) {
    if (value.empty()) continue;
    text.append(",\"").append(name).append("\":\"").append(log_field(value)).append("\"");
  }
  return text + '}';
}

void DecisionLog::write(const policy::Context& context, const policy::Verdict& verdict) {
  if (verdict.allowed() && !wants_allowed()) return;
  lines_.write(format_ == LogFormat::kJson ? decision_to_json(context, verdict)
                                           : decision_to_text(context, verdict));
}

}  // namespace stator::server
