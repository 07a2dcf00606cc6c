// SPDX-License-Identifier: Apache-2.0
// Latencies: durations counted in buckets that are at most 1.6 % wide.
//
// Thread safety: none.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

namespace stator::cli {

class Latencies {
 public:
  void add(std::chrono::nanoseconds duration);
  void add(const Latencies& other);
  int64_t count() const { return count_; }
  // The duration that a share `part` (0 to 1) of all durations does not exceed, rounded up to the
  // end of its bucket. Zero without durations.
  std::chrono::nanoseconds quantile(double part) const;

 private:
  static constexpr int kBits = 6;  // bits that are kept after the highest one
  static constexpr int kGroups = 64 - kBits;

  int64_t count_ = 0;
  std::array<int64_t, (kGroups + 1) << kBits> buckets_ = {};
};

}  // namespace stator::cli
