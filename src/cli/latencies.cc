// SPDX-License-Identifier: Apache-2.0
// Durations up to 63 ns have a bucket each; the next group of 64 buckets reaches to 127, then in
// steps of two to 255, and so on.
#include "cli/latencies.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace stator::cli {

void Latencies::add(std::chrono::nanoseconds duration) {
  const auto value = static_cast<uint64_t>(std::max<int64_t>(duration.count(), 0));
  const int group = std::max(0, static_cast<int>(std::bit_width(value)) - kBits - 1);
  const uint64_t index = (static_cast<uint64_t>(group) << kBits) + (value >> group);
  ++buckets_[index];
  ++count_;
}

void Latencies::add(const Latencies& other) {
  for (std::size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
}

std::chrono::nanoseconds Latencies::quantile(double part) const {
  if (count_ == 0) return {};
  auto left = std::max<int64_t>(1, std::llround(std::ceil(part * static_cast<double>(count_))));
  std::size_t index = 0;
  while (index + 1 < buckets_.size() && left > buckets_[index]) left -= buckets_[index++];
  const std::size_t group = index >> kBits == 0 ? 0 : (index >> kBits) - 1;
  const uint64_t lowest = (index - (group << kBits)) << group;
  return std::chrono::nanoseconds(static_cast<int64_t>(lowest + (1ULL << group) - 1));
}

}  // namespace stator::cli
