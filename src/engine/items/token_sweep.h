// SPDX-License-Identifier: Apache-2.0
// The sweep of idempotency tokens: a job that erases those that have expired.
//
// The next sweep begins at the time at which the last one ended: erased rows are not read again
// before the next start. On a store that several processes share it begins at the first token: each
// process can sweep, and nothing is left behind by one that has ended.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"
#include "engine/background/job_runner.h"
#include "storage/transact_store.h"

namespace stator {

struct TokenSweepState {
  std::atomic<bool> is_running{false};
  // Of the sweep that runs.
  int64_t from_ms = 0;  // every token that expires earlier has been erased
};

// Starts to erase the expired tokens, unless that is under way.
void start_token_sweep(JobRunner& jobs, TransactStore& store, const Clock& clock,
                       TokenSweepState& state);

}  // namespace stator
