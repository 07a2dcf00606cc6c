// SPDX-License-Identifier: Apache-2.0
#include "vectors/distance.h"

#include <cstddef>
#include <cstring>

namespace stator {
namespace {

constexpr std::size_t kLanes = 16;
constexpr std::size_t kSums = 4;  // independent, so that no addition waits for the one before it
using Lanes [[gnu::vector_size(kLanes * sizeof(float))]] = float;

enum class Sum { kProducts, kSquaredDifferences };

template <Sum sum>
[[gnu::always_inline]] inline void add(const float* query, const char* stored, Lanes& total) {
  Lanes one;
  Lanes other;
  std::memcpy(&one, query, sizeof one);
  std::memcpy(&other, stored, sizeof other);
  if constexpr (sum == Sum::kProducts) {
    total += one * other;
  } else {
    const Lanes difference = one - other;
    total += difference * difference;
  }
}

// Compiled for each set of instructions below.
template <Sum sum>
[[gnu::always_inline]] inline float sum_of(const float* query, const char* stored,
                                           std::size_t count) {
  Lanes sums[kSums] = {};
  std::size_t at = 0;
  for (; at + kSums * kLanes <= count; at += kSums * kLanes) {
    for (std::size_t i = 0; i < kSums; ++i) {
      const std::size_t place = at + i * kLanes;
      add<sum>(query + place, stored + place * sizeof(float), sums[i]);
    }
  }
  for (; at + kLanes <= count; at += kLanes) {
    add<sum>(query + at, stored + at * sizeof(float), sums[0]);
  }
  if (at < count) {
    float rest[2][kLanes] = {};
    std::memcpy(rest[0], query + at, (count - at) * sizeof(float));
    std::memcpy(rest[1], stored + at * sizeof(float), (count - at) * sizeof(float));
    add<sum>(rest[0], reinterpret_cast<const char*>(rest[1]), sums[0]);
  }
  const Lanes all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  float total = 0;
  for (std::size_t i = 0; i < kLanes; ++i) total += all[i];
  return total;
}

using SumOf = float (*)(const float*, const char*, std::size_t);

template <Sum sum>
float sum_plainly(const float* query, const char* stored, std::size_t count) {
  return sum_of<sum>(query, stored, count);
}

#ifdef __x86_64__
template <Sum sum>
[[gnu::target("avx2,fma")]] float sum_by_avx2(const float* query, const char* stored,
                                              std::size_t count) {
  return sum_of<sum>(query, stored, count);
}

template <Sum sum>
[[gnu::target("avx512f")]] float sum_by_avx512(const float* query, const char* stored,
                                               std::size_t count) {
  return sum_of<sum>(query, stored, count);
}
#endif

template <Sum sum>
SumOf fastest() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f")) return sum_by_avx512<sum>;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return sum_by_avx2<sum>;
#endif
  return sum_plainly<sum>;
}

}  // namespace

float dot_product(std::span<const float> query, const char* stored) {
  static const SumOf sum = fastest<Sum::kProducts>();
  return sum(query.data(), stored, query.size());
}

float squared_distance(std::span<const float> query, const char* stored) {
  static const SumOf sum = fastest<Sum::kSquaredDifferences>();
  return sum(query.data(), stored, query.size());
}

}  // namespace stator
