// SPDX-License-Identifier: Apache-2.0
#include "storage/split_range.h"

#include <gtest/gtest.h>

namespace stator {
namespace {

void expect_exact_cover(const KeyRange& range, const std::vector<KeyRange>& parts) {
  ASSERT_FALSE(parts.empty());
  EXPECT_EQ(parts.front().begin, range.begin);
  EXPECT_EQ(parts.back().end, range.end);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    EXPECT_EQ(parts[i - 1].end, parts[i].begin);
    EXPECT_LT(parts[i].begin, parts[i].end.empty() ? std::string(30, '\xff') : parts[i].end);
  }
}

TEST(SplitRange, CoversAKeyspaceExactlyAndEvenly) {
  const KeyRange range{std::string("\0\0\0\5", 4), std::string("\0\0\0\6", 4)};
  const auto parts = split_by_hash(range, 4);
  ASSERT_EQ(parts.size(), 4U);
  expect_exact_cover(range, parts);
  EXPECT_EQ(parts[1].begin.substr(0, 5), std::string("\0\0\0\5\x40", 5));
  EXPECT_EQ(parts[2].begin.substr(0, 5), std::string("\0\0\0\5\x80", 5));
}

TEST(SplitRange, CoversOpenAndTinyRanges) {
  for (const KeyRange& range :
       {KeyRange{"", ""}, KeyRange{"a", ""}, KeyRange{"a", "b"},
        KeyRange{"a", std::string("a\0", 2)}, KeyRange{"abc", "abcdefghijk"},
        KeyRange{std::string(24, '\xff'), ""}}) {
    for (const std::size_t parts : {1U, 2U, 7U, 1000U}) {
      const auto cut = split_by_hash(range, parts);
      EXPECT_LE(cut.size(), parts);
      expect_exact_cover(range, cut);
    }
  }
}

TEST(SplitRange, OfOnePartIsTheRange) {
  const auto parts = split_by_hash({"a", "z"}, 1);
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].begin, "a");
  EXPECT_EQ(parts[0].end, "z");
}

}  // namespace
}  // namespace stator
