// SPDX-License-Identifier: Apache-2.0
// LaggedViews: a few open views of a store, for reads that lag.
//
// A view is opened when a request begins, if the newest one is at least an eighth of the lag old.
// So a read sees a state that is at most the lag old, and a write remains invisible for at least
// seven eighths of the lag. Later reads never see an earlier state. If the clock is set back, they
// see the newest one.
//
// Thread safety: any thread; reads of one view wait for each other.
// Lifetime: the store and the clock must outlive it.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "base/clock.h"
#include "storage/transact_store.h"

namespace stator::testmode {

class LaggedViews {
 public:
  LaggedViews(LocalViews& store, const Clock& clock, int64_t lag_ms)
      : store_(store), clock_(clock), lag_ms_(lag_ms) {}

  // Opens a view if necessary; call it when a request begins. Errors: those of LocalViews.
  Result<void> keep();
  // Runs `body` on the oldest view that is at most the lag old.
  Result<void> read(ViewBody body);

  std::size_t kept() const;  // at most kKeptMax

  static constexpr std::size_t kKeptMax = 9;

 private:
  struct State {
    int64_t time_ms = 0;
    std::mutex mutex = {};  // a view is for one thread at a time
    std::unique_ptr<ReadView> view = {};
  };
  using StatePtr = std::shared_ptr<State>;

  Result<void> keep_locked();

  LocalViews& store_;
  const Clock& clock_;
  const int64_t lag_ms_;
  mutable std::mutex mutex_;
  std::deque<StatePtr> states_;  // oldest first
};

}  // namespace stator::testmode
