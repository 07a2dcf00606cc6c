// SPDX-License-Identifier: Apache-2.0
// What UpdateTable makes of a table's settings.
#pragma once

#include "stator/requests.h"

namespace stator {

// The settings that the table has once the request is carried out; the request has passed
// validate(). kValidation, kResourceNotFound and kLimitExceeded with the service's texts.
Result<CreateTableRequest> updated_settings(const CreateTableRequest& current,
                                            const UpdateTableRequest& request);

// What a table without a warm throughput of its own has.
Throughput default_warm_throughput(const CreateTableRequest& settings,
                                   const std::optional<Throughput>& provisioned);

}  // namespace stator
