// SPDX-License-Identifier: Apache-2.0
// KeyLimiter: limits the rate and the concurrency of an access key's requests.
//
// The rate is a token bucket that holds one second's requests, at least one. Thread safety: any
// thread; calls never wait. Lifetime: a permit keeps its limiter alive.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace stator::server {

// Zero: no limit.
struct KeyLimits {
  int64_t requests_per_second = 0;
  int64_t concurrent_requests = 0;
  bool operator==(const KeyLimits&) const = default;
};

class KeyLimiter : public std::enable_shared_from_this<KeyLimiter> {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Counts a request in progress until it is destroyed.
  class Permit {
   public:
    Permit() = default;
    explicit Permit(std::shared_ptr<KeyLimiter> limiter) : limiter_(std::move(limiter)) {}
    Permit(Permit&&) noexcept = default;
    Permit& operator=(Permit&& other) noexcept {
      std::swap(limiter_, other.limiter_);
      return *this;
    }
    ~Permit() {
      if (limiter_) limiter_->in_progress_.fetch_sub(1, std::memory_order_relaxed);
    }

   private:
    std::shared_ptr<KeyLimiter> limiter_;
  };

  explicit KeyLimiter(const KeyLimits& limits) : limits_(limits) {}

  const KeyLimits& limits() const { return limits_; }
  // Absent: the request is over a limit.
  std::optional<Permit> admit(Time now);

 private:
  bool take_token(Time now);

  const KeyLimits limits_;
  std::atomic<int64_t> in_progress_ = 0;
  std::atomic<int64_t> full_at_ns_ = 0;  // when the bucket is full again, if no more requests come
};

}  // namespace stator::server
