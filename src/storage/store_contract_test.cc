// SPDX-License-Identifier: Apache-2.0
// Guarantees of a store of one process in addition to TransactStore: LocalViews, and one order of
// all commits. Run on each such store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <future>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "storage/stores.h"
#include "support/matchers.h"
#include "support/temp_dir.h"

namespace stator {
namespace {

using test::FailsWith;
using test::IsOk;

class StoreContract : public testing::TestWithParam<std::string> {
 protected:
  StoreContract() { open(); }

  void open() {
    store.reset();
    if (GetParam() == "memory") {
      store = make_memory_store();
      return;
    }
    auto opened = open_rocks_store({.path = directory_.path() / "data",
                                    .durability = Durability::kOs,
                                    .write_buffer_bytes = 256UL << 10});
    ASSERT_THAT(opened, IsOk());
    store = std::move(*opened);
  }

  CommitOutcome write(const std::map<std::string, std::optional<std::string>>& rows) {
    Batch batch;
    for (const auto& [key, value] : rows) {
      value ? batch.put(key, *value) : batch.erase(key);
    }
    return write_and_wait(*store, std::move(batch)).outcome;
  }

  std::optional<std::string> get(const std::string& key) {
    std::optional<std::string> found;
    const auto present = read_value(*store, key, [&](std::string_view value) { found = value; });
    EXPECT_THAT(present, IsOk());
    EXPECT_EQ(*present, found.has_value());
    return found;
  }

  std::vector<std::string> keys_of(ReadView& view, const RangeRead& range,
                                   std::size_t most = SIZE_MAX) {
    std::vector<std::string> keys;
    EXPECT_THAT(view.scan(range,
                          [&](std::string_view key, std::string_view) {
                            keys.emplace_back(key);
                            return keys.size() < most;
                          }),
                IsOk());
    return keys;
  }

  // `key`: "log-", the commit version, and any suffix.
  static uint64_t commit_version_of(const std::string& key) {
    return read_big_endian(std::string_view(key).substr(4, kCommitVersionBytes));
  }
  std::set<uint64_t> commit_versions(ReadView& view) {
    std::set<uint64_t> found;
    for (const auto& key : keys_of(view, {.range = {.begin = "log-", .end = "log."}})) {
      found.insert(commit_version_of(key));
    }
    return found;
  }
  // Puts a row, and returns its commit version.
  uint64_t put_versioned() {
    Batch batch;
    batch.put_versioned("log-", "", "x");
    EXPECT_EQ(write_and_wait(*store, std::move(batch)).outcome, CommitOutcome::kCommitted);
    const auto found = commit_versions(*view());
    return found.empty() ? 0 : *found.rbegin();
  }

  uint64_t safe_position() {
    const auto position = store->safe_position();
    EXPECT_THAT(position, IsOk());
    return static_cast<uint64_t>(*position);
  }

  std::unique_ptr<ReadView> view() {
    auto made = store->local_views()->view();
    EXPECT_THAT(made, IsOk());
    return std::move(*made);
  }

  test::TempDir directory_;
  std::unique_ptr<TransactStore> store;
};

TEST_P(StoreContract, ShowsACommitWholeOnceItIsAcknowledged) {
  EXPECT_EQ(get("a"), std::nullopt);
  EXPECT_EQ(write({{"a", "1"}, {"b", ""}, {"c", std::nullopt}}), CommitOutcome::kCommitted);
  EXPECT_EQ(get("a"), "1");
  EXPECT_EQ(get("b"), "");
  EXPECT_EQ(get("c"), std::nullopt);
  EXPECT_EQ(write({{"a", std::nullopt}, {"b", "2"}}), CommitOutcome::kCommitted);
  EXPECT_EQ(get("a"), std::nullopt);
  EXPECT_EQ(get("b"), "2");
}

TEST_P(StoreContract, ScansAsAMapWould) {
  std::mt19937 random(7);
  std::map<std::string, std::string> model;
  for (int i = 0; i < 500; ++i) {
    std::string key(1 + random() % 3, '\0');
    for (char& c : key) c = static_cast<char>(random());
    if (random() % 4 == 0) {
      model.erase(key);
      write({{key, std::nullopt}});
    } else {
      model[key] = std::to_string(i);
      write({{key, model[key]}});
    }
  }
  const auto all = view();
  for (int i = 0; i < 200; ++i) {
    const std::string begin_key(1, static_cast<char>(random()));
    const std::string end_key = i % 5 == 0 ? "" : std::string(1, static_cast<char>(random()));
    std::vector<std::string> want;
    for (const auto& [key, value] : model) {
      if (key >= begin_key && (end_key.empty() || key < end_key)) want.push_back(key);
    }
    const RangeRead forward{.range = {begin_key, end_key}};
    EXPECT_EQ(keys_of(*all, forward), want);
    std::ranges::reverse(want);
    EXPECT_EQ(keys_of(*all, {.range = forward.range, .direction = Direction::kBackward}), want);
    if (want.size() > 2) want.resize(2);
    EXPECT_EQ(keys_of(*all, {.range = forward.range, .direction = Direction::kBackward}, 2), want);
  }
}

TEST_P(StoreContract, KeepsAViewUnchangedDuringWrites) {
  write({{"a", "1"}, {"b", "1"}, {"c", "1"}});
  auto before = view();
  for (int i = 0; i < 10; ++i) write({{"a", std::to_string(i)}, {"b", std::nullopt}, {"d", "new"}});
  EXPECT_EQ(keys_of(*before, {}), (std::vector<std::string>{"a", "b", "c"}));
  std::string a;
  EXPECT_TRUE(*before->get("a", [&](std::string_view value) { a = value; }));
  EXPECT_EQ(a, "1");
  EXPECT_FALSE(*before->get("d", [](std::string_view) {}));
  before.reset();
  EXPECT_EQ(keys_of(*view(), {}), (std::vector<std::string>{"a", "c", "d"}));
  write({{"c", std::nullopt}});
  EXPECT_EQ(keys_of(*view(), {}), (std::vector<std::string>{"a", "d"}));
}

TEST_P(StoreContract, AReaderOfLargeValuesDoesNotDelayWrites) {
  const std::string large(400'000, 'x');
  for (const auto direction : {Direction::kForward, Direction::kBackward}) {
    write({{"a", std::nullopt}, {"b", large}, {"c", large}, {"d", "small"}, {"e", large}});
    write({{"f", std::nullopt}});
    const auto write_meanwhile = [&] {
      auto written = std::async(std::launch::async, [this] {
        return write({{"a", "1"}, {"b", "2"}, {"c", std::nullopt}, {"d", "4"}, {"f", "6"}});
      });
      EXPECT_EQ(written.wait_for(std::chrono::seconds(20)), std::future_status::ready);
      return written;
    };
    std::optional<std::future<CommitOutcome>> scanned_meanwhile;
    std::map<std::string, std::size_t> sizes;
    const RangeRead all = {.range = {.begin = "a", .end = "z"}, .direction = direction};
    EXPECT_THAT(read_and_wait(*store, {.ranges = {&all, 1}},
                              [&](std::size_t, std::string_view key, std::string_view value) {
                                if (sizes.empty()) scanned_meanwhile = write_meanwhile();
                                sizes[std::string(key)] = value.size();
                                return true;
                              }),
                IsOk());
    EXPECT_THAT(sizes, testing::ElementsAre(testing::Pair("b", large.size()),
                                            testing::Pair("c", large.size()), testing::Pair("d", 5),
                                            testing::Pair("e", large.size())));
    std::optional<std::future<CommitOutcome>> read_meanwhile;
    EXPECT_THAT(read_value(*store, "e",
                           [&](std::string_view value) {
                             read_meanwhile = write_meanwhile();
                             EXPECT_EQ(value, large);
                           }),
                IsOk());
    EXPECT_EQ(scanned_meanwhile->get(), CommitOutcome::kCommitted);
    EXPECT_EQ(read_meanwhile->get(), CommitOutcome::kCommitted);
    EXPECT_EQ(get("a"), "1");
  }
}

TEST_P(StoreContract, ANumberedViewHasTheCommitsUpToItsSequenceAndNoOthers) {
  constexpr int kThreads = 4;
  constexpr int kEach = 200;
  std::mutex mutex;
  std::multiset<uint64_t> sequences;
  std::vector<std::pair<uint64_t, int>> views;  // sequence, rows
  {
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        for (int n = 0; n < kEach; ++n) {
          Batch batch;
          batch.put("row-" + std::to_string(i) + "-" + std::to_string(n), "");
          const CommitResult result = write_and_wait(*store, std::move(batch));
          EXPECT_EQ(result.outcome, CommitOutcome::kCommitted);
          const std::lock_guard lock(mutex);
          sequences.insert(result.sequence);
        }
      });
    }
    for (int n = 0; n < 50; ++n) {
      const auto numbered = store->local_views()->numbered_view();
      ASSERT_THAT(numbered, IsOk());
      int rows = 0;
      ASSERT_THAT(numbered->view->scan({},
                                       [&](std::string_view, std::string_view) {
                                         ++rows;
                                         return true;
                                       }),
                  IsOk());
      views.emplace_back(numbered->sequence, rows);
    }
  }
  for (const auto& [sequence, rows] : views) {
    EXPECT_EQ(rows, std::distance(sequences.begin(), sequences.upper_bound(sequence)));
  }
}

// Commits arrive in order, each before it is visible in a view.
TEST_P(StoreContract, ShowsCommitsToAnObserverBeforeOthersSeeThem) {
  class Observer final : public CommitObserver {
   public:
    void on_commit(uint64_t sequence, std::span<const Write> writes) override {
      const std::lock_guard lock(mutex_);
      EXPECT_GT(sequence, last_);
      last_ = sequence;
      for (const Write& write : writes) keys_.insert(write.key);
    }
    bool has_seen(const std::string& key) const {
      const std::lock_guard lock(mutex_);
      return keys_.contains(key);
    }

   private:
    mutable std::mutex mutex_;
    uint64_t last_ = 0;
    std::set<std::string> keys_;
  };
  write({{"before", "1"}});
  Observer observer;
  store->local_views()->observe(&observer);
  {
    constexpr int kWriters = 3;
    std::vector<std::jthread> writers;
    writers.reserve(kWriters);
    for (int i = 0; i < kWriters; ++i) {
      writers.emplace_back([&, i] {
        for (int n = 0; n < 100; ++n) {
          write({{"row-" + std::to_string(i) + "-" + std::to_string(n), "1"}});
        }
      });
    }
    for (int n = 0; n < 50; ++n) {
      for (const std::string& key : keys_of(*view(), {.range = {.begin = "row", .end = {}}})) {
        EXPECT_TRUE(observer.has_seen(key)) << key;
      }
    }
  }
  EXPECT_TRUE(observer.has_seen("row-2-99"));
  store->local_views()->observe(nullptr);
  write({{"behind", "1"}});
  EXPECT_FALSE(observer.has_seen("before"));
  EXPECT_FALSE(observer.has_seen("behind"));
}

TEST_P(StoreContract, DropsARangeAndNothingElse) {
  write({{"a", "1"}, {"b1", "1"}, {"b2", "1"}, {"c", "1"}});
  ASSERT_THAT(store->drop_range({"b", "c"}), IsOk());
  EXPECT_EQ(keys_of(*view(), {}), (std::vector<std::string>{"a", "c"}));
  ASSERT_THAT(store->drop_range({"c", "b"}), IsOk());
  EXPECT_EQ(keys_of(*view(), {}), (std::vector<std::string>{"a", "c"}));
  ASSERT_THAT(store->drop_range({"b", ""}), IsOk());
  EXPECT_EQ(keys_of(*view(), {}), (std::vector<std::string>{"a"}));
}

// ---- Commit versions

TEST_P(StoreContract, CommitVersionsFollowTheOrderOfPuts) {
  Batch batch;
  batch.put_versioned("log-", "-first", "1");
  batch.put("plain", "x");
  batch.put_versioned("log-", "", "2");
  ASSERT_EQ(write_and_wait(*store, std::move(batch)).outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(get("plain"), "x");
  const auto keys = keys_of(*view(), {.range = {.begin = "log-", .end = "log."}});
  ASSERT_EQ(keys.size(), 2U);
  EXPECT_TRUE(keys[0].starts_with("log-") && keys[0].ends_with("-first")) << keys[0];
  EXPECT_EQ(get(keys[0]), "1");
  EXPECT_EQ(get(keys[1]), "2");
  EXPECT_GT(commit_version_of(keys[0]), 0U);
  EXPECT_LT(commit_version_of(keys[0]), commit_version_of(keys[1]));
  EXPECT_LT(commit_version_of(keys[1]), safe_position());
}

// New rows in a later view must have higher commit versions than all rows in an earlier view.
TEST_P(StoreContract, ShowsNoCommitVersionBeforeAnEarlierOne) {
  constexpr int kWriters = 4;
  constexpr int kEach = 200;
  std::atomic<int> left = kWriters;
  std::vector<std::thread> writers;
  writers.reserve(kWriters);
  for (int i = 0; i < kWriters; ++i) {
    writers.emplace_back([&] {
      std::vector<std::future<void>> done;
      for (int n = 0; n < kEach; ++n) {
        auto committed = std::make_shared<std::promise<void>>();
        done.push_back(committed->get_future());
        Batch batch;
        batch.put_versioned("log-", "", "x");
        store->write(std::move(batch),
                     [committed](const CommitResult&) { committed->set_value(); });
      }
      for (auto& one : done) one.wait();
      --left;
    });
  }
  std::set<uint64_t> before;
  bool last = false;
  while (!last) {
    last = left == 0;
    const std::set<uint64_t> now = commit_versions(*view());
    const uint64_t latest = before.empty() ? 0 : *before.rbegin();
    std::size_t up_to = 0;
    for (const uint64_t commit_version : now) up_to += commit_version <= latest ? 1 : 0;
    EXPECT_EQ(up_to, before.size()) << "a row came with a commit version that had been passed";
    before = now;
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(before.size(), std::size_t{kWriters} * kEach) << "a commit version was given twice";
  EXPECT_LT(*before.rbegin(), safe_position());
}

// Dropping rows does not lower later commit versions.
TEST_P(StoreContract, CommitVersionsAscendAfterRowsWereDropped) {
  const uint64_t first = put_versioned();
  ASSERT_THAT(store->drop_range({.begin = "log-", .end = "log."}), IsOk());
  EXPECT_GT(put_versioned(), first);
}

TEST_P(StoreContract, CommitVersionsAscendAfterTheStoreWasOpenedAgain) {
  if (GetParam() == "memory") GTEST_SKIP() << "nothing is there to be opened again";
  uint64_t last = 0;
  for (int i = 0; i < 5; ++i) {
    const uint64_t next = put_versioned();
    EXPECT_GT(next, last);
    last = next;
    open();
    EXPECT_GT(safe_position(), last);
  }
  const auto copy = directory_.path() / "copy";
  ASSERT_THAT(store->files()->checkpoint(copy), IsOk());
  auto copied = open_rocks_store({.path = copy});
  ASSERT_THAT(copied, IsOk());
  store = std::move(*copied);
  EXPECT_GT(put_versioned(), last);
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract, testing::Values("memory", "rocks"),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace stator
