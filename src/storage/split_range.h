// SPDX-License-Identifier: Apache-2.0
// Divides a range by the hash in its keys, which distributes rows evenly.
#pragma once

#include <vector>

#include "storage/transact_store.h"

namespace stator {

// Returns at most `parts` adjacent ranges, in order, that cover `range` exactly. They depend only
// on the arguments. `parts` is at least 1, and the range does not end before it begins.
std::vector<KeyRange> split_by_hash(const KeyRange& range, std::size_t parts);

}  // namespace stator
