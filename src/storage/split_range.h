// SPDX-License-Identifier: Apache-2.0
// Divides a range by the hash in its keys, which distributes rows evenly.
#pragma once

#include <vector>

#include "storage/transact_store.h"

namespace stator {

// Returns at most `parts` adjacent ranges that cover `range` exactly. They depend only on the
// bounds, so they are the same each time.
std::vector<KeyRange> split_by_hash(const KeyRange& range, std::size_t parts);

}  // namespace stator
