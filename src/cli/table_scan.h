// SPDX-License-Identifier: Apache-2.0
// Reads all items of a table, in segments that are read at the same time.
//
// Memory: one page, of up to 1 MB and one item, for each segment.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "cli/pace.h"
#include "stator/client.h"

namespace stator::cli {

inline constexpr int kSegmentsMax = 64;

// The position in a segment: exactly the items up to `after` were visited.
struct SegmentPosition {
  std::optional<Item> after = {};  // std::nullopt: at the start, or `ended`
  int64_t items = 0;
  bool ended = false;
  bool operator==(const SegmentPosition&) const = default;
};
using ScanPositions = std::vector<SegmentPosition>;

int64_t items_in(const ScanPositions& positions);

struct TableScan {
  Client& client;
  std::string table;
  Pace* pace = nullptr;
  std::stop_token stop = {};
  // Called by one thread for each segment, with pages of at least one item. The token stops all
  // segments, also when another one has failed.
  std::function<Result<void>(std::vector<Item> page, const std::stop_token& stop)> visit;
  // Called on the calling thread about ten times a second, and at the end, also after an error.
  std::function<Result<void>(const ScanPositions& positions)> advanced;
};

// Reads from `positions`, one for each segment. Reads are consistent, and repeated for about ten
// minutes after a retryable() error. Errors: kCancelled after `stop`; those of `visit` and
// `advanced`. Items that are written during the scan might be visited or not.
Result<void> scan_table(const TableScan& scan, ScanPositions positions);

}  // namespace stator::cli
