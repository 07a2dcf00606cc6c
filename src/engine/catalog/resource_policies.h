// SPDX-License-Identifier: Apache-2.0
// ResourcePolicies: the resource policies of tables and streams, parsed.
//
// Thread safety: any thread; readers do not wait for changes.
// Visibility: after refresh() returns, find() sees what the settings contained when it was called,
// or later. Another process learns of a changed policy with its next maintenance (by default within
// a minute; DynamoDB's are eventually consistent too), of a new table's policy before its first
// use.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/atomic_snapshot.h"
#include "engine/catalog/catalog.h"
#include "policy/policy.h"
#include "storage/transact_store.h"

namespace stator {

using PolicyPtr = std::shared_ptr<const policy::Policy>;

// Checks the text of a resource policy, without its table. Errors: kValidation.
Result<void> check_policy(const std::string& text);

class ResourcePolicies {
 public:
  explicit ResourcePolicies(TransactStore& store)
      : store_(store), is_shared_(store.capabilities().several_processes), any_(is_shared_) {
    policies_.set(std::make_shared<const Policies>());
  }

  // Call it before the first table with a policy becomes visible.
  void expect_policies() { any_ = true; }
  // Whether policies can exist: always true if other processes can create some.
  bool any() const { return any_.load(std::memory_order_relaxed); }

  // Reads the policies of a table again. Errors: those of the store.
  Result<void> refresh(const Table& table);
  // Reads the policies of all tables again. Errors: those of the store.
  Result<void> refresh(const CatalogSnapshot& snapshot);
  // False for a table of a shared store whose policies this process has not read yet.
  bool knows(const Table& table) const;
  // Removes the policies of a dropped table.
  void forget(const Table& table);

  // Returns the policy of the table, or of a stream if `rest` is "/stream/…". Null if it has none;
  // unreadable() if the stored document cannot be parsed.
  PolicyPtr find(const Table& table, std::string_view rest) const;
  // A policy that denies everything except operations on policies.
  static PolicyPtr unreadable();
  // The condition keys that the policies use.
  policy::KeySet keys() const;

 private:
  using Name = std::pair<SpaceId, std::string>;  // of the table's rows; `rest`
  struct Policies {
    std::map<Name, PolicyPtr, std::less<>> by_name;  // null: it was deleted
    std::set<SpaceId> read;  // tables of a shared store whose policies these are
    policy::KeySet keys;
  };

  static void add(const Table& table, const Item& settings, Policies& to);
  void publish(Policies next);

  TransactStore& store_;
  const bool is_shared_;
  std::atomic<bool> any_;
  std::mutex changes_;
  AtomicSnapshot<Policies> policies_;
};

}  // namespace stator
