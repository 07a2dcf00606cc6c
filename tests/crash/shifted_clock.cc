// SPDX-License-Identifier: Apache-2.0
// Replaces base/clock.cc: the linker uses this object instead.
#include "crash/shifted_clock.h"

#include "base/clock.h"

namespace stator {
namespace {

class ShiftedClock final : public Clock {
 public:
  std::chrono::system_clock::time_point now() const override { return test::shifted_now(); }
};

}  // namespace

const Clock& system_clock() {
  static const ShiftedClock clock;
  return clock;
}

}  // namespace stator
