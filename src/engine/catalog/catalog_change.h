// SPDX-License-Identifier: Apache-2.0
// Changes of the catalog that keep its version: each is decided on the catalog that memory holds,
// and commits only if that is still the stored one.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/catalog/catalog_commit.h"
#include "engine/catalog/catalog_rows.h"
#include "engine/catalog/job_lease.h"
#include "engine/catalog/stored_catalog.h"

namespace stator {

// What a change fails with if another process changed the catalog after it was read.
inline constexpr Code kBehind = Code::kConflict;

inline std::string version_key(SpaceId table) {
  return catalog_row_key(CatalogRow::kVersion, table);
}

// Reads `keys`, lets `plan(rows, batch)` put its writes into the batch, and commits them. kBehind
// if the catalog does not have `version` any more; otherwise see commit_change(), and
// JobLease::commit() if a job makes the change.
template <class Plan>
auto commit_at(TransactStore& store, uint64_t version, std::vector<std::string> keys, Plan plan,
               JobLease* lease = nullptr) {
  using Planned = std::invoke_result_t<Plan&, GuardedRows, Batch&>;
  keys.push_back(catalog_row_key(CatalogRow::kVersion));
  const auto change = [&](GuardedRows rows, Batch& batch) -> Planned {
    STATOR_ASSIGN_OR_RETURN(const uint64_t stored, read_version(rows.back()));
    if (stored != version) return fail(kBehind, "the catalog has changed");
    return plan(rows.first(rows.size() - 1), batch);
  };
  return lease != nullptr ? lease->commit(keys, change) : commit_change(store, keys, change);
}

// The same, with `version` + 1 as the catalog's version afterwards.
template <class Plan>
auto commit_catalog(TransactStore& store, uint64_t version, std::vector<std::string> keys,
                    Plan plan, JobLease* lease = nullptr) {
  const auto change = [&](GuardedRows rows, Batch& batch) {
    auto planned = plan(rows, batch);
    if (planned) batch.put_schema_version(catalog_row_key(CatalogRow::kVersion), version + 1);
    return planned;
  };
  return commit_at(store, version, std::move(keys), change, lease);
}

}  // namespace stator
