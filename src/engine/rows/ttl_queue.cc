// SPDX-License-Identifier: Apache-2.0
#include "engine/rows/ttl_queue.h"

#include <algorithm>

namespace stator {

std::optional<int64_t> expiry_seconds(const ExpiryQueue& queue, ItemView item) {
  const auto value = item.find(queue.attribute);
  if (!value || value->type() != AttributeType::kN) return std::nullopt;
  constexpr double kSecondsMax = 9e15;  // a double represents each integer below this
  const double seconds = value->number().to_double();
  if (seconds < 0 || seconds >= kSecondsMax) return std::nullopt;
  return static_cast<int64_t>(seconds);
}

bool is_expired(int64_t expiry_seconds, int64_t now_ms) {
  const int64_t now = now_ms / 1000;
  return expiry_seconds <= now && expiry_seconds > now - kExpiryAgeMaxSeconds;
}

std::optional<std::string> expiry_row_key(const ExpiryQueue& queue, ItemView item,
                                          std::string_view item_row_key) {
  const auto seconds = expiry_seconds(queue, item);
  if (!seconds) return std::nullopt;
  return queue_row_key(queue.space, static_cast<uint64_t>(*seconds), item_row_key);
}

std::vector<RangeRead> expired_rows(const ExpiryQueue& queue, int64_t from_seconds,
                                    int64_t now_ms) {
  const int64_t now = now_ms / 1000;
  const int64_t from = std::max(from_seconds, now - kExpiryAgeMaxSeconds + 1);
  return queue_ranges(queue.space, static_cast<uint64_t>(std::max<int64_t>(0, from)),
                      static_cast<uint64_t>(std::max<int64_t>(0, now + 1)));
}

void apply_expiry(const ExpiryQueue& queue, std::string_view item_row_key,
                  std::optional<ItemView> before, std::optional<ItemView> after, Batch& batch) {
  const auto row_of = [&](std::optional<ItemView> item) {
    return item ? expiry_row_key(queue, *item, item_row_key) : std::nullopt;
  };
  auto old_row = row_of(before);
  auto new_row = row_of(after);
  if (old_row == new_row) return;
  if (old_row) batch.erase(std::move(*old_row));
  if (new_row) batch.put(std::move(*new_row), "");
}

}  // namespace stator
