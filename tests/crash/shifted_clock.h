// SPDX-License-Identifier: Apache-2.0
// The clock of shifted_stator, which is otherwise `stator`. It is ahead of the machine's clock by a
// value from the environment. Incremental exports need it, because their window is at least 15
// minutes.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>

namespace stator::test {

constexpr const char* kClockAhead = "STATOR_TEST_CLOCK_AHEAD_S";

inline std::chrono::system_clock::time_point shifted_now() {
  const char* seconds = std::getenv(kClockAhead);
  return std::chrono::system_clock::now() +
         std::chrono::seconds(seconds == nullptr ? 0 : std::atoll(seconds));
}

inline int64_t shifted_now_ms() {
  return shifted_now().time_since_epoch() / std::chrono::milliseconds(1);
}

}  // namespace stator::test
