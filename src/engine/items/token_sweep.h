// SPDX-License-Identifier: Apache-2.0
// The sweep of idempotency tokens: a job that erases those that have expired.
//
// It remembers how far it came, and the next sweep begins there: what it erased is not read again
// before the next start.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/clock.h"
#include "engine/background/job_runner.h"
#include "storage/transact_store.h"

namespace stator {

struct TokenSweepState {
  std::atomic<bool> is_running{false};
  // Of the sweep that runs.
  std::string reached;  // the last expiry key that was erased; empty: none
  int64_t time_ms = 0;  // of its last step
};

// Starts to erase the expired tokens, unless that is under way.
void start_token_sweep(JobRunner& jobs, TransactStore& store, const Clock& clock,
                       TokenSweepState& state);

}  // namespace stator
