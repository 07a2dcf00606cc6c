// SPDX-License-Identifier: Apache-2.0
// stator toggle consume: saves published switches as they come, each at least once, which has the
// effect of once.
#pragma once

#include <string>
#include <string_view>

#include "cli/event_source.h"
#include "stator/recipes/toggle.h"

namespace stator::cli {

// {"id": "123", "state": true, "at": "2024-05-01T12:00:00Z", "event": "e-1"}: the state is any JSON
// value, the event's id may be left out, other members are ignored. kInvalidArgument otherwise.
Result<ToggleEvent> parse_toggle_event(std::string_view json);

struct ConsumeOptions {
  // Gets a line {"reason": …, "text": …} for each text that cannot be saved, synced before the text
  // is settled; empty: they go to standard error.
  std::string rejects_file = {};
  int parallel = 16;
  TimeSource* time = nullptr;  // of the pauses before repetitions; null: system_time()
};

struct Consumed {
  int64_t newest = 0;
  int64_t late = 0;
  int64_t stored = 0;
  int64_t duplicates = 0;
  int64_t rejected = 0;
  int64_t left = 0;  // deliveries of events that were in the future by the toggle's clock
};

// Until the source ends or `stop`. A retryable() error is repeated until it passes. A text that
// nobody could ever save is rejected. An event that is kInFuture by this clock is left, since the
// clock may be wrong. Any other error ends the call, and the source delivers again what is not
// settled.
Result<Consumed> consume(EventSource& source, const AnyToggle& toggle,
                         const ConsumeOptions& options, const std::stop_token& stop);

}  // namespace stator::cli
