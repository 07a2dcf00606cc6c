// SPDX-License-Identifier: Apache-2.0
// AccessView: the data about the resources of one request that access control needs. It reads one
// snapshot of the catalog. If the snapshot lacks a table or its policies, because another process
// created them, a view that may wait reads them from the store.
//
// Thread safety: one thread at a time.
// Lifetime: the engine must outlive it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/catalog/resource_policies.h"

namespace stator {

class Engine;
struct CatalogSnapshot;

class AccessView {
 public:
  AccessView(Engine& engine, bool may_wait);

  // Whether a result was incomplete because this view may not wait for the store.
  bool lacks_something() const { return lacks_something_; }

  const std::string& account() const;
  const std::string& region() const;

  // The name of the first attribute of a partition key; absent if there is no such table or index.
  std::optional<std::string> partition_key(std::string_view table,
                                           const std::optional<std::string>& index) const;
  // See ResourcePolicies::find(). Returns ResourcePolicies::unreadable() if the store cannot be
  // read.
  PolicyPtr resource_policy(std::string_view table, std::string_view rest) const;
  policy::KeySet resource_policy_keys() const;

 private:
  const TablePtr* find(std::string_view table) const;

  Engine& engine_;
  const bool may_wait_;
  mutable bool lacks_something_ = false;
  mutable std::shared_ptr<const CatalogSnapshot> snapshot_;
};

}  // namespace stator
