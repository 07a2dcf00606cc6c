// SPDX-License-Identifier: Apache-2.0
// Item collections: what one partition key has in a table and its local indexes, and the service's
// limit on that.
//
// No collection exceeds the limit before the table as a whole does, so nothing is counted until
// then. From then on a job counts the collection of each write that adds bytes, once, and the
// writes that follow keep the count exact. Until it is done they are admitted, so a collection can
// exceed the limit by what is written meanwhile, and by what writes at the same moment add.
#pragma once

#include <optional>
#include <string>

#include "engine/catalog/collection_sizes.h"
#include "engine/items/write_action.h"

namespace stator {

// As evaluate_write(), and kItemCollectionSizeLimitExceeded for a write that makes its collection
// too large.
Result<WriteEffect> evaluate_within_limit(ItemEngine& engine, const WriteAction& action,
                                          std::optional<std::string> before);

// After the commit.
void count_collection(const WriteAction& action, const WriteEffect& effect, uint64_t sequence);

// The partition key alone and the size of its collection, estimated if it is not counted; absent
// for tables without local indexes.
std::optional<ItemCollectionMetrics> collection_metrics(const WriteAction& action);

}  // namespace stator
