// SPDX-License-Identifier: Apache-2.0
#include "api/json/json_writer.h"
#include "api/json/item_json.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <vector>

#include "api/model/base64.h"
#include "api/wire/wire.h"
#include "support/matchers.h"

namespace stator::wire {
namespace {

using test::FailsWith;
using test::IsOk;

std::string written(std::string_view text) {
  JsonWriter json(0);
  json.text(text);
  return std::move(json).finish();
}

TEST(JsonWriter, EscapesOnlyCharactersThatNeedIt) {
  EXPECT_EQ(written(""), R"("")");
  EXPECT_EQ(written("plain text of some length, é and 😀"),
            "\"plain text of some length, é and 😀\"");
  EXPECT_EQ(written("\"\\/\b\f\n\r\t"), R"("\"\\/\u0008\u000c\n\r\t")");
  EXPECT_EQ(written(std::string_view("\0\x1f\x7f", 3)), "\"\\u0000\\u001f\x7f\"");
}

TEST(JsonWriter, FindsEveryByteToEscapeAtEveryPosition) {
  for (const std::size_t length : {1U, 7U, 8U, 19U, 31U, 32U, 33U, 47U, 64U, 71U}) {
    for (std::size_t at = 0; at < length; ++at) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string text(length, 'x');
        text[at] = static_cast<char>(byte);
        const bool special = byte < 0x20 || byte == '"' || byte == '\\';
        const std::string json = written(text);
        ASSERT_EQ(json.size() == length + 2, !special) << byte << " at " << at;
        if (special) continue;
        ASSERT_EQ(json, "\"" + text + "\"");
      }
    }
  }
}

TEST(JsonWriter, EndsObjectsAndArraysAroundTheirContent) {
  const std::map<std::string, std::vector<int64_t>> map = {{"a\n", {1, 2}}, {"b", {}}};
  const std::string json = write_document([&](JsonWriter& out) {
    out.key("Empty").object([] {});
    out.key("Map").entries(map, [&](const std::vector<int64_t>& numbers) {
      out.array(numbers, [&](int64_t number) { out.integer(number); });
    });
    out.key("List").objects(map, [&](const auto& entry) { out.key("Name").text(entry.first); });
  });
  EXPECT_EQ(json,
            R"({"Empty":{},"Map":{"a\n":[1,2],"b":[]},"List":[{"Name":"a\n"},{"Name":"b"}]})");
}

TEST(JsonWriter, WritesNumbersAsClientsExpectThem) {
  JsonWriter json(1);
  json.begin_array();
  json.integer(0);
  json.integer(std::numeric_limits<int64_t>::min());
  json.real(1);
  json.real(0.5);
  json.real(1e30);
  json.seconds(1'421'866'952'062);
  json.seconds(5);
  json.boolean(false);
  json.null();
  json.end_array();
  EXPECT_EQ(std::move(json).finish(),
            "[0,-9223372036854775808,1.0,0.5,1e+30,1421866952.062,0.005,false,null]");
}

TEST(JsonWriter, SeparatesMembersAndElements) {
  JsonWriter json;
  json.begin_object();
  json.key("a");
  json.begin_array();
  json.end_array();
  json.key("b");
  json.begin_object();
  json.user_key("\"");
  json.integer(1);
  json.key("d");
  json.integer(2);
  json.end_object();
  json.key("e");
  json.text("f");
  json.end_object();
  EXPECT_EQ(std::move(json).finish(), R"({"a":[],"b":{"\"":1,"d":2},"e":"f"})");
}

TEST(JsonWriter, WritesEveryTypeOfValue) {
  EXPECT_EQ(item_to_json({{"s", "x"}, {"z", nullptr}}), R"({"s":{"S":"x"},"z":{"NULL":true}})");
  EXPECT_EQ(item_to_json({{"b", Binary{"ab"}}, {"n", -5}, {"t", false}}),
            R"({"b":{"B":"YWI="},"n":{"N":"-5"},"t":{"BOOL":false}})");
  EXPECT_EQ(item_to_json({{"bs", BinarySet({Binary{"a"}, Binary{""}})},
                          {"ns", NumberSet({2, 1})},
                          {"ss", StringSet({"b", "a"})}}),
            R"({"bs":{"BS":["","YQ=="]},"ns":{"NS":["1","2"]},"ss":{"SS":["a","b"]}})");
  EXPECT_EQ(item_to_json({{"l", List{List{}, "x"}}, {"m", Map{{"k", Map{}}}}}),
            R"({"l":{"L":[{"L":[]},{"S":"x"}]},"m":{"M":{"k":{"M":{}}}}})");
}

TEST(PlainJson, HasNoTypeNames) {
  EXPECT_EQ(item_to_plain_json({{"a", "x"},
                                {"b", Binary{"ab"}},
                                {"c", 7},
                                {"d", true},
                                {"e", nullptr},
                                {"f", NumberSet({1, 2})},
                                {"g", List{AttributeValue("y"), AttributeValue(Map{{"h", 1}})}}}),
            R"({"a":"x","b":"YWI=","c":7,"d":true,"e":null,"f":[1,2],"g":["y",{"h":1}]})");
}

TEST(Base64, DecodesItsOwnOutput) {
  std::string bytes;
  for (int length = 0; length < 70; ++length) {
    const std::string text = to_base64(bytes);
    EXPECT_EQ(text.size(), base64_length(bytes.size()));
    const auto back = from_base64(text);
    ASSERT_THAT(back, IsOk());
    EXPECT_EQ(*back, bytes);
    bytes.push_back(static_cast<char>(length * 37));
  }
  EXPECT_EQ(to_base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(to_base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(to_base64("foob"), "Zm9vYg==");
}

TEST(Base64, RejectsMalformedText) {
  for (const std::string_view text : {"a", "ab", "abc", "====", "a===", "ab=c", "a=bc", "=abc",
                                      "ab-_", "ab c", "abc\n", "Zm9vYh==", "Zm9vYmF="}) {
    EXPECT_THAT(from_base64(text), FailsWith(Code::kSerialization, "")) << text;
  }
}

}  // namespace
}  // namespace stator::wire
