// SPDX-License-Identifier: Apache-2.0
#include "storage/row_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace stator {
namespace {

// Reads a row whose value in the database is `stored`. Returns whether it was cached.
bool read(RowCache& cache, const std::string& key, const std::string& stored) {
  RowCache::Read read(cache, key);
  std::string value;
  if (read.visit([&](std::string_view cached) { value = cached; })) {
    EXPECT_EQ(value, stored);
    return true;
  }
  read.offer(stored);
  return false;
}

TEST(RowCache, HasARowAfterItsSecondRead) {
  RowCache cache(1UL << 20);
  EXPECT_FALSE(read(cache, "key", "value"));
  EXPECT_EQ(cache.bytes(), 0U);
  EXPECT_FALSE(read(cache, "key", "value"));
  EXPECT_TRUE(read(cache, "key", "value"));
  EXPECT_FALSE(read(cache, "other key", "value"));
  EXPECT_GE(cache.bytes(), 8U);
}

TEST(RowCache, HasNoRowThatChanges) {
  RowCache cache(1UL << 20);
  for (int i = 0; i < 2; ++i) read(cache, "key", "old");
  cache.begin_change("key");
  EXPECT_EQ(cache.bytes(), 0U);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(read(cache, "key", "old"));
  cache.end_change("key");
  EXPECT_FALSE(read(cache, "key", "new"));
  EXPECT_TRUE(read(cache, "key", "new"));
}

TEST(RowCache, RefusesARowThatWasReadBeforeAChangeEnded) {
  RowCache cache(1UL << 20);
  for (const bool before : {true, false}) {
    if (!before) cache.begin_change("key");
    std::vector<RowCache::Read> reads(3, RowCache::Read(cache, "key"));
    for (auto& read : reads) EXPECT_FALSE(read.visit([](std::string_view) {}));
    if (before) cache.begin_change("key");
    cache.end_change("key");
    for (auto& read : reads) read.offer("old");
    EXPECT_EQ(cache.bytes(), 0U);
  }
}

TEST(RowCache, HasOtherRowsWhileSomeChange) {
  RowCache cache(64UL << 20);
  constexpr int kRows = 1000;
  for (int i = 0; i < 100; ++i) cache.begin_change("changing " + std::to_string(i));
  int cached = 0;
  for (int round = 0; round < 3; ++round) {
    cached = 0;
    for (int i = 0; i < kRows; ++i) cached += read(cache, std::to_string(i), "value") ? 1 : 0;
  }
  EXPECT_GE(cached, kRows * 3 / 4);
}

TEST(RowCache, HasNoRowOfARangeThatChanges) {
  RowCache cache(1UL << 20);
  const auto read_all = [&] {
    std::string cached;
    for (const char* key : {"a", "b", "c", "d"}) {
      if (read(cache, key, "value")) cached += key;
    }
    return cached;
  };
  for (int i = 0; i < 2; ++i) read_all();
  EXPECT_EQ(read_all(), "abcd");
  {
    const RowCache::RangeChange change(cache, {"b", "d"});
    EXPECT_EQ(read_all(), "ad");
    EXPECT_EQ(read_all(), "ad");
  }
  EXPECT_EQ(read_all(), "ad");
  EXPECT_EQ(read_all(), "abcd");
  const RowCache::RangeChange change(cache, {"b", ""});
  EXPECT_EQ(read_all(), "a");
}

TEST(RowCache, KeepsRecentlyReadRowsWithinItsLimit) {
  constexpr std::size_t kLimit = 1UL << 20;
  RowCache cache(kLimit);
  const std::string value(1000, 'x');
  int cached = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string key = "key " + std::to_string(i);
    read(cache, key, value);
    read(cache, key, value);
    cached += read(cache, "popular", value) ? 1 : 0;
    ASSERT_LE(cache.bytes(), kLimit);
  }
  EXPECT_GE(cache.bytes(), kLimit / 2);
  EXPECT_GE(cached, 19'990);
  EXPECT_FALSE(read(cache, "key 0", value));
  const std::string large(9UL << 10, 'x');
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(read(cache, "large", large));
}

TEST(RowCache, StaysEmptyIfRowsAreReadOnce) {
  RowCache cache(1UL << 20);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 100'000; ++i) read(cache, std::to_string(i), "value");
  }
  EXPECT_LE(cache.bytes(), 1000U);
}

TEST(RowCache, ReturnsWhatWasWrittenLast) {
  constexpr int kKeys = 8;
  RowCache cache(64UL << 10);
  std::array<std::atomic<int>, kKeys> stored{};
  const auto key_of = [](int i) { return "key " + std::to_string(i); };
  const auto run = [&](int first_key) {
    for (int n = 0; n < 20'000; ++n) {
      const int i = n % kKeys;
      const std::string key = key_of(i);
      if (i == first_key && n % 3 == 0) {  // each key has one writer
        cache.begin_change(key);
        ++stored[i];
        cache.end_change(key);
      }
      const int before = stored[i];
      RowCache::Read read(cache, key);
      int value = -1;
      if (!read.visit([&](std::string_view text) { value = std::stoi(std::string(text)); })) {
        value = stored[i];
        read.offer(std::to_string(value));
      }
      ASSERT_GE(value, before);
      ASSERT_LE(value, stored[i]);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kKeys; ++i) threads.emplace_back(run, i);
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace stator
