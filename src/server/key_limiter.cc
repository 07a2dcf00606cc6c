// SPDX-License-Identifier: Apache-2.0
#include "server/key_limiter.h"

#include <algorithm>

namespace stator::server {

// Each request delays the time when the bucket is full again by one interval. The bucket is empty
// if that time would be more than a second away.
bool KeyLimiter::take_token(Time now) {
  constexpr int64_t kSecondNs = 1'000'000'000;
  const int64_t now_ns =
      std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch()).count();
  const int64_t interval_ns = std::max<int64_t>(kSecondNs / limits_.requests_per_second, 1);
  int64_t full_at = full_at_ns_.load(std::memory_order_relaxed);
  for (;;) {
    const int64_t next = std::max(full_at, now_ns) + interval_ns;
    if (next - now_ns > kSecondNs) return false;
    if (full_at_ns_.compare_exchange_weak(full_at, next, std::memory_order_relaxed)) return true;
  }
}

std::optional<KeyLimiter::Permit> KeyLimiter::admit(Time now) {
  const int64_t before = in_progress_.fetch_add(1, std::memory_order_relaxed);
  Permit permit(shared_from_this());
  if (limits_.concurrent_requests > 0 && before >= limits_.concurrent_requests) return std::nullopt;
  if (limits_.requests_per_second > 0 && !take_token(now)) return std::nullopt;
  return permit;
}

}  // namespace stator::server
