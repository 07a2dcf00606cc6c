// SPDX-License-Identifier: Apache-2.0
// Copies the items of a table to a table on any backend, in segments that are copied at the same
// time.
#pragma once

#include "cli/compare_items.h"
#include "cli/table_scan.h"

namespace stator::cli {

struct CopyOptions {
  int64_t rate = 0;  // items per second; 0: no limit
  std::stop_token stop;
  // Called like TableScan::advanced. All items up to `positions` are stored in the target.
  std::function<Result<void>(const ScanPositions& positions)> advanced;
};

// Puts the items after `positions`. Existing items are replaced, so copying items again is
// harmless. Throttled and unprocessed writes are repeated, for about ten minutes if the target is
// unavailable. Errors: kCancelled after `options.stop`; kValidation, with the item's key, if the
// target rejects an item.
Result<void> copy_items(const TablePair& tables, const KeySchema& keys, ScanPositions positions,
                        const CopyOptions& options);

}  // namespace stator::cli
