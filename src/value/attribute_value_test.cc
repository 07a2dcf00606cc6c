// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "stator/value.h"

namespace stator {
namespace {

TEST(AttributeValue, NamesItsTypeAsDynamoDbDoes) {
  const std::pair<AttributeValue, std::string_view> cases[] = {
      {"text", "S"},        {1, "N"},
      {Binary{"b"}, "B"},   {true, "BOOL"},
      {nullptr, "NULL"},    {StringSet{"a"}, "SS"},
      {NumberSet{1}, "NS"}, {BinarySet{Binary{"b"}}, "BS"},
      {List{1, "a"}, "L"},  {Map{{"a", 1}}, "M"},
  };
  for (const auto& [value, name] : cases) {
    EXPECT_EQ(type_name(value.type()), name);
    EXPECT_EQ(type_from_name(name), value.type());
  }
  EXPECT_EQ(type_from_name("X"), std::nullopt);
  EXPECT_EQ(type_from_name("s"), std::nullopt);
  EXPECT_EQ(type_from_name(""), std::nullopt);
}

TEST(AttributeValue, IsEqualDeeplyWithNumbersByValueAndSetsWithoutOrder) {
  const AttributeValue left = Map{{"l", List{Number::parse("1.0").value(), StringSet{"b", "a"}}}};
  const AttributeValue right = Map{{"l", List{1, StringSet{"a", "b"}}}};
  EXPECT_EQ(left, right);
  EXPECT_NE(left, AttributeValue(Map{{"l", List{1, StringSet{"a"}}}}));
  EXPECT_NE(AttributeValue("a"), AttributeValue(Binary{"a"}));
  EXPECT_NE(AttributeValue(1), AttributeValue(true));
}

TEST(AttributeValue, PrintsAsDynamoDbJson) {
  const Item item = {{"b", Binary{}},
                     {"e", List{}},
                     {"m", Map{{"q\"", "a\nb\\"}, {"t", true}}},
                     {"n", NumberSet{10, -2, 9}},
                     {"z", nullptr}};
  EXPECT_EQ(to_debug_string(item),
            R"({"b":{"B":""},"e":{"L":[]},"m":{"M":{"q\"":{"S":"a\u000ab\\"},"t":{"BOOL":true}}},)"
            R"("n":{"NS":["-2","9","10"]},"z":{"NULL":true}})");
  EXPECT_EQ(to_debug_string(AttributeValue(Binary{std::string("\x00\xFF\x10", 3)})),
            R"({"B":"AP8Q"})");
  EXPECT_EQ(to_debug_string(AttributeValue(Binary{"f"})), R"({"B":"Zg=="})");
  EXPECT_EQ(to_debug_string(AttributeValue(Binary{"fo"})), R"({"B":"Zm8="})");
}

TEST(SetOf, SortsStringsByUnsignedBytesAndNumbersByValue) {
  const StringSet texts{"\xC3\xA9", "z", "a", "B", ""};
  EXPECT_EQ(texts.elements(), (std::vector<std::string>{"", "B", "a", "z", "\xC3\xA9"}));
  const NumberSet numbers{10, 9, -1};
  EXPECT_EQ(numbers.elements(), (std::vector<Number>{-1, 9, 10}));
  const BinarySet binaries{Binary{"\xFF"}, Binary{"\x01"}};
  EXPECT_EQ(binaries.elements(), (std::vector<Binary>{Binary{"\x01"}, Binary{"\xFF"}}));
}

TEST(SetOf, FindsElementsAndKeepsDuplicatesForTheCallerToRefuse) {
  const NumberSet numbers{3, 1, Number::parse("1.0").value()};
  EXPECT_TRUE(numbers.contains(1));
  EXPECT_FALSE(numbers.contains(2));
  EXPECT_TRUE(numbers.has_duplicates());
  EXPECT_EQ(numbers.size(), 3U);
  EXPECT_EQ((StringSet{"b", "a", "b"}).elements(), (std::vector<std::string>{"b", "a", "b"}));
  EXPECT_FALSE((StringSet{"a", "b"}).has_duplicates());
  EXPECT_FALSE(BinarySet().has_duplicates());
  EXPECT_TRUE(BinarySet().empty());
}

}  // namespace
}  // namespace stator
