// SPDX-License-Identifier: Apache-2.0
// Time queues: rows ordered by time, each of which names another row. docs/formats/keys.md.
//
// A queue is a space with 16 prefixes. The hash in the row key that a row names selects its prefix,
// so that no single partition of the store receives every write. Within a prefix, the times ascend.
// A sweep reads all prefixes in steps of bounded size.
// Blocking: only read_queue() waits for the store.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/rows/row_layout.h"

namespace stator {

inline constexpr std::size_t kQueuePrefixes = 16;
inline constexpr std::size_t kQueueTimeBytes = 8;

struct QueueRow {
  uint64_t time = 0;
  std::string_view row_key;  // of the row that it names; borrows from the queue's key
};

// `row_key` has at least kPartitionBytes.
std::string queue_row_key(SpaceId space, uint64_t time, std::string_view row_key);
// Returns nothing for keys that queue_row_key() does not return.
std::optional<QueueRow> read_queue_row(std::string_view key);
// The time of a queue's row, or of a bound of one of its ranges.
uint64_t queue_time(std::string_view key);

// The rows of each prefix with times in [from, until). Empty if there are no such times.
std::vector<RangeRead> queue_ranges(SpaceId space, uint64_t from, uint64_t until);

struct QueueRead {
  std::vector<std::string> keys;  // of rows
  std::vector<RangeRead> rest;    // the ranges that are left, beginning with the next prefix
};
// Reads up to `rows_max` rows of the ranges. Errors: the store's.
Result<QueueRead> read_queue(TransactStore& store, std::span<const RangeRead> ranges,
                             std::size_t rows_max);

}  // namespace stator
