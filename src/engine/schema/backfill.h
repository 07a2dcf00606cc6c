// SPDX-License-Identifier: Apache-2.0
// Backfill: gives the items that were there before an index, or before TTL, their rows in it.
//
// It begins when every write that can still commit maintains the new space. Each item is looked at
// under its row's guard, a few at a time, and what its image of that moment calls for is written;
// so the outcome is right whatever is written meanwhile. How far it came is kept in the catalog
// with each batch, so that it resumes after a crash.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ GSI.OnlineOps.html
#pragma once

#include <string>

#include "engine/items/item_engine.h"

namespace stator {

// Starts to fill `space` of a table. Ends early if the table or the space is dropped.
void start_backfill(ItemEngine& engine, const std::string& table, SpaceId space);
// Starts those that no engine works on.
void resume_backfills(ItemEngine& engine);

}  // namespace stator
