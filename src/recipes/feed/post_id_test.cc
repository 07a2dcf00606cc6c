// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "recipes/feed/post_keys.h"

namespace stator {
namespace {

using namespace std::chrono_literals;

const Time day = Time::parse("2024-05-01T12:00:00Z").value();

TEST(PostId, KeepsItsTimeToTheMicrosecond) {
  for (int us = 0; us < 1'000'000; us += 997) {
    const Time time = day + std::chrono::microseconds(us);
    EXPECT_EQ(PostId::make(time + 999ns).at(), time) << us;
  }
}

TEST(PostId, IsAUuidOfVersion7) {
  const PostId id = PostId::make(day);
  const std::string text = id.text();
  EXPECT_EQ(text.size(), 36U);
  EXPECT_EQ(text[14], '7');
  EXPECT_NE(std::string("89ab").find(text[19]), std::string::npos);
  EXPECT_EQ(PostId::parse(text).value(), id);
}

TEST(PostId, IsTheSameForTheSameTimeAndKey) {
  EXPECT_EQ(PostId::make(day, "order 7"), PostId::make(day, "order 7"));
  EXPECT_NE(PostId::make(day, "order 7"), PostId::make(day, "order 8"));
  EXPECT_NE(PostId::make(day), PostId::make(day));
}

TEST(PostId, RefusesOtherUuids) {
  for (const char* text :
       {"", "018f3a1e-7c00-4000-8000-000000000000", "018f3a1e-7c00-7000-0000-000000000000",
        "018f3a1e7c0070008000000000000000", "018f3a1e-7c00-7000-8000-00000000000g"}) {
    EXPECT_EQ(PostId::parse(text).error().code, Code::kInvalidArgument) << text;
  }
}

// Ids of close times, with any fraction and any random bits, as other generators make them.
std::vector<PostId> some_ids() {
  std::mt19937_64 random(7);
  std::vector<PostId> ids;
  ids.reserve(2002);
  for (int i = 0; i < 2000; ++i) {
    ids.push_back(PostKeys::id_of(1'714'564'800'000 + random() % 3,
                                  static_cast<uint32_t>(random() % 4096), random()));
  }
  ids.push_back(PostKeys::id_of(1'714'564'800'000, 0, 0));
  ids.push_back(PostKeys::id_of(1'714'564'800'000, 4095, ~uint64_t{0}));
  std::ranges::sort(ids);
  return ids;
}

TEST(PostKeys, OrderTheFeedAlikeInBothLayouts) {
  const std::vector<PostId> ids = some_ids();
  for (std::size_t i = 1; i < ids.size(); ++i) {
    const auto a = PostKeys::range_key(FeedLayout::kOrdered, ids[i - 1]).value();
    const auto b = PostKeys::range_key(FeedLayout::kOrdered, ids[i]).value();
    EXPECT_LT(*a.get_if<std::string>(), *b.get_if<std::string>());
    const auto c = PostKeys::range_key(FeedLayout::kNewestFirst, ids[i - 1]).value();
    const auto d = PostKeys::range_key(FeedLayout::kNewestFirst, ids[i]).value();
    EXPECT_GT(*c.get_if<Number>(), *d.get_if<Number>());
  }
}

TEST(PostKeys, IdentifyTheirPost) {
  for (const FeedLayout layout : {FeedLayout::kOrdered, FeedLayout::kNewestFirst}) {
    for (const PostId& id : some_ids()) {
      const auto place = PostKeys::place_of(PostKeys::range_key(layout, id).value());
      ASSERT_TRUE(place);
      EXPECT_EQ(place->id, id);
      EXPECT_EQ(place->at, id.at());
    }
  }
}

TEST(PostKeys, SortAmongWholeTicksByTheirTime) {
  const int64_t ns = day.unix_seconds() * 1'000'000'000;
  const auto key = PostKeys::range_key(FeedLayout::kNewestFirst, PostId::make(day)).value();
  EXPECT_GT(*key.get_if<Number>(), Number(INT64_MAX - ns - 1000));
  EXPECT_GT(*key.get_if<Number>(), Number(INT64_MAX - ns));
  EXPECT_LT(*key.get_if<Number>(), Number(INT64_MAX - ns + 1));

  const auto foreign = PostKeys::place_of(AttributeValue(Number(INT64_MAX - ns - 123)));
  ASSERT_TRUE(foreign);
  EXPECT_TRUE(foreign->id.is_nil());
  EXPECT_EQ(foreign->at, day + 123ns);
}

TEST(PostKeys, RejectIdsWithoutAPosition) {
  EXPECT_FALSE(PostKeys::range_key(FeedLayout::kOrdered, PostId()));
  const PostId far = PostId::make(Time::parse("2300-01-01T00:00:00Z").value());
  EXPECT_TRUE(PostKeys::range_key(FeedLayout::kOrdered, far));
  EXPECT_EQ(PostKeys::range_key(FeedLayout::kNewestFirst, far).error().code,
            Code::kInvalidArgument);
  EXPECT_FALSE(PostKeys::place_of(AttributeValue("x")));
  EXPECT_FALSE(PostKeys::place_of(AttributeValue(true)));
  EXPECT_FALSE(PostKeys::place_of(AttributeValue(-1)));
  EXPECT_FALSE(PostKeys::place_of(AttributeValue(Number::parse("1e100").value())));
}

}  // namespace
}  // namespace stator
