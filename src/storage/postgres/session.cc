// SPDX-License-Identifier: Apache-2.0
#include "storage/postgres/session.h"

#include <utility>

namespace stator::postgres {

Result<Connection*> Session::connected() {
  if (!responds_within({})) return fail(Code::kUnavailable, kUnconfirmed);
  const bool is_current = connection_ && doubts_ == server_.doubts();
  if (is_current && connection_->is_usable()) return connection_.get();
  if (is_current) server_.doubt();
  connection_.reset();
  const uint64_t doubts = server_.doubts();
  STATOR_ASSIGN_OR_RETURN(connection_, server_.connect(options_));
  doubts_ = doubts;
  return connection_.get();
}

bool Session::responds_within(std::chrono::milliseconds timeout) {
  if (!connection_ || !connection_->is_waiting()) return true;
  if (!connection_->responds_within(timeout)) return false;
  [[maybe_unused]] const auto late = connection_->results();
  return true;
}

}  // namespace stator::postgres
