// SPDX-License-Identifier: Apache-2.0
#include "storage/cache_size.h"

#include <gtest/gtest.h>

namespace stator {
namespace {

TEST(CacheSize, IsAnEighthOfTheMemoryWithinBounds) {
  EXPECT_EQ(cache_bytes_of(16UL << 30), 2UL << 30);
  EXPECT_EQ(cache_bytes_of(256UL << 20), 32UL << 20);
  EXPECT_EQ(cache_bytes_of(0), 8UL << 20);
  EXPECT_EQ(cache_bytes_of(1UL << 40), 8UL << 30);
}

}  // namespace
}  // namespace stator
