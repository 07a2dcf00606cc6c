// SPDX-License-Identifier: Apache-2.0
// Atomic writes, for TransactWriteItems and ExecuteTransaction.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/items/write_action.h"

namespace stator {

inline constexpr std::size_t kTransactionBytesMax = 4UL << 20;

struct TransactWriteOptions {
  std::optional<std::string> token = {};
  Hash128 fingerprint = {};  // of the request, if it has a token
  ReturnConsumedCapacity return_capacity = ReturnConsumedCapacity::kNone;
  ReturnItemCollectionMetrics return_metrics = ReturnItemCollectionMetrics::kNone;
};

// Whether an action's error cancels the transaction with a reason. The second returns the reason.
bool is_reason(const Error& error);
CancellationReason reason_of(Error error);

// Runs the actions in one transaction. They must have been checked, and must be of different items.
void transact_write(ItemEngine& engine, std::vector<WriteAction> actions,
                    const TransactWriteOptions& options, Done<TransactWriteItemsResult> done);

}  // namespace stator
