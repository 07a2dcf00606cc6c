// SPDX-License-Identifier: Apache-2.0
// Requests by the newest definitions of tables, which other processes can change.
//
// The catalog in memory can be behind another process. A write learns of that when it commits
// (kSchemaChanged). A read learns of it because it reads the versions of its tables together with
// its rows: this needs no further round trip. A failure can have been decided by an old definition,
// so it is returned only if the catalog is still the stored one.
// On a store of one process, nothing of this is done.
#pragma once

#include <span>
#include <type_traits>
#include <utility>

#include "engine/catalog/catalog_change.h"
#include "engine/core/engine_core.h"
#include "engine/errors/service_errors.h"

namespace stator {

// Returns what `attempt(snapshot)` returns. If it fails and another process has changed the
// catalog, it runs again on a newer snapshot. Errors: those of the attempt and of the store, as the
// service has them; kThrottling if other processes keep changing the catalog.
template <class Attempt>
auto on_newest_tables(const EngineCore& engine, Attempt attempt)
    -> std::invoke_result_t<Attempt&, const CatalogSnapshot&> {
  constexpr int kAttemptsMax = 20;
  for (int i = 1;; ++i) {
    const auto snapshot = engine.catalog->snapshot();
    auto result = attempt(*snapshot);
    if (result) return result;
    if (!engine.catalog->is_shared()) return Failure(service_error(std::move(result).error()));
    STATOR_ASSIGN_OR_RETURN(const auto newest, engine.catalog->newest_snapshot());
    const bool is_behind = result.error().code == kBehind;
    if (newest->version == snapshot->version && !is_behind) {
      return Failure(service_error(std::move(result).error()));
    }
    if (i == kAttemptsMax) return fail(Code::kThrottling, messages::kTooBusy);
  }
}

using TablesRead = std::span<const Table* const>;

// The same as read_and_wait(), with the rows of `tables`. Fails with kBehind, for
// on_newest_tables(), unless the definitions are the newest ones; nothing has been visited then.
Result<void> read_tables(const EngineCore& engine, TablesRead tables, const ReadRequest& request,
                         ReadVisitor visit);
// The same as view_and_wait().
Result<void> view_table(const EngineCore& engine, const Table& table, ViewBody body);

}  // namespace stator
