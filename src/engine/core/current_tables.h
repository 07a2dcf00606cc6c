// SPDX-License-Identifier: Apache-2.0
// Requests by the newest definitions of tables, which other processes can change.
//
// The catalog in memory can be behind another process. A write learns of that when it commits
// (kSchemaChanged). A read learns of it because it reads the versions of its tables together with
// its rows: this needs no further round trip. A failure can have been decided by an old definition,
// so it is returned only if the catalog is still the stored one.
// On a store of one process, nothing of this is done.
//
// Blocking: only snapshot_after_failure() blocks; it is for EngineCore::blocking.
// Errors: those of the store, and kBehind. snapshot_after_failure() returns them as the service has
// them.
#pragma once

#include <algorithm>
#include <ranges>
#include <utility>
#include <vector>

#include "engine/catalog/catalog_change.h"
#include "engine/core/engine_core.h"

namespace stator {

// Visits what `request` names, as TransactStore::read(), if the definitions of `tables` are the
// newest ones. Otherwise nothing is visited, and `done` gets kBehind. Of a shared store.
void read_with_versions(TransactStore& store, std::vector<const Table*> tables,
                        const ReadRequest& request, ReadVisitor visit, ReadDone done);
// The same, or TransactStore::read() on a store of one process. `tables`: a range of const Table*.
template <class Tables>
void read_tables(EngineCore& engine, const Tables& tables, const ReadRequest& request,
                 ReadVisitor visit, ReadDone done) {
  if (!engine.is_shared) return engine.store->read(request, visit, std::move(done));
  read_with_versions(*engine.store, {std::ranges::begin(tables), std::ranges::end(tables)}, request,
                     visit, std::move(done));
}
// The same for TransactStore::with_view().
void view_table(EngineCore& engine, const Table& table, ViewBody body, ReadDone done);

// For the next attempt of a request that failed on the snapshot of `version`: the newest snapshot,
// or null if that is the same one and the request was not `behind`. Then the failure is valid.
// kThrottling after too many attempts: other processes keep changing the catalog.
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

// Calls `next` with what `attempt(snapshot)` returns, a Result. On a shared store, an attempt that
// fails is repeated on the newest snapshot; then `next` runs on EngineCore::blocking. Neither may
// block.
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

// What an attempt needs of `value`: moved, or copied if another attempt can follow.
template <class T>
T for_one_attempt(const EngineCore& engine, T& value) {
  return engine.is_shared ? value : std::move(value);
}

}  // namespace stator
