// SPDX-License-Identifier: Apache-2.0
// One step of SplitMix64: every bit of the result depends on every bit of `x`.
#pragma once

#include <cstdint>

namespace stator {

inline constexpr uint64_t kMixStep = 0x9e3779b97f4a7c15;

constexpr uint64_t mix(uint64_t x) {
  x += kMixStep;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace stator
