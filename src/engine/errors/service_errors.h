// SPDX-License-Identifier: Apache-2.0
// Translates errors of the store and of transactions into DynamoDB's errors.
#pragma once

#include <vector>

#include "stator/client.h"
#include "storage/transact_store.h"

namespace stator {

// Translates an error of the store.
Error service_error(Error error);
// Translates the result of a commit that was not applied. Returns kThrottling if schemas kept
// changing.
Error service_error(CommitResult result);

// Returns TransactionCanceledException, with one reason per action in the order of the actions.
Failure transaction_cancelled(std::vector<CancellationReason> reasons);

}  // namespace stator
