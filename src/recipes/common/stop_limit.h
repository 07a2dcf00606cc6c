// SPDX-License-Identifier: Apache-2.0
// StopLimit: lets a stop request end the requests of the current thread, not only prevent the next.
//
// Every thread of a call that takes a stop token and sends many requests has one. Limits that the
// caller has set for its thread apply to all of them.
// Lifetime: must be destroyed by the thread that constructed it.
#pragma once

#include <chrono>
#include <stop_token>

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
  // `callers`: the bounds of the calling thread, for a thread that helps it.
  explicit StopLimit(const std::stop_token& stop,
                     const CallLimits::Bounds& callers = current_bounds())
      : by_call_(stop, Request{either_}),
        by_caller_(callers.stop, Request{either_}),
        limits_({.attempt = callers.attempt, .total = callers.total, .stop = either_.get_token()}) {
  }

 private:
  struct Request {
    std::stop_source source;
    void operator()() { source.request_stop(); }
  };

  std::stop_source either_;
  std::stop_callback<Request> by_call_;
  std::stop_callback<Request> by_caller_;
  CallLimits limits_;
};

inline constexpr std::chrono::seconds kMaxAfterStop{5};

// Within a StopLimit: lets the current thread send requests for kMaxAfterStop, also after or during
// a stop, for example to release a claim. The caller's limits do not apply to them.
class AfterStop {
 public:
  AfterStop() : limits_({.attempt = kMaxAfterStop, .total = kMaxAfterStop}) {}

 private:
  CallLimits limits_;
};

}  // namespace stator::recipes
