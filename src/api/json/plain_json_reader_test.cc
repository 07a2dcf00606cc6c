// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "api/json/item_json.h"
#include "api/wire/wire.h"

namespace stator {
namespace {

TEST(PlainJson, RoundTripsThroughAnItem) {
  const std::string text =
      R"({"a":"\u00fc","b":[1,-2.5,true,null,{"c":[]}],"n":12345678901234567890123456789012345678})";
  const auto item = wire::item_from_plain_json(text);
  ASSERT_TRUE(item) << item.error().message;
  EXPECT_EQ(item->at("n"),
            AttributeValue(Number::parse("12345678901234567890123456789012345678").value()));
  EXPECT_EQ(wire::item_from_plain_json(wire::item_to_plain_json(*item)).value(), *item);
}

TEST(PlainJson, RejectsTextThatIsNotAnObject) {
  for (const char* text : {"", "null", "[]", "1", "{", "{\"a\":}", "{\"a\":1}x", "{\"a\":1,}",
                           "{\"a\":tru}", "{\"a\":\"\xff\"}", "{\"a\":1e999}",
                           "{\"a\":123456789012345678901234567890123456789}", "{a:1}"}) {
    const auto item = wire::item_from_plain_json(text);
    ASSERT_FALSE(item) << text;
    EXPECT_EQ(item.error().code, Code::kInvalidArgument) << text;
  }
}

TEST(PlainJson, RejectsMoreLevelsThanItemsHave) {
  const auto nested = [](std::size_t depth) {
    return "{\"a\":" + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  EXPECT_TRUE(wire::item_from_plain_json(nested(31)));
  EXPECT_FALSE(wire::item_from_plain_json(nested(32)));
  EXPECT_FALSE(wire::item_from_plain_json(nested(100'000)));
}

}  // namespace
}  // namespace stator
