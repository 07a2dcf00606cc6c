// SPDX-License-Identifier: Apache-2.0
#include "base/awaited.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

namespace stator {
namespace {

TEST(Awaited, IsTakenAfterItWasSet) {
  Awaited<std::unique_ptr<int>> awaited;
  awaited.set(std::make_unique<int>(7));
  EXPECT_EQ(*awaited.take(), 7);
  Awaited<int> soon;
  soon.set(8);
  EXPECT_EQ(soon.take_soon(), 8);
}

// The waiting thread destroys the object as soon as it has the value.
TEST(Awaited, CanBeDestroyedAtOnce) {
  for (int i = 0; i < 500; ++i) {
    std::thread other;
    {
      Awaited<std::string> awaited;
      other = std::thread([&] { awaited.set(std::string(100, 'x')); });
      const std::string value = i % 2 == 0 ? awaited.take() : awaited.take_soon();
      EXPECT_EQ(value, std::string(100, 'x'));
    }
    other.join();
  }
}

}  // namespace
}  // namespace stator
