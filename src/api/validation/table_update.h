// SPDX-License-Identifier: Apache-2.0
// The effect of UpdateTable on a table's settings.
#pragma once

#include "stator/requests.h"

namespace stator {

// The table's settings after the request, which must have passed validate().
// Errors: kValidation, kResourceNotFound and kLimitExceeded with DynamoDB's messages.
Result<CreateTableRequest> updated_settings(const CreateTableRequest& current,
                                            const UpdateTableRequest& request);

// The warm throughput of a table without an explicit one.
Throughput default_warm_throughput(const CreateTableRequest& settings,
                                   const std::optional<Throughput>& provisioned);

}  // namespace stator
