// SPDX-License-Identifier: Apache-2.0
// Commits changes of the catalog. Each computes its rows from those that its transaction reads, and
// commits only if the stored catalog has the version of the one in memory.
// Blocking: commit_catalog() waits for the store.
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

// The error of a change if another process changed the catalog after it was read.
inline constexpr Code kBehind = Code::kConflict;

inline std::string version_key(SpaceId table) {
  return catalog_row_key(CatalogRow::kVersion, table);
}

// Reads `keys`, calls `plan(rows, batch)`, which adds writes to the batch, and commits the batch
// with `version` + 1 as the catalog's version. Errors: kBehind if the catalog's version is not
// `version`; those of commit_change_by().
template <class Plan>
auto commit_catalog(TransactStore& store, uint64_t version, std::vector<std::string> keys,
                    Plan plan, JobLease* lease = nullptr) {
  using Planned = std::invoke_result_t<Plan&, GuardedRows, Batch&>;
  const std::string version_row = catalog_row_key(CatalogRow::kVersion);
  keys.push_back(version_row);
  const auto change = [&](GuardedRows rows, Batch& batch) -> Planned {
    STATOR_ASSIGN_OR_RETURN(const uint64_t stored, read_version(rows.back()));
    if (stored != version) return fail(kBehind, "the catalog has changed");
    Planned planned = plan(rows.first(rows.size() - 1), batch);
    if (planned) batch.put_schema_version(version_row, version + 1);
    return planned;
  };
  return commit_change_by(lease, store, keys, change);
}

}  // namespace stator
