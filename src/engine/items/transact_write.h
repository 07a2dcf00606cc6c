// SPDX-License-Identifier: Apache-2.0
// Writes that happen together or not at all: what TransactWriteItems and ExecuteTransaction share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/items/write_action.h"

namespace stator {

inline constexpr std::size_t kTransactionBytesMax = 4UL << 20;

struct TransactWriteOptions {
  std::optional<std::string> token = {};
  Hash128 fingerprint = {};  // of the request, where it has a token
  ReturnConsumedCapacity return_capacity = ReturnConsumedCapacity::kNone;
  ReturnItemCollectionMetrics return_metrics = ReturnItemCollectionMetrics::kNone;
};

// Whether an error cancels the transaction as the reason of its action, and that reason.
bool is_reason(const Error& error);
CancellationReason reason_of(Error error);

// The actions have been checked, and no two are of one item.
void transact_write(ItemEngine& engine, std::vector<WriteAction> actions,
                    const TransactWriteOptions& options, Done<TransactWriteItemsResult> done);

}  // namespace stator
