// SPDX-License-Identifier: Apache-2.0
// The token sweep: a job that erases expired idempotency tokens.
//
// A sweep begins at the time at which the previous one ended, so that it does not read over erased
// rows. On a shared store it begins at the first token, because every process sweeps and a stopped
// process can leave tokens behind.
// Thread safety: any thread can start a sweep; it runs on the threads of the JobRunner.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"
#include "engine/background/job_runner.h"
#include "storage/transact_store.h"

namespace stator {

struct TokenSweepState {
  std::atomic<bool> is_running{false};
  // Used only by the running sweep. Tokens that expire before this time have been erased.
  int64_t from_ms = 0;
};

// Starts a sweep, unless one is in progress.
void start_token_sweep(JobRunner& jobs, TransactStore& store, const Clock& clock,
                       TokenSweepState& state);

}  // namespace stator
