// SPDX-License-Identifier: Apache-2.0
// The disk of the tests that fill it, and the items that they write.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

#include "power_loss/small_disk.h"

namespace stator::test {

inline constexpr int kDiskMb = 160;
inline constexpr const char* kFull = "the disk is full";

inline const bool can_mount = SmallDisk::can_mount();

// A value that depends only on its number: 100 bytes to 400 KB that do not compress.
inline std::string value_of(uint64_t number) {
  constexpr std::size_t kBytesMax = 400'000;
  std::mt19937_64 random(number);
  const double exponent = 2 + 3.6 * static_cast<double>(random() % 1000) / 1000;
  std::string value(std::min(static_cast<std::size_t>(std::pow(10, exponent)), kBytesMax), ' ');
  // Eight characters at a time, from '0' to 'o'.
  for (std::size_t i = 0; i < value.size(); i += sizeof(uint64_t)) {
    const uint64_t characters = (random() & 0x3F3F'3F3F'3F3F'3F3F) + 0x3030'3030'3030'3030;
    std::memcpy(&value[i], &characters, std::min(sizeof(characters), value.size() - i));
  }
  return value;
}

}  // namespace stator::test

// Fails the test if it cannot mount its disk. With STATOR_ALLOW_SKIPS, skips it.
#define STATOR_REQUIRE_MOUNTS()                                                                   \
  do {                                                                                            \
    if (::stator::test::can_mount) break;                                                         \
    if (std::getenv("STATOR_ALLOW_SKIPS") != nullptr) GTEST_SKIP() << "mounts are not permitted"; \
    FAIL() << "mounts are not permitted: run it as root or permit user namespaces, or skip it "   \
              "with STATOR_ALLOW_SKIPS=1";                                                        \
  } while (false)
