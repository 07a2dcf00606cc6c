// SPDX-License-Identifier: Apache-2.0
// ResourcePolicies: the resource policies of tables and streams, parsed.
//
// Thread safety: any thread; readers do not wait for changes.
// Visibility: after refresh() returns, find() sees what the table's settings contained when it was
// called, or later.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "base/atomic_snapshot.h"
#include "engine/catalog/table.h"
#include "policy/policy.h"
#include "storage/transact_store.h"

namespace stator {

using PolicyPtr = std::shared_ptr<const policy::Policy>;

// A resource policy's text, of any table. kValidation.
Result<void> check_policy(const std::string& text);

class ResourcePolicies {
 public:
  explicit ResourcePolicies(TransactStore& store) : store_(store) {
    policies_.set(std::make_shared<const Policies>());
  }

  // Before the first table with a policy is visible.
  void expect_policies() { any_ = true; }
  bool any() const { return any_.load(std::memory_order_relaxed); }

  // Reads the policies of a table again. Errors: those of the store.
  Result<void> refresh(const Table& table);
  // For a table that was dropped.
  void forget(const Table& table);

  // `rest` is empty for the table, and "/stream/…" for a stream. Null: it has no policy. A document
  // that cannot be read any more denies all but the operations on policies.
  PolicyPtr find(const Table& table, std::string_view rest) const;
  // Of all policies.
  policy::KeySet keys() const;

 private:
  using Name = std::pair<SpaceId, std::string>;  // of the table's rows; `rest`
  struct Policies {
    std::map<Name, PolicyPtr, std::less<>> by_name;  // null: it was deleted
    policy::KeySet keys;
  };

  void publish(Policies next);

  TransactStore& store_;
  std::atomic<bool> any_ = false;
  std::mutex changes_;
  AtomicSnapshot<Policies> policies_;
};

}  // namespace stator
