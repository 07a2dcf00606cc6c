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
};

struct Consumed {
  int64_t newest = 0;
  int64_t late = 0;
  int64_t stored = 0;
  int64_t duplicates = 0;
  int64_t rejected = 0;
};

// Until the source ends or `stop`. Throttling and services that cannot be reached are waited out;
// a text that no repetition could save is rejected; any other error ends it, and what was not
// settled comes again.
Result<Consumed> consume(EventSource& source, const AnyToggle& toggle,
                         const ConsumeOptions& options, const std::stop_token& stop);

}  // namespace stator::cli
