// SPDX-License-Identifier: Apache-2.0
#include "testmode/lagged_views.h"

#include <utility>

namespace stator::testmode {

Result<void> LaggedViews::keep_locked() {
  constexpr int64_t kParts = 8;
  const int64_t now_ms = clock_.unix_ms();
  const int64_t interval_ms = (lag_ms_ + kParts - 1) / kParts;
  if (!states_.empty() && now_ms < states_.back()->time_ms) states_.clear();
  while (!states_.empty() && states_.front()->time_ms + lag_ms_ < now_ms) states_.pop_front();
  if (!states_.empty() && states_.back()->time_ms + interval_ms > now_ms) return {};
  auto state = std::make_shared<State>();
  state->time_ms = now_ms;
  STATOR_ASSIGN_OR_RETURN(state->view, store_.view());
  states_.push_back(std::move(state));
  return {};
}

Result<void> LaggedViews::keep() {
  const std::lock_guard lock(mutex_);
  return keep_locked();
}

Result<void> LaggedViews::read(ViewBody body) {
  StatePtr oldest;
  {
    const std::lock_guard lock(mutex_);
    STATOR_RETURN_IF_ERROR(keep_locked());
    oldest = states_.front();
  }
  const std::lock_guard lock(oldest->mutex);
  return body(*oldest->view);
}

std::size_t LaggedViews::kept() const {
  const std::lock_guard lock(mutex_);
  return states_.size();
}

}  // namespace stator::testmode
