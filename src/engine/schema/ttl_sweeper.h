// SPDX-License-Identifier: Apache-2.0
// The TTL sweep: deletes expired items, each in a transaction that checks its expiry time again.
#pragma once

#include "engine/schema/schema_engine.h"

namespace stator {

// Runs one sweep and returns the number of deleted items. Failed deletions are retried by the next
// sweep. Waits for the disk; not for callbacks.
std::size_t sweep_expired(SchemaEngine& engine);
// Starts periodic sweeps, at EngineOptions::sweep_interval. Does nothing if they are started.
void start_sweeping(SchemaEngine& engine);

}  // namespace stator
