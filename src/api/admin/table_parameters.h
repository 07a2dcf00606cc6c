// SPDX-License-Identifier: Apache-2.0
// The parameters of a new table in an administrative request.
#pragma once

#include "stator/requests.h"

namespace stator {

// Returns members of CreateTable's request as a typed request. They have their shapes in
// admin_shapes.h; absent members, even required ones, have their default values.
CreateTableRequest table_parameters(const Item& members);

}  // namespace stator
