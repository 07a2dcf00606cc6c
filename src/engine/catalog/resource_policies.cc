// SPDX-License-Identifier: Apache-2.0
#include "engine/catalog/resource_policies.h"

#include <optional>

#include "api/admin/document.h"
#include "base/check.h"
#include "engine/catalog/records.h"
#include "engine/errors/admin_messages.h"

namespace stator {
namespace {

constexpr std::string_view kPolicyMember = "Policy";

PolicyPtr parse_stored(const std::string& document) {
  auto parsed = policy::Policy::parse(document, policy::PolicyKind::kResource);
  if (!parsed) return ResourcePolicies::unreadable();
  return std::make_shared<const policy::Policy>(std::move(*parsed));
}

}  // namespace

PolicyPtr ResourcePolicies::unreadable() {
  auto parsed = policy::Policy::parse(
      R"({"Statement": {"Sid": "UnreadablePolicy", "Effect": "Deny", "Principal": "*",
          "NotAction": ["dynamodb:GetResourcePolicy", "dynamodb:PutResourcePolicy",
                        "dynamodb:DeleteResourcePolicy"], "Resource": "*"}})",
      policy::PolicyKind::kResource);
  STATOR_CHECK(parsed.has_value());
  return std::make_shared<const policy::Policy>(std::move(*parsed));
}

void ResourcePolicies::publish(Policies next) {
  next.keys.reset();
  for (const auto& [name, policy] : next.by_name) {
    if (policy) next.keys |= policy->keys();
  }
  policies_.set(std::make_shared<const Policies>(std::move(next)));
}

Result<void> check_policy(const std::string& text) {
  if (text.size() > policy::kPolicyBytesMax) {
    return fail(Code::kValidation, messages::kPolicyTooLarge);
  }
  if (!wire::is_json(text)) return fail(Code::kValidation, messages::kPolicyMalformed);
  const auto parsed = policy::Policy::parse(text, policy::PolicyKind::kResource);
  if (parsed) return {};
  return fail(Code::kValidation, messages::invalid_policy(parsed.error().message));
}

void ResourcePolicies::add(const Table& table, const Item& settings, Policies& to) {
  const SpaceId space = table.definition().space;
  if (const auto& created = table.definition().settings.resource_policy) {
    to.by_name[{space, ""}] = parse_stored(*created);
  }
  for (const auto& [member, value] : settings) {
    if (!member.starts_with(kPolicyMember)) continue;
    const std::string document = text_of(as_map(value), "Document");
    to.by_name[{space, member.substr(kPolicyMember.size())}] =
        document.empty() ? nullptr : parse_stored(document);
  }
}

Result<void> ResourcePolicies::refresh(const Table& table) {
  const std::lock_guard lock(changes_);
  const SpaceId space = table.definition().space;
  STATOR_ASSIGN_OR_RETURN(const Item settings, Records(store_).get(settings_key(space)));
  Policies next = *policies_.get();
  const auto erased =
      std::erase_if(next.by_name, [&](const auto& entry) { return entry.first.first == space; });
  add(table, settings, next);
  if (is_shared_) next.read.insert(space);
  if (next.by_name.empty() && erased == 0 && !is_shared_) return {};
  any_ = true;
  publish(std::move(next));
  return {};
}

Result<void> ResourcePolicies::refresh(const CatalogSnapshot& snapshot) {
  const std::lock_guard lock(changes_);
  STATOR_ASSIGN_OR_RETURN(auto settings, Records(store_).list(RecordKind::kSettings));
  Policies next;
  for (const auto& [name, table] : snapshot.tables) {
    const SpaceId space = table->definition().space;
    std::string id;
    append_big_endian(id, space);
    add(*table, settings[id], next);
    if (is_shared_) next.read.insert(space);
  }
  if (!next.by_name.empty()) any_ = true;
  publish(std::move(next));
  return {};
}

bool ResourcePolicies::knows(const Table& table) const {
  return !is_shared_ || policies_.get()->read.contains(table.definition().space);
}

void ResourcePolicies::forget(const Table& table) {
  if (!any()) return;
  const std::lock_guard lock(changes_);
  Policies next = *policies_.get();
  const SpaceId space = table.definition().space;
  std::erase_if(next.by_name, [&](const auto& entry) { return entry.first.first == space; });
  publish(std::move(next));
}

PolicyPtr ResourcePolicies::find(const Table& table, std::string_view rest) const {
  const auto policies = policies_.get();
  const auto found = policies->by_name.find(Name(table.definition().space, rest));
  if (found != policies->by_name.end()) return found->second;
  // The policy of a table that is being created has not been read yet.
  const auto& created = table.definition().settings.resource_policy;
  return rest.empty() && created ? parse_stored(*created) : nullptr;
}

policy::KeySet ResourcePolicies::keys() const {
  return policies_.get()->keys;
}

}  // namespace stator
