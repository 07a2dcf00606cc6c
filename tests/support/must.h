// SPDX-License-Identifier: Apache-2.0
// must: the value of a Result; the test fails without one.
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

}  // namespace stator::test
