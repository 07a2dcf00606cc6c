// SPDX-License-Identifier: Apache-2.0
// Sums over the components of two vectors of floats, by the widest instructions that the processor
// has, which are chosen at run time.
//
// The sums are floats, added in another order than a plain loop would; so the last digits differ,
// also between processors. Infinite where a float is too small for them. Thread safety: pure.
#pragma once

#include <span>

namespace stator {

// `stored`: as many floats as `query` has, in memory's order, at any address.
float dot_product(std::span<const float> query, const char* stored);
float squared_distance(std::span<const float> query, const char* stored);

}  // namespace stator
