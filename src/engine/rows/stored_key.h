// SPDX-License-Identifier: Apache-2.0
// Extracts the key of a stored item.
#pragma once

#include "engine/rows/row_layout.h"

namespace stator {

// Adds the key attributes of a stored item to `key`.
void add_key(const KeyShape& shape, ItemView item, Item& key);

}  // namespace stator
