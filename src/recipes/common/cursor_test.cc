// SPDX-License-Identifier: Apache-2.0
#include "recipes/common/cursor.h"

#include <gtest/gtest.h>

#include <string>

namespace stator::recipes {
namespace {

const CursorSeal seal{.key = "secret", .question = {"toggle", "T", "pk"}};

TEST(Cursor, ContainsItsParts) {
  for (const std::vector<std::string>& parts :
       {std::vector<std::string>{""},
        {"a", "b"},
        {std::string("\0\xff", 2), std::string(1024, 'x')}}) {
    const std::string cursor = make_cursor(seal, parts);
    EXPECT_EQ(read_cursor(seal, cursor, parts.size()).value(), parts);
    EXPECT_EQ(cursor.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                       "0123456789-_"),
              std::string::npos);
  }
}

TEST(Cursor, IsRefusedAfterAnyChangeOfOneCharacter) {
  const std::string cursor = make_cursor(seal, {"sort key"});
  for (std::size_t i = 0; i < cursor.size(); ++i) {
    for (const char c : {'A', 'B', '_', '=', '\0'}) {
      std::string damaged = cursor;
      if (damaged[i] == c) continue;
      damaged[i] = c;
      const auto read = read_cursor(seal, damaged, 1);
      ASSERT_FALSE(read) << i << " " << c;
      EXPECT_EQ(read.error().code, Code::kBadCursor);
    }
  }
  for (std::size_t length = 0; length < cursor.size(); ++length) {
    EXPECT_FALSE(read_cursor(seal, cursor.substr(0, length), 1));
  }
  EXPECT_FALSE(read_cursor(seal, cursor + "A", 1));
  EXPECT_FALSE(read_cursor(seal, std::string(1 << 20, 'A'), 1));
}

TEST(Cursor, IsValidForItsQueryAndSecretOnly) {
  const std::string cursor = make_cursor(seal, {"a"});
  EXPECT_FALSE(read_cursor({.key = "secret", .question = {"toggle", "T", "other"}}, cursor, 1));
  EXPECT_FALSE(read_cursor({.key = "secret", .question = {"toggle", "Tpk"}}, cursor, 1));
  EXPECT_FALSE(read_cursor({.key = "other", .question = seal.question}, cursor, 1));
  EXPECT_FALSE(read_cursor(seal, cursor, 2));
}

}  // namespace
}  // namespace stator::recipes
