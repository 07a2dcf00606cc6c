// SPDX-License-Identifier: Apache-2.0
// When items expire, and the rows by which the sweep finds them. docs/formats/catalogue.md.
//
// A table with TTL has a queue: a space with one row for each item whose attribute is a number of
// seconds since 1970, ordered by it. A row says nothing but which item to look at; it is written
// and erased in the transaction that writes the item.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/howitworks-ttl.html
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/row_layout.h"

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
// The row key of the item that a row of the queue stands for; absent for bytes that are no such
// row.
std::optional<std::string> item_of_expiry_row(std::string_view key);
// The rows of the items to delete now.
KeyRange expired_range(const ExpiryQueue& queue, int64_t now_ms);

// What a write of the item in row `item_row_key` means for the queue.
void apply_expiry(const ExpiryQueue& queue, std::string_view item_row_key,
                  const std::optional<EncodedItem>& before, const std::optional<EncodedItem>& after,
                  Transaction& transaction);

}  // namespace stator
