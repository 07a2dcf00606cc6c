// SPDX-License-Identifier: Apache-2.0
// CallLimits: scoped time limits for the requests that the current thread makes through any Client.
//
// The limits apply from construction to destruction. If several are in scope, the innermost one
// applies. HttpClient obeys them. Database sends no requests and ignores them. With
// DatabaseOptions::store, its calls wait for PostgreSQL regardless of them: up to 5 s to connect,
// up to 10 s for each response to a read, up to 20 s for the response to a commit, and if that
// fails, up to 20 s to find out the outcome.
// Threads: a CallLimits must be destroyed by the thread that constructed it.
// Errors of a request that is ended early: kCancelled (`stop`) or kTimeout if it cannot have taken
// effect, kOutcomeUnknown for a write that was sent.
#pragma once

#include <algorithm>
#include <chrono>
#include <stop_token>
#include <utility>

namespace stator {

class CallLimits {
 public:
  struct Bounds {
    std::chrono::nanoseconds attempt;  // per attempt, in addition to the client's own limit
    std::chrono::nanoseconds total;    // for all requests together, from construction
    std::stop_token stop = {};         // ends a request within about a second
  };
  explicit CallLimits(Bounds bounds)
      : bounds_(std::move(bounds)), outer_(std::exchange(innermost, this)) {}
  CallLimits(const CallLimits&) = delete;
  CallLimits& operator=(const CallLimits&) = delete;
  ~CallLimits() { innermost = outer_; }

  // The innermost limits of the current thread, or null.
  static const CallLimits* current() { return innermost; }

  const std::stop_token& stop() const { return bounds_.stop; }
  std::chrono::nanoseconds left() const {
    return bounds_.total - (std::chrono::steady_clock::now() - start_);
  }
  bool are_over() const { return bounds_.stop.stop_requested() || left().count() <= 0; }
  // The time limit of an attempt that starts now.
  std::chrono::nanoseconds for_attempt() const { return std::min(bounds_.attempt, left()); }

 private:
  static inline thread_local const CallLimits* innermost = nullptr;

  const Bounds bounds_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  const CallLimits* const outer_;
};

}  // namespace stator
