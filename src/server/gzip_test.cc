// SPDX-License-Identifier: Apache-2.0
#include "server/gzip.h"

#include <gtest/gtest.h>

namespace stator::server {
namespace {

constexpr std::size_t kBytesMax = 1UL << 20;

TEST(Gzip, RoundTrips) {
  const std::string text(10'000, 'x');
  const auto compressed = gzip(text);
  ASSERT_TRUE(compressed);
  EXPECT_LT(compressed->size(), 200U);
  std::string back;
  EXPECT_EQ(gunzip(*compressed, kBytesMax, back), GunzipOutcome::kDone);
  EXPECT_EQ(back, text);
}

TEST(Gzip, LeavesIncompressibleTextUnchanged) {
  EXPECT_FALSE(gzip("abc"));
  EXPECT_FALSE(gzip(""));
}

TEST(Gunzip, RejectsABombByItsClaimedSize) {
  const auto bomb = gzip(std::string(kBytesMax + 1, '\0'));
  ASSERT_TRUE(bomb);
  std::string out;
  EXPECT_EQ(gunzip(*bomb, kBytesMax, out), GunzipOutcome::kTooLarge);
  EXPECT_TRUE(out.empty());
}

TEST(Gunzip, RefusesABombThatClaimsToBeSmall) {
  std::string bomb = *gzip(std::string(kBytesMax + 1, '\0'));
  bomb.replace(bomb.size() - 4, 4, std::string("\x10\x00\x00\x00", 4));
  std::string out;
  EXPECT_EQ(gunzip(bomb, kBytesMax, out), GunzipOutcome::kInvalid);
  EXPECT_LE(out.size(), 16U);
}

TEST(Gunzip, RejectsDataThatIsNotGzip) {
  const std::string good = *gzip(std::string(1000, 'x'));
  std::string out;
  for (std::size_t length = 0; length < good.size(); ++length) {
    EXPECT_NE(gunzip(good.substr(0, length), kBytesMax, out), GunzipOutcome::kDone) << length;
  }
  EXPECT_NE(gunzip(good + "x", kBytesMax, out), GunzipOutcome::kDone);
  EXPECT_NE(gunzip(std::string(100, '\xff'), kBytesMax, out), GunzipOutcome::kDone);
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string changed = good;
    changed[at] = static_cast<char>(changed[at] ^ 0x55);
    if (gunzip(changed, kBytesMax, out) == GunzipOutcome::kDone) {
      EXPECT_EQ(out, std::string(1000, 'x')) << at;
    }
  }
}

TEST(Gzip, IsUsedIfTheClientNamesIt) {
  EXPECT_TRUE(accepts_gzip("gzip"));
  EXPECT_TRUE(accepts_gzip("deflate, gzip;q=0.5, br"));
  EXPECT_FALSE(accepts_gzip(""));
  EXPECT_FALSE(accepts_gzip("identity"));
  EXPECT_FALSE(accepts_gzip("xgzip"));
  EXPECT_FALSE(accepts_gzip("gzip;q=0"));
}

}  // namespace
}  // namespace stator::server
