// SPDX-License-Identifier: Apache-2.0
// StopLimit: lets a stop request end the requests of the current thread, not only prevent the next.
//
// Every thread of a call that takes a stop token and sends many requests has one. Limits that the
// caller has set for the thread still apply.
// Lifetime: must be destroyed by the thread that constructed it.
#pragma once

#include <chrono>
#include <stop_token>
#include <utility>

#include "stator/call_limits.h"

namespace stator::recipes {

// Those of the current thread.
inline CallLimits::Bounds current_bounds() {
  constexpr std::chrono::nanoseconds kUnlimited = std::chrono::days(3'650);
  const CallLimits* const limits = CallLimits::current();
  if (limits == nullptr) return {.attempt = kUnlimited, .total = kUnlimited};
  return {.attempt = limits->for_attempt(), .total = limits->left(), .stop = limits->stop()};
}

class StopLimit {
 public:
  explicit StopLimit(const std::stop_token& stop)
      : by_call_(stop, Request{either_}),
        by_caller_(current_bounds().stop, Request{either_}),
        limits_(bounds(either_.get_token())) {}

 private:
  struct Request {
    std::stop_source source;
    void operator()() { source.request_stop(); }
  };
  static CallLimits::Bounds bounds(std::stop_token stop) {
    CallLimits::Bounds bounds = current_bounds();
    bounds.stop = std::move(stop);
    return bounds;
  }

  std::stop_source either_;
  std::stop_callback<Request> by_call_;
  std::stop_callback<Request> by_caller_;
  CallLimits limits_;
};

inline constexpr std::chrono::seconds kMaxAfterStop{5};

// Within a StopLimit: lets the current thread send requests for kMaxAfterStop after a stop, for
// example to release a claim. Changes nothing before a stop.
class AfterStop {
 public:
  explicit AfterStop(const std::stop_token& stop)
      : limits_(stop.stop_requested()
                    ? CallLimits::Bounds{.attempt = kMaxAfterStop, .total = kMaxAfterStop}
                    : current_bounds()) {}

 private:
  CallLimits limits_;
};

}  // namespace stator::recipes
