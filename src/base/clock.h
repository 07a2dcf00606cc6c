// SPDX-License-Identifier: Apache-2.0
// Clock: wall time. Tests inject their own.
// Thread safety: any thread can call every method.
#pragma once

#include <chrono>
#include <cstdint>

namespace stator {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual std::chrono::system_clock::time_point now() const = 0;

  int64_t unix_ms() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(now().time_since_epoch()).count();
  }
};

// The machine's clock. Valid until the process ends.
const Clock& system_clock();

}  // namespace stator
