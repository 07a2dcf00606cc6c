// SPDX-License-Identifier: Apache-2.0
// When items expire, and the rows by which the sweep finds them. docs/formats/catalog.md.
//
// A table with TTL has a queue (see time_queue.h): a space with one row for each item whose
// attribute is a number of seconds since 1970. A row says nothing but which item to look at; it is
// written and erased in the transaction that writes the item.
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

// The whole seconds of the item's attribute; absent where it is no number or out of range.
std::optional<int64_t> expiry_seconds(const ExpiryQueue& queue, ItemView item);

// Whether an item of that expiry is to be deleted now. What expired more than five years ago is
// left alone: more likely a mistake than an intention.
inline constexpr int64_t kExpiryAgeMaxSeconds = 5LL * 365 * 24 * 3600;
bool is_expired(int64_t expiry_seconds, int64_t now_ms);

// The queue's row of the item in row `item_row_key`; absent where the item does not expire.
std::optional<std::string> expiry_row_key(const ExpiryQueue& queue, ItemView item,
                                          std::string_view item_row_key);
// The rows of items to delete now, without those that expired before `from_seconds`; for
// read_queue().
std::vector<RangeRead> expired_rows(const ExpiryQueue& queue, int64_t from_seconds, int64_t now_ms);

// SweepCursor: the first second for which a queue can hold rows that no sweep has seen, so that a
// sweep does not look for them among those it deleted.
//
// Thread safety: every method may be called from any thread at once.
class SweepCursor {
 public:
  // For a sweep, which lowers the cursor to where it ends. INT64_MAX: another sweep has it.
  int64_t take() { return from_.exchange(INT64_MAX); }
  // The queue can hold a row of this second. After its commit.
  void lower(int64_t seconds) {
    int64_t from = from_.load();
    while (seconds < from && !from_.compare_exchange_weak(from, seconds)) {
    }
  }

 private:
  std::atomic<int64_t> from_{0};
};

// What a write of the item in row `item_row_key` means for the queue.
void apply_expiry(const ExpiryQueue& queue, std::string_view item_row_key,
                  const std::optional<EncodedItem>& before, const std::optional<EncodedItem>& after,
                  Batch& batch);

}  // namespace stator
