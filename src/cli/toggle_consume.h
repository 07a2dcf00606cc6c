// SPDX-License-Identifier: Apache-2.0
// stator toggle consume: saves events as they arrive, each at least once; saving is idempotent.
#pragma once

#include <string>
#include <string_view>

#include "cli/event_source.h"
#include "stator/recipes/toggle.h"

namespace stator::cli {

// Parses {"id": "123", "state": true, "at": "2024-05-01T12:00:00Z", "event": "e-1"}. The state is
// any JSON value, `event` is optional, other members are ignored. Errors: kInvalidArgument.
Result<ToggleEvent> parse_toggle_event(std::string_view json);

struct ConsumeOptions {
  // A file that gets a line {"reason": …, "text": …} for each message that cannot be saved, synced
  // before the message is settled. Empty: standard error.
  std::string rejects_file = {};
  int parallel = 16;
  TimeSource* time = nullptr;  // for the pauses before retries; null: system_time()
};

struct Consumed {
  int64_t newest = 0;
  int64_t late = 0;
  int64_t stored = 0;
  int64_t duplicates = 0;
  int64_t rejected = 0;
  int64_t left = 0;  // deliveries of events that were in the future by the toggle's clock
};

// Consumes until the source ends or `stop`. Retries after retryable() errors until they pass.
// Rejects messages that can never be saved. Leaves events that are kInFuture, because this clock
// might be wrong. Any other error ends the call; the source then delivers unsettled messages again.
Result<Consumed> consume(EventSource& source, const AnyToggle& toggle,
                         const ConsumeOptions& options, const std::stop_token& stop);

}  // namespace stator::cli
