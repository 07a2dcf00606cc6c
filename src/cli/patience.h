// SPDX-License-Identifier: Apache-2.0
// with_patience: repeats a request for about ten minutes, for commands that outlast a restart of
// the server.
#pragma once

#include <algorithm>
#include <chrono>
#include <stop_token>
#include <utility>

#include "stator/recipes/time.h"

namespace stator::cli {

inline constexpr std::chrono::milliseconds kPatienceFirst{100};
inline constexpr std::chrono::milliseconds kPatienceLast{5'000};
inline constexpr int kPatienceRepeats = 120;

// Runs `attempt`, which returns a Result and is safe to repeat, until it succeeds or fails with an
// error that is not retryable().
template <class F>
auto with_patience(TimeSource& time, const std::stop_token& stop, F&& attempt)
    -> decltype(attempt()) {
  auto wait = kPatienceFirst;
  for (int repeats = 0;; ++repeats) {
    auto result = attempt();
    if (result || !result.error().retryable() || repeats == kPatienceRepeats) return result;
    if (!time.sleep(wait, stop)) return result;
    wait = std::min(wait * 2, kPatienceLast);
  }
}

}  // namespace stator::cli
