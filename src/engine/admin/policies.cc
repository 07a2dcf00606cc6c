// SPDX-License-Identifier: Apache-2.0
// PutResourcePolicy, GetResourcePolicy, DeleteResourcePolicy. The layer `access` enforces the
// policies, for callers whose signatures are verified.
#include "engine/admin/support.h"
#include "engine/core/arns.h"
#include "engine/errors/admin_messages.h"
#include "engine/streams/stream_operations.h"
#include "policy/policy.h"

namespace stator::admin {
namespace {

constexpr std::string_view kNoPolicy = "NO_POLICY";

struct Resource {
  TablePtr table;
  std::string member;  // of the table's settings

  bool is_stream() const { return member != "Policy"; }
};

Result<Resource> resource_of(const JobEngine& engine, const std::string& arn) {
  auto parsed = parse_table_arn(engine, arn);
  if (!parsed) {
    // PutResourcePolicy has its own text for an ARN of another region.
    const bool elsewhere = parsed.error().message == messages::invalid_table_arn(arn);
    if (elsewhere) return fail(Code::kValidation, messages::invalid_policy_arn(arn));
    return failure_of(std::move(parsed));
  }
  const ArnParts& parts = *parsed;
  if (!parts.rest.empty() && !parts.rest.starts_with("/stream/")) {
    return fail(Code::kValidation, messages::index_arn(arn));
  }
  STATOR_ASSIGN_OR_RETURN(const auto snapshot, engine.catalog->newest_snapshot());
  const TablePtr* table = snapshot->find(parts.table);
  if (table == nullptr) return fail(Code::kResourceNotFound, messages::arn_not_found(arn));
  return Resource{.table = *table, .member = "Policy" + parts.rest};
}

// A policy from CreateTable is in the table's definition. The settings take precedence; an empty
// policy there means that the policy was deleted.
Item policy_of(const Resource& resource, const Item& settings) {
  if (settings.contains(resource.member)) return map_of(settings, resource.member);
  const TableDefinition& definition = resource.table->definition();
  if (resource.member != "Policy" || !definition.settings.resource_policy) return {};
  return {{"Document", *definition.settings.resource_policy},
          {"Revision", std::to_string(definition.created_ms)}};
}

Result<void> check_revision(const Item& request, const Item& policy, const std::string& arn) {
  if (!request.contains("ExpectedRevisionId")) return {};
  const std::string expected = text_of(request, "ExpectedRevisionId");
  if (policy.empty() ? expected == kNoPolicy : expected == text_of(policy, "Revision")) return {};
  return fail(Code::kPolicyNotFound, messages::policy_not_found(arn));
}

Result<Item> put_resource_policy(JobEngine& engine, const Item& request) {
  const std::string arn = text_of(request, "ResourceArn");
  const std::string policy = text_of(request, "Policy");
  STATOR_ASSIGN_OR_RETURN(const Resource resource, resource_of(engine, arn));
  if (resource.is_stream() && !is_readable_stream(engine, *engine.catalog->snapshot(), arn)) {
    return fail(Code::kResourceNotFound, messages::arn_not_found(arn));
  }
  STATOR_RETURN_IF_ERROR(check_policy(policy));
  std::string revision;
  const auto put = [&](Item& settings) -> Result<void> {
    const Item before = policy_of(resource, settings);
    STATOR_RETURN_IF_ERROR(check_revision(request, before, arn));
    revision = text_of(before, "Revision");
    if (!before.empty() && text_of(before, "Document") == policy) return {};
    const int64_t last =
        Number::parse(revision.empty() ? "0" : revision).value_or(Number()).to_int64().value_or(0);
    revision = std::to_string(std::max(engine.now_ms(), last + 1));
    settings[resource.member] = Item{{"Document", policy}, {"Revision", revision}};
    return {};
  };
  STATOR_RETURN_IF_ERROR(change_settings(engine, *resource.table, put));
  STATOR_RETURN_IF_ERROR(engine.resource_policies.refresh(*resource.table));
  return Item{{"RevisionId", revision}};
}

Result<Item> get_resource_policy(JobEngine& engine, const Item& request) {
  const std::string arn = text_of(request, "ResourceArn");
  STATOR_ASSIGN_OR_RETURN(const Resource resource, resource_of(engine, arn));
  STATOR_ASSIGN_OR_RETURN(const Item settings, settings_of(engine, *resource.table));
  const Item policy = policy_of(resource, settings);
  if (policy.empty()) return fail(Code::kPolicyNotFound, messages::policy_not_found(arn));
  return Item{{"Policy", text_of(policy, "Document")}, {"RevisionId", text_of(policy, "Revision")}};
}

Result<Item> delete_resource_policy(JobEngine& engine, const Item& request) {
  const std::string arn = text_of(request, "ResourceArn");
  STATOR_ASSIGN_OR_RETURN(const Resource resource, resource_of(engine, arn));
  Item response;
  const auto erase = [&](Item& settings) -> Result<void> {
    response.clear();
    const Item policy = policy_of(resource, settings);
    STATOR_RETURN_IF_ERROR(check_revision(request, policy, arn));
    if (!policy.empty()) response["RevisionId"] = text_of(policy, "Revision");
    settings[resource.member] = Item();
    return {};
  };
  STATOR_RETURN_IF_ERROR(change_settings(engine, *resource.table, erase));
  STATOR_RETURN_IF_ERROR(engine.resource_policies.refresh(*resource.table));
  return response;
}

}  // namespace

const Operation kPutResourcePolicy{shapes::kPutResourcePolicy, put_resource_policy};
const Operation kGetResourcePolicy{shapes::kGetResourcePolicy, get_resource_policy};
const Operation kDeleteResourcePolicy{shapes::kDeleteResourcePolicy, delete_resource_policy};

}  // namespace stator::admin
