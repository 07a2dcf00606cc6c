// SPDX-License-Identifier: Apache-2.0
// Errors of the store and of transactions, as the service would answer them.
#pragma once

#include <vector>

#include "stator/client.h"
#include "storage/transact_store.h"

namespace stator {

// An error of the store as the service would answer it.
Error service_error(Error error);
// What a commit that did not apply is answered with. kThrottling if schemas kept changing.
Error service_error(CommitResult result);

// TransactionCanceledException; one reason an action, in their order.
Failure transaction_cancelled(std::vector<CancellationReason> reasons);

}  // namespace stator
