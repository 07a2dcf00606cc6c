// SPDX-License-Identifier: Apache-2.0
// Backfill: writes the rows of existing items in a new index, or in the queue of a table with TTL.
//
// It begins when every write that can still commit maintains the new space. Each transaction reads
// a few items and writes the rows that follow from their current images, so the result is correct
// with any concurrent writes. The catalog stores the position with each batch, at which the
// backfill resumes after a crash.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.OnlineOps.html
#pragma once

#include <string>

#include "engine/items/item_engine.h"

namespace stator {

// Starts to fill `space` of a table. Ends early if the table or the space is dropped.
void start_backfill(ItemEngine& engine, const std::string& table, SpaceId space);
// Starts the backfills that no engine is working on.
void resume_backfills(ItemEngine& engine);

}  // namespace stator
