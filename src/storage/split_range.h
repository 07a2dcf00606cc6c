// SPDX-License-Identifier: Apache-2.0
// Cutting a range by the hash part of its keys, which spreads rows evenly.
#pragma once

#include <vector>

#include "storage/transact_store.h"

namespace stator {

// At most `parts` adjacent ranges that cover `range` exactly. Cuts are computed from the bounds
// alone, so they are the same each time.
std::vector<KeyRange> split_by_hash(const KeyRange& range, std::size_t parts);

}  // namespace stator
