// SPDX-License-Identifier: Apache-2.0
// Expiry times of items, and the queue in which the sweep finds expired items.
// docs/formats/catalog.md.
//
// A table with TTL has a queue (time_queue.h): a space with one row for each item whose attribute
// is a number of seconds since 1970. A row only names an item; it is written and erased in the
// transaction that writes the item.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/howitworks-ttl.html
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/rows/time_queue.h"

namespace stator {

struct ExpiryQueue {
  std::string attribute;
  SpaceId space = 0;
};

// The whole seconds of the item's attribute; absent if it is not a number or is out of range.
std::optional<int64_t> expiry_seconds(const ExpiryQueue& queue, ItemView item);

// Whether the sweep deletes an item with this expiry time now. As in DynamoDB, items that expired
// more than five years ago are kept.
inline constexpr int64_t kExpiryAgeMaxSeconds = 5LL * 365 * 24 * 3600;
bool is_expired(int64_t expiry_seconds, int64_t now_ms);

// The key of the queue's row for the item in row `item_row_key`; absent if the item does not
// expire.
std::optional<std::string> expiry_row_key(const ExpiryQueue& queue, ItemView item,
                                          std::string_view item_row_key);
// The ranges of rows that name items to delete now, without those that expired before
// `from_seconds`; for read_queue().
std::vector<RangeRead> expired_rows(const ExpiryQueue& queue, int64_t from_seconds, int64_t now_ms);

// SweepCursor: the first second for which a queue can contain rows, so that a sweep does not read
// over the rows that earlier sweeps erased.
//
// Thread safety: any thread.
class SweepCursor {
 public:
  // Returns the cursor and reserves it for a sweep, which must call lower() at its end. INT64_MAX:
  // another sweep has reserved it.
  int64_t take() { return from_.exchange(INT64_MAX); }
  // Records that the queue can contain a row of this second. Call it after the commit of the row.
  void lower(int64_t seconds) {
    int64_t from = from_.load();
    while (seconds < from && !from_.compare_exchange_weak(from, seconds)) {
    }
  }

 private:
  std::atomic<int64_t> from_{0};
};

// Adds the changes of the queue that follow from a write of the item in row `item_row_key`.
void apply_expiry(const ExpiryQueue& queue, std::string_view item_row_key,
                  std::optional<ItemView> before, std::optional<ItemView> after, Batch& batch);

}  // namespace stator
