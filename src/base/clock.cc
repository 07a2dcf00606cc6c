// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

namespace stator {
namespace {

class SystemClock final : public Clock {
 public:
  std::chrono::system_clock::time_point now() const override {
    return std::chrono::system_clock::now();
  }
};

}  // namespace

const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

}  // namespace stator
