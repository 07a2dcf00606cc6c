// SPDX-License-Identifier: Apache-2.0
#include "base/hex.h"

#include <gtest/gtest.h>

namespace stator {
namespace {

TEST(Hex, WritesTwoDigitsPerByteInOrder) {
  EXPECT_EQ(hex(std::string_view("\x00\x9f\xf0\x0a", 4)), "009ff00a");
  EXPECT_EQ(hex(""), "");
}

}  // namespace
}  // namespace stator
