// SPDX-License-Identifier: Apache-2.0
// The key of a stored item, as a request would name it.
#pragma once

#include "engine/rows/row_layout.h"

namespace stator {

// Adds the attributes of a stored item that belong to a key.
void add_key(const KeyShape& shape, ItemView item, Item& key);

}  // namespace stator
