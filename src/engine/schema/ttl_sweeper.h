// SPDX-License-Identifier: Apache-2.0
// The sweep: deletes the items that have expired, each in a transaction that sees it once more.
#pragma once

#include "engine/schema/schema_engine.h"

namespace stator {

// Returns how many it deleted. What fails is left to the next sweep.
std::size_t sweep_expired(SchemaEngine& engine);
// Has the engine's sweeper do it from now on.
void start_sweeping(SchemaEngine& engine);

}  // namespace stator
