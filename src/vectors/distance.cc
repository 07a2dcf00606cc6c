// SPDX-License-Identifier: Apache-2.0
#include "vectors/distance.h"

#include <cstddef>
#include <cstring>

namespace stator {
namespace {

constexpr std::size_t kLanes = 16;
constexpr std::size_t kSums = 4;  // independent, so that no addition waits for the one before it
using Lanes [[gnu::vector_size(kLanes * sizeof(float))]] = float;
using Bytes [[gnu::vector_size(kLanes)]] = signed char;
using Shorts [[gnu::vector_size(kLanes * sizeof(int16_t))]] = int16_t;
using Ints [[gnu::vector_size(kLanes * sizeof(int32_t))]] = int32_t;

enum class Sum { kProducts, kSquaredDifferences, kProductsOfCodes };

template <Sum sum>
constexpr std::size_t kStoredBytes = sum == Sum::kProductsOfCodes ? 1 : sizeof(float);

template <Sum sum>
[[gnu::always_inline]] inline void load(const char* stored, Lanes& lanes) {
  if constexpr (sum == Sum::kProductsOfCodes) {
    // Doubles the width at each step, because instructions exist for that. GCC 12 converts bytes
    // directly to floats one by one.
    Bytes codes;
    std::memcpy(&codes, stored, sizeof codes);
    const Ints wide = __builtin_convertvector(__builtin_convertvector(codes, Shorts), Ints);
    lanes = __builtin_convertvector(wide, Lanes);
  } else {
    std::memcpy(&lanes, stored, sizeof lanes);
  }
}

template <Sum sum>
[[gnu::always_inline]] inline void add(const float* query, const char* stored, Lanes& total) {
  Lanes one;
  std::memcpy(&one, query, sizeof one);
  Lanes other;
  load<sum>(stored, other);
  if constexpr (sum == Sum::kSquaredDifferences) {
    const Lanes difference = one - other;
    total += difference * difference;
  } else {
    total += one * other;
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
      add<sum>(query + place, stored + place * kStoredBytes<sum>, sums[i]);
    }
  }
  for (; at + kLanes <= count; at += kLanes) {
    add<sum>(query + at, stored + at * kStoredBytes<sum>, sums[0]);
  }
  if (at < count) {
    float rest[kLanes] = {};
    char stored_rest[kLanes * kStoredBytes<sum>] = {};
    std::memcpy(rest, query + at, (count - at) * sizeof(float));
    std::memcpy(stored_rest, stored + at * kStoredBytes<sum>, (count - at) * kStoredBytes<sum>);
    add<sum>(rest, stored_rest, sums[0]);
  }
  const Lanes all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  float total = 0;
  for (std::size_t i = 0; i < kLanes; ++i) total += all[i];
  return total;
}

[[gnu::always_inline]] inline void add_products(const int8_t* one, const int8_t* other,
                                                Shorts& total) {
  Bytes left;
  Bytes right;
  std::memcpy(&left, one, sizeof left);
  std::memcpy(&right, other, sizeof right);
  total += __builtin_convertvector(left, Shorts) * __builtin_convertvector(right, Shorts);
}

// The product of two codes fits into 16 bits, and so does the sum of two products.
[[gnu::always_inline]] inline int32_t products_of(const int8_t* one, const int8_t* other,
                                                  std::size_t count) {
  Ints sums[2] = {};
  std::size_t at = 0;
  for (; at + 4 * kLanes <= count; at += 4 * kLanes) {
    for (std::size_t i = 0; i < 2; ++i) {
      Shorts two = {};
      add_products(one + at + 2 * i * kLanes, other + at + 2 * i * kLanes, two);
      add_products(one + at + (2 * i + 1) * kLanes, other + at + (2 * i + 1) * kLanes, two);
      sums[i] += __builtin_convertvector(two, Ints);
    }
  }
  const Ints all = sums[0] + sums[1];
  int32_t total = 0;
  for (std::size_t i = 0; i < kLanes; ++i) total += all[i];
  for (; at < count; ++at) total += one[at] * other[at];
  return total;
}

using ProductsOf = int32_t (*)(const int8_t*, const int8_t*, std::size_t);

int32_t multiply_plainly(const int8_t* one, const int8_t* other, std::size_t count) {
  return products_of(one, other, count);
}

#ifdef __x86_64__
[[gnu::target("avx2")]] int32_t multiply_by_avx2(const int8_t* one, const int8_t* other,
                                                 std::size_t count) {
  return products_of(one, other, count);
}

[[gnu::target("avx512f,avx512bw")]] int32_t multiply_by_avx512(const int8_t* one,
                                                               const int8_t* other,
                                                               std::size_t count) {
  return products_of(one, other, count);
}
#endif

ProductsOf fastest_products() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512bw")) return multiply_by_avx512;
  if (__builtin_cpu_supports("avx2")) return multiply_by_avx2;
#endif
  return multiply_plainly;
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

float dot_product(std::span<const float> query, const int8_t* codes) {
  static const SumOf sum = fastest<Sum::kProductsOfCodes>();
  return sum(query.data(), reinterpret_cast<const char*>(codes), query.size());
}

int32_t dot_product(std::span<const int8_t> one, const int8_t* other) {
  static const ProductsOf products = fastest_products();
  return products(one.data(), other, one.size());
}

float squared_distance(std::span<const float> query, const char* stored) {
  static const SumOf sum = fastest<Sum::kSquaredDifferences>();
  return sum(query.data(), stored, query.size());
}

}  // namespace stator
