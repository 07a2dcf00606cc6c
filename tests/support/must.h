// SPDX-License-Identifier: Apache-2.0
// must: returns the value of a Result; the test ends without one.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "stator/result.h"

namespace stator::test {

template <class T>
T must(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "a home did not open: %s\n", result.error().message.c_str());
    std::abort();
  }
  return std::move(*result);
}

// Returns the value of the first attempt that succeeds: a faulty store can reject some of them.
template <class Attempt>
auto must_soon(Attempt attempt) {
  constexpr int kAttemptsMax = 20;
  auto result = attempt();
  for (int attempts = 1; !result && attempts < kAttemptsMax; ++attempts) result = attempt();
  return must(std::move(result));
}

}  // namespace stator::test
