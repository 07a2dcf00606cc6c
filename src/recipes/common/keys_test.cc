// SPDX-License-Identifier: Apache-2.0
#include "recipes/common/keys.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace stator::recipes {
namespace {

using std::chrono::nanoseconds;

Time at(std::string_view text) {
  return Time::parse(text).value();
}

TEST(Escape, KeepsDifferentListsOfComponentsApart) {
  EXPECT_EQ(escape("A#2"), "A%232");
  EXPECT_NE(escape("A#2") + "#" + escape("3"), escape("A") + "#" + escape("2#3"));
  EXPECT_NE(escape("%23"), escape("#"));
  EXPECT_EQ(escape("plain-ü"), "plain-ü");
}

TEST(Escape, IsUndoneByUnescape) {
  for (const char* text : {"", "#", "%", "%23", "a#b%c##", "Poznań"}) {
    EXPECT_EQ(unescape(escape(text)), text);
  }
  EXPECT_FALSE(unescape("a#b"));
  EXPECT_FALSE(unescape("%2"));
  EXPECT_FALSE(unescape("%41"));
}

TEST(TimeKey, SortsAsTimesDoFromTheYear1To9999) {
  const std::vector<Time> times{
      at("0001-01-01T00:00:00Z"),          at("1969-12-31T23:59:59.999999999Z"),
      at("1970-01-01T00:00:00Z"),          at("2020-01-01T00:00:00Z"),
      at("2020-01-01T00:00:00.1Z"),        at("2020-01-01T00:00:00.12Z"),
      at("2020-01-01T00:00:00.5Z"),        at("2020-01-01T00:00:01Z"),
      at("9999-12-31T23:59:59.999999999Z")};
  std::vector<std::string> keys;
  for (const Time& time : times) {
    keys.push_back(time_key(time));
    EXPECT_EQ(keys.back().size(), kTimeKeyBytes);
    EXPECT_EQ(time_from_key(keys.back()), time);
  }
  EXPECT_TRUE(std::ranges::is_sorted(keys));
  EXPECT_EQ(std::ranges::adjacent_find(keys), keys.end());
}

TEST(TimeKey, IsReadBackFromNothingElse) {
  EXPECT_FALSE(time_from_key(""));
  EXPECT_FALSE(time_from_key("00000000000000000000x"));
  EXPECT_FALSE(time_from_key("0000000000000000000000"));
  EXPECT_FALSE(time_from_key("999999999999999999999"));
}

TEST(TimeNumber, IsExactOverTheWholeRange) {
  for (const char* text :
       {"0001-01-01T00:00:00.000000001Z", "1969-12-31T23:59:59.999999999Z", "1970-01-01T00:00:00Z",
        "2024-02-29T12:00:00.123456789Z", "9999-12-31T23:59:59.999999999Z"}) {
    EXPECT_EQ(time_from_number(time_number(at(text))), at(text)) << text;
  }
  EXPECT_EQ(time_number(at("1970-01-01T00:00:01.5Z")), Number(1'500'000'000));
  EXPECT_FALSE(time_from_number(Number::parse("1.5").value()));
  EXPECT_FALSE(time_from_number(Number::parse("1e30").value()));
}

TEST(CheckText, NamesTheArgument) {
  EXPECT_EQ(check_text("id", "", 10).error().message, "id: must not be empty");
  EXPECT_EQ(check_text("id", std::string(11, 'x'), 10).error().code, Code::kInvalidArgument);
  EXPECT_TRUE(check_text("id", "Poznań #1", 10));
}

TEST(CheckText, RejectsTextThatIsNotUtf8) {
  for (const char* text : {"\x80", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                           "\xf0\x80\x80\x80", "\xe2\x82", "a\xff"}) {
    EXPECT_FALSE(check_text("id", text, 10)) << text;
  }
  EXPECT_TRUE(check_text("id", "\xf0\x9f\x98\x80", 10));
}

TEST(CheckEventTime, RejectsTimesBeyondTheSkew) {
  const Time now = at("2024-01-01T00:00:00Z");
  const nanoseconds skew = std::chrono::minutes(10);
  EXPECT_TRUE(check_event_time("at", now + skew, now, skew));
  EXPECT_EQ(check_event_time("at", now + skew + nanoseconds(1), now, skew).error().code,
            Code::kInFuture);
  EXPECT_EQ(
      check_event_time("at", std::chrono::sys_days(std::chrono::year(9999) / 1 / 1), now, skew)
          .error()
          .code,
      Code::kInFuture);
  EXPECT_EQ(
      check_event_time("at", std::chrono::sys_days(std::chrono::year(10000) / 1 / 1), now, skew)
          .error()
          .code,
      Code::kInvalidArgument);
}

}  // namespace
}  // namespace stator::recipes
