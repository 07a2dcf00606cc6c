// SPDX-License-Identifier: Apache-2.0
// Executes requests with the newest table definitions, although other processes can change them.
//
// The catalog in memory can be behind another process. A write detects that when it commits
// (kSchemaChanged). A read detects it because it reads the versions of its tables together with its
// rows, without an additional round trip. An old definition can have caused any failure, so a
// failure is returned only if the catalog in memory is still the stored one.
// On a store of one process, these checks are skipped.
//
// Blocking: only snapshot_after_failure() blocks; call it on EngineCore::blocking.
// Lifetime: the tables, the ranges of a request and what its visitors use must exist until `done`
// is called. On a shared store, visitors and `done` can run on another thread.
// Errors: the store's, and kBehind. snapshot_after_failure() returns DynamoDB's errors.
#pragma once

#include <algorithm>
#include <ranges>
#include <utility>
#include <vector>

#include "engine/catalog/catalog_change.h"
#include "engine/core/engine_core.h"

namespace stator {

// Reads like TransactStore::read() on a shared store if the definitions of `tables` are the newest.
// Otherwise it visits nothing, and `done` receives kBehind.
void read_with_versions(TransactStore& store, std::vector<const Table*> tables,
                        const ReadRequest& request, ReadVisitor visit, ReadDone done);
// Calls read_with_versions() on a shared store, otherwise TransactStore::read(). `tables`: a range
// of const Table*.
template <class Tables>
void read_tables(EngineCore& engine, const Tables& tables, const ReadRequest& request,
                 ReadVisitor visit, ReadDone done) {
  if (!engine.is_shared) return engine.store->read(request, visit, std::move(done));
  read_with_versions(*engine.store, {std::ranges::begin(tables), std::ranges::end(tables)}, request,
                     visit, std::move(done));
}
// Calls TransactStore::with_view(). On a shared store, `body` runs only if the definition of
// `table` is the newest; otherwise `done` receives kBehind.
void view_table(EngineCore& engine, const Table& table, ViewBody body, ReadDone done);

// Returns the newest snapshot, for the next attempt of a request that failed with the snapshot of
// `version`. `behind`: the failure was kBehind. Null if that snapshot is the newest and `behind` is
// false: then the failure is valid. kThrottling after too many `attempts`, because other processes
// keep changing the catalog.
Result<Catalog::SnapshotPtr> snapshot_after_failure(const EngineCore& engine, uint64_t version,
                                                    bool behind, int attempts);

template <class T>
bool has_failed(const Result<T>& result) {
  return !result;
}
template <class T>
bool has_failed(const Result<std::vector<Result<T>>>& results) {
  return !results || std::ranges::any_of(*results, [](const auto& result) { return !result; });
}

// Calls `next` with the Result of `attempt(snapshot)`. On a shared store, a failed attempt is
// repeated with the newest snapshot, on EngineCore::blocking; then `next` runs there too. Neither
// may block.
template <class Attempt, class Next>
void on_newest_tables(EngineCore& engine, Attempt attempt, Next next) {
  const auto snapshot = engine.catalog->snapshot();
  auto result = attempt(*snapshot);
  if (!engine.is_shared || !has_failed(result)) return next(std::move(result));
  engine.blocking.post([&engine, pass = InFlightOperations::Pass(engine.in_flight),
                        attempt = std::move(attempt), next = std::move(next),
                        version = snapshot->version, result = std::move(result)]() mutable {
    for (int attempts = 1; has_failed(result); ++attempts) {
      auto newer = snapshot_after_failure(engine, version, /*behind=*/false, attempts);
      if (!newer) return next(failure_of(std::move(newer)));
      if (*newer == nullptr) break;
      version = (*newer)->version;
      result = attempt(**newer);
    }
    next(std::move(result));
  });
}

// Moves `value` into an attempt, or copies it if another attempt can follow.
template <class T>
T for_one_attempt(const EngineCore& engine, T& value) {
  return engine.is_shared ? value : std::move(value);
}

}  // namespace stator
