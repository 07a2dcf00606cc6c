// SPDX-License-Identifier: Apache-2.0
// stator policy check: checks a policy, or prints its decision on an action.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "api/json/item_json.h"
#include "api/wire/wire.h"
#include "base/clock.h"
#include "base/profile_file.h"
#include "cli/commands.h"
#include "engine/engine.h"
#include "policy/evaluate.h"
#include "policy/times.h"

namespace stator::cli {
namespace {

using policy::Decision;
using policy::Policy;
using policy::PolicyKind;

struct PolicyFlags {
  std::string file;
  std::string identity;
  std::string resource_policy;
  std::string action;
  std::string resource;
  std::string user = "user";
  std::vector<std::string> leading_keys;
  std::vector<std::string> attributes;
  std::vector<std::string> context;
  bool json = false;
};

Result<Policy> read_policy(const std::string& file, PolicyKind kind) {
  STATOR_ASSIGN_OR_RETURN(const std::string text, read_profile_file(file));
  auto parsed = Policy::parse(text, kind);
  if (parsed) return parsed;
  return fail(Code::kInvalidArgument,
              fmt::format("invalid policy '{}': {}", file, parsed.error().message));
}

// Returns kFailure, not kUsage: a rejected policy is a result, not wrong usage.
int refuse(const Error& error) {
  report(error);
  return kFailure;
}

// The kind follows from the document: resource policies name principals.
int check_document(const PolicyFlags& flags) {
  auto kind = PolicyKind::kIdentity;
  auto parsed = read_policy(flags.file, kind);
  if (!parsed && parsed.error().message.find("'Principal'") != std::string::npos) {
    kind = PolicyKind::kResource;
    parsed = read_policy(flags.file, kind);
  }
  if (!parsed) return refuse(parsed.error());
  const std::string_view name = kind == PolicyKind::kIdentity ? "identity" : "resource";
  const std::size_t count = parsed->statements().size();
  if (flags.json) {
    std::puts(
        wire::item_to_plain_json({{"accepted", true}, {"policy", name}, {"statements", count}})
            .c_str());
  } else {
    std::printf("accepted: %s policy with %zu statement%s\n", std::string(name).c_str(), count,
                count == 1 ? "" : "s");
  }
  return kSuccess;
}

// ---- A request from flags

// Returns ARNs and "*" unchanged. "Music" and "table/Music" are tables of `stator serve`.
std::string full_arn(const std::string& resource) {
  if (resource == "*" || resource.starts_with("arn:")) return resource;
  const EngineOptions options;
  return fmt::format("arn:aws:dynamodb:{}:{}:{}{}", options.region, options.account,
                     resource.starts_with("table/") ? "" : "table/", resource);
}

// The part of an ARN after this number of colons.
std::string arn_part(std::string_view arn, int colons) {
  for (; colons > 0; --colons) {
    const std::size_t colon = arn.find(':');
    if (colon == arn.npos) return "";
    arn.remove_prefix(colon + 1);
  }
  return std::string(arn.substr(0, arn.find(':')));
}

Result<void> set_key(policy::Caller& caller, policy::Context& context, const policy::KeyName& name,
                     const std::string& value) {
  const auto invalid = [&] {
    return fail(Code::kInvalidArgument,
                fmt::format("invalid value '{}' of {}", value, policy::name_of(name.key)));
  };
  switch (name.key) {
    case policy::Key::kPrincipalAccount:
    case policy::Key::kResourceAccount:
      caller.account = value;
      break;
    case policy::Key::kPrincipalArn:
      caller.arn = value;
      break;
    case policy::Key::kPrincipalType:
      if (value != "User") return invalid();
      break;
    case policy::Key::kUserId:
      caller.user_id = value;
      break;
    case policy::Key::kUsername:
      caller.username = value;
      break;
    case policy::Key::kCurrentTime:
    case policy::Key::kEpochTime: {
      const auto time = policy::parse_time(value);
      if (!time) return invalid();
      caller.now_ms = *time;
      break;
    }
    case policy::Key::kReferer:
      caller.referer = value;
      break;
    case policy::Key::kRequestedRegion:
      caller.region = value;
      break;
    case policy::Key::kSecureTransport:
      if (value != "true" && value != "false") return invalid();
      caller.secure = value == "true";
      break;
    case policy::Key::kSourceIp:
      caller.source_ip = value;
      break;
    case policy::Key::kUserAgent:
      caller.user_agent = value;
      break;
    case policy::Key::kRequestTag:
      context.request_tags.insert_or_assign(name.tag, value);
      break;
    case policy::Key::kTagKeys:
      context.tag_keys.push_back(value);
      break;
    case policy::Key::kAttributes:
      context.attributes.push_back(value);
      break;
    case policy::Key::kEnclosingOperation:
      context.enclosing_operation = value;
      break;
    case policy::Key::kFullTableScan:
      context.full_table_scan = value;
      break;
    case policy::Key::kLeadingKeys:
      context.leading_keys.push_back(value);
      break;
    case policy::Key::kReturnConsumedCapacity:
      context.return_consumed_capacity = value;
      break;
    case policy::Key::kReturnValues:
      context.return_values = value;
      break;
    case policy::Key::kSelect:
      context.select = value;
      break;
  }
  return {};
}

Result<void> set_context(policy::Caller& caller, policy::Context& context,
                         const std::vector<std::string>& settings) {
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    const auto key =
        equals == setting.npos ? std::nullopt : policy::find_key(setting.substr(0, equals));
    if (!key) {
      return fail(
          Code::kInvalidArgument,
          fmt::format("invalid --context '{}'; expected a condition key and =VALUE", setting));
    }
    STATOR_RETURN_IF_ERROR(set_key(caller, context, *key, setting.substr(equals + 1)));
  }
  return {};
}

// ---- Decisions

int print_verdict(const PolicyFlags& flags, const policy::Verdict& verdict,
                  const policy::Context& context) {
  Item response;
  const std::string decision = verdict.allowed()                       ? "allowed"
                               : verdict.decision == Decision::kDenied ? "denied"
                                                                       : "not-allowed";
  response["decision"] = decision;
  std::string by;
  if (verdict.statement != nullptr) {
    const policy::Statement& statement = *verdict.statement;
    const std::string kind =
        verdict.policy->kind() == PolicyKind::kIdentity ? "identity" : "resource";
    response["policy"] = kind;
    response["statement"] = statement.number;
    if (!statement.sid.empty()) response["sid"] = statement.sid;
    by = fmt::format(" by statement {}{} of the {} policy", statement.number,
                     statement.sid.empty() ? "" : " (" + statement.sid + ")", kind);
  }
  if (!verdict.allowed()) response["message"] = policy::denial_text(verdict, context);
  if (flags.json) {
    std::puts(wire::item_to_plain_json(response).c_str());
  } else {
    std::puts(one_line(decision + by).c_str());
    if (!verdict.allowed()) std::puts(one_line(policy::denial_text(verdict, context)).c_str());
  }
  return verdict.allowed() ? kSuccess : kFailure;
}

int check_request(const PolicyFlags& flags) {
  std::optional<Policy> identity;
  std::optional<Policy> of_resource;
  for (auto& [file, kind, policy] :
       {std::tuple{&flags.identity, PolicyKind::kIdentity, &identity},
        std::tuple{&flags.resource_policy, PolicyKind::kResource, &of_resource}}) {
    if (file->empty()) continue;
    auto parsed = read_policy(*file, kind);
    if (!parsed) return refuse(parsed.error());
    *policy = std::move(*parsed);
  }
  const std::string resource = full_arn(flags.resource);
  policy::Caller caller{.account = arn_part(resource, 4), .username = flags.user};
  caller.region = arn_part(resource, 3);
  caller.now_ms = system_clock().unix_ms();
  const bool has_service = flags.action.find(':') != flags.action.npos;
  policy::Context context{.caller = caller,
                          .action = (has_service ? "" : "dynamodb:") + flags.action,
                          .resource = resource,
                          .attributes = flags.attributes,
                          .leading_keys = flags.leading_keys};
  if (const auto set = set_context(caller, context, flags.context); !set)
    return report(set.error());
  if (caller.arn.empty()) {
    caller.arn = fmt::format("arn:aws:iam::{}:user/{}", caller.account, caller.username);
  }
  const std::array<const Policy*, 2> policies = {identity ? &*identity : nullptr,
                                                 of_resource ? &*of_resource : nullptr};
  return print_verdict(flags, policy::evaluate(policies, context), context);
}

int run_policy_check(const PolicyFlags& flags) {
  const bool decides = !flags.action.empty();
  const bool has_policy = !flags.identity.empty() || !flags.resource_policy.empty();
  if (!decides && (has_policy || !flags.resource.empty())) {
    return report_usage("--action is missing; to check a document alone, give it as FILE");
  }
  if (!decides && flags.file.empty())
    return report_usage("a FILE, or --policy with --action, is needed");
  if (!decides) return check_document(flags);
  if (!flags.file.empty()) return report_usage("with --action, give the document as --policy FILE");
  if (!has_policy) return report_usage("--policy or --resource-policy is missing");
  if (flags.resource.empty()) return report_usage("--resource is missing");
  return check_request(flags);
}

}  // namespace

void add_policy(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<PolicyFlags>();
  CLI::App* policy = app.add_subcommand("policy", "Check access policies");
  policy->require_subcommand(1);
  CLI::App* check = policy->add_subcommand(
      "check", "Say whether a policy is accepted, or what it decides on an action");
  check->add_option("file", flags->file, "Only read this document, and say whether it is accepted")
      ->type_name("FILE");
  check->add_option("--policy", flags->identity, "The identity policy of the user")
      ->type_name("FILE");
  check->add_option("--resource-policy", flags->resource_policy, "The policy of the resource")
      ->type_name("FILE");
  check->add_option("--action", flags->action, "The action, such as dynamodb:GetItem")
      ->type_name("ACTION");
  check
      ->add_option("--resource", flags->resource,
                   "The resource: an ARN, or a table's name for the ARN that stator serve gives it")
      ->type_name("ARN");
  check->add_option("--user", flags->user, "The user's name, of which their ARN is made")
      ->type_name("NAME")
      ->capture_default_str();
  check
      ->add_option("--leading-key", flags->leading_keys,
                   "A partition key of the request; can be repeated")
      ->type_name("VALUE");
  check
      ->add_option("--attributes", flags->attributes,
                   "Names of attributes in the request, with commas between them")
      ->type_name("NAMES")
      ->delimiter(',');
  check
      ->add_option("--context", flags->context,
                   "The value of a condition key, such as aws:SourceIp=192.0.2.1; can be repeated")
      ->type_name("KEY=VALUE");
  add_json_flag(*check, flags->json);
  check->footer("The exit status is 0 for what is accepted or allowed, and 1 for what is not.");
  check->callback(
      [&invocation, flags] { invocation.run = [flags] { return run_policy_check(*flags); }; });
}

}  // namespace stator::cli
