// SPDX-License-Identifier: Apache-2.0
// How the catalog's changes are committed: on the calling thread, again while they conflict.
#pragma once

#include <utility>

#include "storage/store.h"

namespace stator {

// kConflict where another transaction came between.
inline Result<void> commit_or_fail(Transaction& transaction) {
  CommitResult result = commit_and_wait(transaction);
  if (result.outcome == CommitOutcome::kCommitted) return {};
  if (result.outcome == CommitOutcome::kConflict) return fail(Code::kConflict, "conflict");
  return Failure(std::move(result.error));
}

// Runs `change` until no other transaction comes between.
template <class Change>
auto retry_conflicts(Change change) {
  constexpr int kCommitAttempts = 100;
  auto result = change();
  for (int attempt = 1; attempt < kCommitAttempts; ++attempt) {
    if (result || result.error().code != Code::kConflict) break;
    result = change();
  }
  return result;
}

}  // namespace stator
