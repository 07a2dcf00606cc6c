// SPDX-License-Identifier: Apache-2.0
// Backfill: adds the items that a table already has to a new index, or to the TTL queue of a table
// whose time to live was just enabled.
//
// It begins once every write of the table also writes to the new index or queue. Each transaction
// reads a few items and writes an entry for each, derived from the item as the transaction reads
// it. So concurrent writes cannot make an entry wrong. The catalog stores the position of the
// backfill with each transaction, and a backfill resumes there after a crash.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.OnlineOps.html
#pragma once

#include <string>

#include "engine/items/item_engine.h"

namespace stator {

// Starts the backfill of the index or queue with the keyspace `space`. It ends early if the table
// or that keyspace is dropped.
void start_backfill(ItemEngine& engine, const std::string& table, SpaceId space);
// Starts the backfills that no engine is working on.
void resume_backfills(ItemEngine& engine);

}  // namespace stator
