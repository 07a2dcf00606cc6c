// SPDX-License-Identifier: Apache-2.0
// Keys of formats 1 and 2, which later formats replaced by those of row_layout.h and time_queue.h.
// For the migration and verify(). docs/formats/catalog.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/rows/time_queue.h"

namespace stator {

// Ends with the components of the table's key, not with their hash. Absent if index_row_key() is.
std::optional<std::string> older_index_row_key(const Hash128& secret, const KeyShape& table,
                                               const KeyShape& index, ItemView item);

// A queue has one prefix, of zeros.
std::string older_queue_row_key(SpaceId space, uint64_t time, std::string_view row_key);
// Returns nothing for keys that older_queue_row_key() does not return.
std::optional<QueueRow> read_older_queue_row(std::string_view key);

}  // namespace stator
