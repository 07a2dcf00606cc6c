// SPDX-License-Identifier: Apache-2.0
// Sums over the components of two vectors of floats. The widest instructions that the processor
// supports are chosen at run time.
//
// The order of additions, and so the last digits, differ from a plain loop and between processors.
// Sums are infinite or NaN if they exceed the range of a float.
// Thread safety: any thread.
#pragma once

#include <cstdint>
#include <span>

namespace stator {

// `stored`: as many floats as `query` has, in the machine's byte order, at any alignment.
float dot_product(std::span<const float> query, const char* stored);
float squared_distance(std::span<const float> query, const char* stored);
// `codes`: as many as `query` has components.
float dot_product(std::span<const float> query, const int8_t* codes);
// Exact, for up to 131,072 codes of -127 to 127.
int32_t dot_product(std::span<const int8_t> one, const int8_t* other);

// The largest error of a sum of at most 4,096 numbers, relative to the sum of their magnitudes:
// each of 64 partial sums rounds at most 70 times. In addition, each product below the smallest
// normal float can be off by up to that float.
inline constexpr double kSumRounding = 1e-5;

}  // namespace stator
