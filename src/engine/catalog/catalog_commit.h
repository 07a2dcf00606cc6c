// SPDX-License-Identifier: Apache-2.0
// Commits changes of catalog rows on the calling thread, which waits for the store.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "engine/errors/messages.h"
#include "storage/transact_store.h"

namespace stator {

inline Result<void> committed(CommitResult result) {
  if (result.outcome == CommitOutcome::kCommitted) return {};
  if (result.outcome == CommitOutcome::kConflict ||
      result.outcome == CommitOutcome::kSchemaChanged) {
    return fail(Code::kThrottling, messages::kTooBusy);
  }
  return Failure(std::move(result.error));
}

// Commits rows that no concurrent transaction writes. Errors: also kThrottling if a schema has
// changed.
inline Result<void> write_or_fail(TransactStore& store, Batch batch, SchemaVersions expected = {}) {
  return committed(write_and_wait(store, std::move(batch), expected));
}

// Reads `keys`, calls `change(rows, batch)`, which adds writes to the batch, and commits the batch.
// `change` runs again after a conflict. If it fails, nothing is written and its error is returned.
template <class Change>
auto commit_change(TransactStore& store, std::span<const std::string> keys, Change change,
                   SchemaVersions expected = {}) {
  using Changed = std::invoke_result_t<Change&, GuardedRows, Batch&>;
  std::optional<Changed> changed;
  const auto decide = [&](GuardedRows rows) {
    Batch batch;
    changed.emplace(change(rows, batch));
    return *changed ? std::move(batch) : Batch();
  };
  auto result = committed(transact_and_wait(store, keys, decide, expected));
  return result ? std::move(*changed) : Changed(failure_of(std::move(result)));
}

}  // namespace stator
