// SPDX-License-Identifier: Apache-2.0
#include "cli/copy_items.h"

#include <algorithm>
#include <utility>

#include "api/json/item_json.h"
#include "cli/patience.h"
#include "cli/table_access.h"
#include "recipes/common/requests.h"

namespace stator::cli {
namespace {

// Puts the items one by one, to add the key of the first rejected item to the error.
Error name_rejected_item(const TablePair& tables, const KeySchema& keys,
                         const std::vector<WriteRequest>& writes, Error error) {
  for (const WriteRequest& write : writes) {
    const auto put = tables.to.put_item({.table = tables.target, .item = *write.put});
    if (put || put.error().code != Code::kValidation) continue;
    error.message = "the target rejects the item " + wire::item_to_json(key_of(keys, *write.put)) +
                    ": " + put.error().message;
    break;
  }
  return error;
}

// A page has less than 1.4 MB of distinct items, so any number of them fits into one request of 16
// MB, also in JSON.
Result<void> write_page(const TablePair& tables, const KeySchema& keys, std::vector<Item> page,
                        const std::stop_token& stop) {
  for (std::size_t first = 0; first < page.size(); first += recipes::kBatchWrites) {
    const std::size_t last = std::min(page.size(), first + recipes::kBatchWrites);
    std::vector<WriteRequest> writes;
    writes.reserve(last - first);
    for (std::size_t i = first; i < last; ++i) writes.push_back({.put = std::move(page[i])});
    auto written = with_patience(system_time(), stop, [&] {
      return recipes::write_batch(tables.to, RetryPolicy(), system_time(), stop, tables.target,
                                  writes);
    });
    if (written) continue;
    if (written.error().code != Code::kValidation) return failure_of(std::move(written));
    return Failure(name_rejected_item(tables, keys, writes, std::move(written).error()));
  }
  return {};
}

}  // namespace

Result<void> copy_items(const TablePair& tables, const KeySchema& keys, ScanPositions positions,
                        const CopyOptions& options) {
  Pace pace(options.rate);
  return scan_table(
      {.client = tables.from,
       .table = tables.source,
       .pace = &pace,
       .stop = options.stop,
       .visit = [&](std::vector<Item> page, const std::stop_token& stop) -> Result<void> {
         const auto written = write_page(tables, keys, std::move(page), stop);
         if (written) return {};
         return fail(written.error().code, "target: " + written.error().message);
       },
       .advanced = options.advanced},
      std::move(positions));
}

}  // namespace stator::cli
