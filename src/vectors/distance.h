// SPDX-License-Identifier: Apache-2.0
// Sums over the components of two vectors of floats, by the widest instructions that the processor
// has, which are chosen at run time.
//
// The sums are floats, added in another order than a plain loop would; so the last digits differ,
// also between processors. Infinite or NaN where a float is too small for them. Thread safety:
// pure.
#pragma once

#include <cstdint>
#include <span>

namespace stator {

// `stored`: as many floats as `query` has, in memory's order, at any address.
float dot_product(std::span<const float> query, const char* stored);
float squared_distance(std::span<const float> query, const char* stored);
// `codes`: as many as `query` has.
float dot_product(std::span<const float> query, const int8_t* codes);
// Exact, for up to 131,072 codes of -127 to 127.
int32_t dot_product(std::span<const int8_t> one, const int8_t* other);

// How far a sum of at most 4,096 numbers is from the exact one, as a part of the sum of their
// magnitudes: each of the 64 sums that are made side by side rounds 70 times at most. Products
// below the smallest normal float can each be off by as much in addition.
inline constexpr double kSumRounding = 1e-5;

}  // namespace stator
