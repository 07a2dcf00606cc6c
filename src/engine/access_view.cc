// SPDX-License-Identifier: Apache-2.0
#include "engine/access_view.h"

#include "engine/engine.h"
#include "engine/jobs/job_engine.h"

namespace stator {

AccessView::AccessView(Engine& engine, bool may_wait)
    : engine_(engine), may_wait_(may_wait), snapshot_(engine.parts().catalog->snapshot()) {}

const std::string& AccessView::account() const {
  return engine_.parts().options.account;
}

const std::string& AccessView::region() const {
  return engine_.parts().options.region;
}

const TablePtr* AccessView::find(std::string_view table) const {
  const TablePtr* found = snapshot_->find(table);
  if (found != nullptr || !engine_.is_shared()) return found;
  if (!may_wait_) {
    lacks_something_ = true;
    return nullptr;
  }
  auto newest = engine_.parts().catalog->newest_snapshot();
  if (newest) snapshot_ = std::move(*newest);
  return snapshot_->find(table);
}

std::optional<std::string> AccessView::partition_key(
    std::string_view name, const std::optional<std::string>& index) const {
  const TablePtr* table = find(name);
  if (table == nullptr) return std::nullopt;
  if (!index) return (*table)->key().hash[0].name;
  const Index* found = (*table)->index(*index);
  if (found == nullptr) return std::nullopt;
  return found->key.hash[0].name;
}

PolicyPtr AccessView::resource_policy(std::string_view name, std::string_view rest) const {
  ResourcePolicies& policies = engine_.parts().resource_policies;
  if (!policies.any()) return nullptr;
  const TablePtr* table = find(name);
  if (table == nullptr) return nullptr;
  if (!policies.knows(**table)) {
    if (!may_wait_) {
      lacks_something_ = true;
      return nullptr;
    }
    if (!policies.refresh(**table)) return ResourcePolicies::unreadable();
  }
  return policies.find(**table, rest);
}

policy::KeySet AccessView::resource_policy_keys() const {
  return engine_.parts().resource_policies.keys();
}

}  // namespace stator
