// SPDX-License-Identifier: Apache-2.0
// Item collections: the items with one partition key in a table and its local indexes, and
// DynamoDB's limit on their size.
//
// Nothing is counted until the table as a whole reaches the limit, because no collection can exceed
// it before. Then, for each write that adds bytes, a job counts the collection once, and later
// writes keep the count exact. Writes are accepted until the count is complete, so a collection can
// exceed the limit by the writes during the count, and by concurrent writes.
#pragma once

#include <optional>
#include <string>

#include "engine/catalog/collection_sizes.h"
#include "engine/items/write_action.h"

namespace stator {

// Like evaluate_write(). Errors: also kItemCollectionSizeLimitExceeded if the write makes its
// collection too large.
Result<WriteEffect> evaluate_within_limit(ItemEngine& engine, const WriteAction& action,
                                          std::optional<std::string> before);

// Adds a committed write to the count of its collection.
void count_collection(const WriteAction& action, const WriteEffect& effect, uint64_t sequence);

// Returns the partition key and the size of its collection, which is an estimate if it is not
// counted. Absent for tables without local indexes.
std::optional<ItemCollectionMetrics> collection_metrics(const WriteAction& action);

}  // namespace stator
