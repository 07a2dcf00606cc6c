// SPDX-License-Identifier: Apache-2.0
// Guarantees of every TransactStore, run on each of them.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <future>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "storage/transact_fixture.h"
#include "support/must.h"

namespace stator {
namespace {

using test::commit_version_in;
using test::IsOk;
using test::kSeed;
using test::must;
using test::Row;
using Keys = std::vector<std::string>;

class TransactContract : public test::TransactStores {};

Batch put_of(const std::string& key, const std::string& value) {
  Batch batch;
  batch.put(key, value);
  return batch;
}

TEST_P(TransactContract, DecidesOnTheRowsInTheOrderOfTheKeys) {
  put("b", "2");
  put("d", "");
  std::vector<std::optional<std::string>> seen;
  transact({"d", "c", "b", "d"}, [&](GuardedRows rows) {
    seen.assign(rows.begin(), rows.end());
    return Batch();
  });
  EXPECT_EQ(seen, (std::vector<std::optional<std::string>>{"", std::nullopt, "2", ""}));
}

TEST_P(TransactContract, WritesTheBatchWholeOrNothing) {
  put("gone", "1");
  transact({"a"}, [](GuardedRows) {
    Batch batch;
    batch.put("a", "1");
    batch.erase("a");
    batch.put("a", "3");
    batch.put("b", "1");
    batch.erase("b");
    batch.put("c", "");
    batch.erase("gone");
    batch.erase("never");
    return batch;
  });
  transact({"a"}, [](GuardedRows) { return Batch(); });
  EXPECT_EQ(get("a"), "3");
  EXPECT_EQ(get("b"), std::nullopt);
  EXPECT_EQ(get("c"), "");
  EXPECT_EQ(get("gone"), std::nullopt);
  EXPECT_EQ(get("a", 1), "3") << "in the other store";
}

TEST_P(TransactContract, OneOfManyCreatesAnAbsentKey) {
  for (int round = 0; round < 30; ++round) {
    const Keys key{"key-" + std::to_string(round)};
    std::atomic<int> winners = 0;
    std::vector<std::jthread> threads;
    threads.reserve(6);
    for (std::size_t user = 0; user < 6; ++user) {
      threads.emplace_back([&, user] {
        bool creates = false;
        transact(store(user), key, [&](GuardedRows rows) {
          creates = !rows[0];
          return creates ? put_of(key[0], std::to_string(user)) : Batch();
        });
        if (creates) ++winners;
      });
    }
    threads.clear();
    ASSERT_EQ(winners, 1) << "round " << round;
  }
}

// The header contains a secret: each concurrent startup must use the stored one.
TEST_P(TransactContract, FirstStartsAtOnceAgreeOnOneHeader) {
  for (int round = 0; round < 30; ++round) {
    const Keys header{"header-" + std::to_string(round)};
    std::vector<std::string> used(4);
    {
      std::vector<std::jthread> threads;
      threads.reserve(used.size());
      for (std::size_t user = 0; user < used.size(); ++user) {
        threads.emplace_back([&, user] {
          transact(store(user), header, [&](GuardedRows rows) {
            used[user] = rows[0].value_or("secret of " + std::to_string(user));
            return rows[0] ? Batch() : put_of(header[0], used[user]);
          });
        });
      }
    }
    for (const std::string& secret : used) ASSERT_EQ(secret, get(header[0])) << "round " << round;
  }
}

TEST_P(TransactContract, CountsEveryIncrementOnce) {
  constexpr int kThreads = 6;
  constexpr int kEach = 100;
  std::vector<std::jthread> threads;
  threads.reserve(kThreads);
  for (std::size_t user = 0; user < kThreads; ++user) {
    threads.emplace_back([&, user] {
      for (int n = 0; n < kEach; ++n) {
        transact(store(user), {"counter"}, [](GuardedRows rows) {
          return put_of("counter", std::to_string(std::stoi(rows[0].value_or("0")) + 1));
        });
      }
    });
  }
  threads.clear();
  EXPECT_EQ(get("counter"), std::to_string(kThreads * kEach));
}

// In commit order, each of them must see the value of the one before it.
TEST_P(TransactContract, AForeseenWriteSeesTheRowsThatItReplaced) {
  constexpr std::size_t kThreads = 6;
  constexpr int kEach = 50;
  const std::vector<std::string> keys{"one", "other"};
  using Before = std::vector<std::optional<std::string>>;
  std::array<std::map<std::string, Before>, kThreads> seen;  // by the value that was written
  std::vector<std::jthread> threads;
  threads.reserve(kThreads);
  for (std::size_t user = 0; user < kThreads; ++user) {
    threads.emplace_back([&, user] {
      for (int n = 0; n < kEach; ++n) {
        const std::string value = std::to_string(user) + "-" + std::to_string(n);
        CommitOutcome outcome{};
        do {
          std::promise<CommitOutcome> ended;
          store(user).transact_foreseen(
              keys,
              [&](GuardedRows rows) {
                seen[user][value].assign(rows.begin(), rows.end());
                Batch batch;
                for (const std::string& key : keys) batch.put(key, value);
                return batch;
              },
              [&](const CommitResult& result) { ended.set_value(result.outcome); });
          outcome = ended.get_future().get();
        } while (outcome == CommitOutcome::kConflict);
        EXPECT_EQ(outcome, CommitOutcome::kCommitted);
      }
    });
  }
  threads.clear();

  std::map<std::string, int> replaced;
  int first = 0;
  for (const auto& of_user : seen) {
    for (const auto& [value, before] : of_user) {
      EXPECT_EQ(before[0], before[1]) << "one state";
      if (before[0]) {
        EXPECT_EQ(++replaced[*before[0]], 1) << *before[0];
      } else {
        ++first;
      }
    }
  }
  const auto last = get("one");
  ASSERT_TRUE(last);
  EXPECT_EQ(get("other"), last);
  EXPECT_FALSE(replaced.contains(*last));
  // Others see absent rows only if the reply to their commit was lost.
  EXPECT_TRUE(first == 1 || GetParam() == "faulty") << first;
}

// Each transaction appends to the value that it read; a write replaces it. In commit order, every
// value must follow from the previous one.
TEST_P(TransactContract, NoTransactionCommitsOnAValueThatAWriteReplaced) {
  std::mutex mutex;
  std::map<uint64_t, std::string> values;  // by sequence
  std::vector<std::jthread> threads;
  threads.reserve(4);
  for (std::size_t user = 0; user < 4; ++user) {
    threads.emplace_back([&, user] {
      for (int n = 0; n < 60; ++n) {
        const std::string mark = std::to_string(user) + "." + std::to_string(n);
        std::string value = "=" + mark;
        CommitResult result;
        if (user % 2 == 0) {
          result = write(store(user / 2), put_of("key", value));
        } else {
          result = transact(store(user / 2), {"key"}, [&](GuardedRows rows) {
            value = rows[0].value_or("") + "+" + mark;
            return put_of("key", value);
          });
        }
        const std::lock_guard lock(mutex);
        EXPECT_TRUE(values.emplace(result.sequence, value).second) << "two with one number";
      }
    });
  }
  threads.clear();
  std::string before;
  for (const auto& [sequence, value] : values) {
    if (value.contains('+')) {
      EXPECT_EQ(value.substr(0, value.rfind('+')), before) << "at " << sequence;
    }
    before = value;
  }
  EXPECT_EQ(get("key"), before);
}

TEST_P(TransactContract, AWriteIsOrderedBeforeOrAfterATransactionThatReadsIt) {
  put("key", "old");
  std::atomic<bool> has_read = false;
  std::atomic<bool> is_written = false;
  CommitResult written;
  std::jthread writer([&] {
    has_read.wait(false);
    written = write(store(1), put_of("key", "new"));
    is_written = true;
  });
  std::string seen;
  const CommitResult result = transact({"key"}, [&](GuardedRows rows) {
    seen = *rows[0];
    has_read = true;
    has_read.notify_all();
    // Gives the write some time. It might have to wait for this transaction.
    for (int i = 0; i < 10'000 && !is_written; ++i) std::this_thread::yield();
    return put_of("key", seen + " and more");
  });
  writer.join();
  EXPECT_EQ(seen, written.sequence < result.sequence ? "new" : "old");
  EXPECT_EQ(get("key"), written.sequence < result.sequence ? "new and more" : "new");
}

// ---- Reads

// Returns the model's rows within a range, in its direction.
std::vector<Row> rows_in(const std::map<std::string, std::string>& model, const RangeRead& read) {
  std::vector<Row> rows;
  for (const auto& [key, value] : model) {
    const bool ends = !read.range.end.empty() && key >= read.range.end;
    if (key >= read.range.begin && !ends) rows.push_back({key, value});
  }
  if (read.direction == Direction::kBackward) std::ranges::reverse(rows);
  return rows;
}

TEST_P(TransactContract, ReadsAsAMapWouldAndResumesWhereTheVisitorStopped) {
  std::mt19937 random(kSeed);
  std::map<std::string, std::string> model;
  const auto random_key = [&](std::size_t length_min) {
    std::string key(length_min + random() % 3, '\0');
    for (char& byte : key) byte = static_cast<char>(random() % 2 == 0 ? random() : 'a');
    return key;
  };
  Batch batch;
  for (int i = 0; i < 200; ++i) {
    const std::string key = random_key(1);
    model[key] = std::string(random() % 20, 'x');
    batch.put(key, model[key]);
  }
  write(store(), batch);

  for (int i = 0; i < 60; ++i) {
    SCOPED_TRACE("request " + std::to_string(i) + " of seed " + std::to_string(kSeed));
    Keys keys;
    std::vector<RangeRead> ranges;
    std::vector<std::pair<std::size_t, Row>> wanted;  // with their parts
    for (std::size_t n = random() % 5; n > 0; --n) {
      const auto row =
          std::next(model.begin(), static_cast<std::ptrdiff_t>(random() % model.size()));
      keys.push_back(random() % 3 == 0 ? random_key(4) : row->first);
      const auto found = model.find(keys.back());
      if (found != model.end()) wanted.push_back({keys.size() - 1, {found->first, found->second}});
    }
    for (std::size_t n = random() % 4; n > 0; --n) {
      ranges.push_back({.range = {random_key(0), random() % 4 == 0 ? "" : random_key(0)},
                        .direction = random() % 2 == 0 ? Direction::kForward : Direction::kBackward,
                        .expected_rows = random() % 40});
      for (Row& row : rows_in(model, ranges.back())) {
        wanted.push_back({keys.size() + ranges.size() - 1, std::move(row)});
      }
    }

    std::vector<std::pair<std::size_t, Row>> seen;
    std::size_t first_part = 0;  // of the ranges that are left to read
    bool more = true;
    while (more) {
      const std::size_t most = 1 + random() % 40;
      std::size_t count = 0;
      const std::size_t first_range = first_part < keys.size() ? 0 : first_part - keys.size();
      const ReadRequest request{.keys = std::span(keys).subspan(std::min(first_part, keys.size())),
                                .ranges = std::span(ranges).subspan(first_range),
                                .one_state = random() % 2 == 0};
      ASSERT_THAT(read_and_wait(
                      store(), request,
                      [&](std::size_t part, std::string_view key, std::string_view value) {
                        seen.push_back({first_part + part, {std::string(key), std::string(value)}});
                        return ++count < most;
                      }),
                  IsOk());
      ASSERT_LE(count, most) << "it went on after the visitor had stopped it";
      more = count == most;
      if (!more) break;
      first_part = seen.back().first;
      if (first_part < keys.size()) {
        ++first_part;
        continue;
      }
      RangeRead& rest = ranges[first_part - keys.size()];
      if (rest.direction == Direction::kForward) {
        rest.range.begin = seen.back().second.key + '\0';
      } else {
        rest.range.end = seen.back().second.key;
      }
    }
    EXPECT_EQ(seen, wanted);
  }
}

TEST_P(TransactContract, ReadsOneStateWhileOthersMoveBetweenKeys) {
  const Keys keys{"k0", "k1", "k2", "k3"};
  Batch begin;
  for (const std::string& key : keys) begin.put(key, "100");
  write(store(), begin);
  std::atomic<int> left = 4;
  std::vector<std::jthread> threads;
  threads.reserve(4);
  for (std::size_t user = 0; user < 4; ++user) {
    threads.emplace_back([&, user] {
      std::mt19937 random(static_cast<unsigned>(user));
      for (int n = 0; n < 80; ++n) {
        const std::size_t from = random() % 4;
        const std::size_t to = (from + 1 + random() % 3) % 4;
        transact(store(user), {keys[from], keys[to]}, [&](GuardedRows rows) {
          Batch batch;
          batch.put(keys[from], std::to_string(std::stoi(*rows[0]) - 1));
          batch.put(keys[to], std::to_string(std::stoi(*rows[1]) + 1));
          return batch;
        });
      }
      --left;
    });
  }
  const auto add = [](int& sum, std::string_view value) { sum += std::stoi(std::string(value)); };
  const KeyRange all{"k0", "l"};
  const Keys first{"k0"};
  const std::vector<RangeRead> others{{.range = {"k1", "k3"}}, {.range = {"k3", "l"}}};
  while (left > 0) {
    int sum = 0;
    ASSERT_THAT(read_and_wait(store(1), {.keys = first, .ranges = others, .one_state = true},
                              [&](std::size_t, std::string_view, std::string_view value) {
                                add(sum, value);
                                return true;
                              }),
                IsOk());
    ASSERT_EQ(sum, 400);
    // A single range always shows one state.
    sum = 0;
    ASSERT_THAT(read_range(store(1), {.range = all},
                           [&](std::string_view, std::string_view value) {
                             add(sum, value);
                             return true;
                           }),
                IsOk());
    ASSERT_EQ(sum, 400);
    ASSERT_THAT(view_and_wait(store(1),
                              [&](ReadView& view) -> Result<void> {
                                for (const std::string& key : keys) {
                                  sum = key == "k0" ? 0 : sum;
                                  STATOR_ASSIGN_OR_RETURN(
                                      const bool found,
                                      view.get(key, [&](auto value) { add(sum, value); }));
                                  EXPECT_TRUE(found);
                                  std::this_thread::yield();
                                }
                                return view.scan({.range = all},
                                                 [&](std::string_view, std::string_view value) {
                                                   add(sum, value);
                                                   return true;
                                                 });
                              }),
                IsOk());
    ASSERT_EQ(sum, 2 * 400);
  }
}

TEST_P(TransactContract, OfALocalStoreDecidesAndVisitsOnTheCallingThread) {
  if (store().capabilities().several_processes) GTEST_SKIP() << "a shared store has threads";
  const auto is_here = [here = std::this_thread::get_id()] {
    return std::this_thread::get_id() == here;
  };
  const Keys keys = {"key"};
  int calls = 0;
  const auto committed = transact_and_wait(store(), keys, [&](GuardedRows) {
    calls += is_here() ? 1 : 0;
    return put_of("key", "value");
  });
  ASSERT_EQ(committed.outcome, CommitOutcome::kCommitted);
  store().read(
      {.keys = keys},
      [&](std::size_t, std::string_view, std::string_view) {
        calls += is_here() ? 1 : 0;
        return true;
      },
      [&](const Result<void>& read) { calls += read && is_here() ? 1 : 0; });
  EXPECT_EQ(calls, 3);
}

TEST_P(TransactContract, AViewVisitsSeveralKeysInTheirOrder) {
  Batch rows;
  rows.put("a", "1");
  rows.put("b", "2");
  write(store(), rows);
  std::vector<std::string> keys = {"b", "absent", "a", "b"};
  const auto visited = [&](std::size_t rows_max) {
    return must(with_view(store(), [&](ReadView& view) -> Result<std::string> {
      std::string all;
      std::size_t count = 0;
      STATOR_RETURN_IF_ERROR(
          view.get_many(keys, [&](std::size_t part, std::string_view key, std::string_view value) {
            all.append(std::to_string(part)).append(key).append(value).append(" ");
            return ++count < rows_max;
          }));
      STATOR_RETURN_IF_ERROR(view.get_many({}, [&](auto...) { return ++count > 0; }));
      return all;
    }));
  };
  EXPECT_EQ(visited(4), "0b2 2a1 3b2 ");
  EXPECT_EQ(visited(2), "0b2 2a1 ");
  for (int i = 4; i < 30; ++i) keys.push_back("absent" + std::to_string(i));
  keys.push_back("a");
  EXPECT_EQ(visited(4), "0b2 2a1 3b2 30a1 ");
}

TEST_P(TransactContract, AViewReturnsTheErrorOfItsBody) {
  int runs = 0;
  const auto read = with_view(store(), [&](ReadView&) -> Result<int> {
    ++runs;
    return fail(Code::kCorruption, "no row");
  });
  EXPECT_THAT(read, test::FailsWith(Code::kCorruption, "no row"));
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(with_view(store(), [](ReadView&) { return Result<int>(7); }), 7);
}

// ---- Commit versions

TEST_P(TransactContract, CommitVersionsAscendWithinABatchAndFromCommitToCommitOfAKey) {
  std::vector<std::jthread> threads;
  threads.reserve(4);
  for (std::size_t user = 0; user < 4; ++user) {
    threads.emplace_back([&, user] {
      for (int n = 0; n < 50; ++n) {
        transact(store(user), {"counter"}, [](GuardedRows rows) {
          const int count = std::stoi(rows[0].value_or("0"));
          Batch batch;
          batch.put_versioned("log-", "-first", std::to_string(2 * count));
          batch.put("counter", std::to_string(count + 1));
          batch.put_versioned("log-", "", std::to_string(2 * count + 1));
          return batch;
        });
      }
    });
  }
  threads.clear();
  const auto log = rows_of(store(), {"log-", "log."});
  ASSERT_EQ(log.size(), 400U);
  for (std::size_t i = 0; i < log.size(); ++i) {
    EXPECT_EQ(log[i].value, std::to_string(i));
    EXPECT_EQ(log[i].key.ends_with("-first"), i % 2 == 0);
    EXPECT_GT(commit_version_in(log[i].key, "log-"), 0U);
  }
}

TEST_P(TransactContract, NothingCommitsBelowASafePosition) {
  constexpr std::size_t kWriters = 4;
  constexpr int kEach = 150;
  std::atomic<std::size_t> left = kWriters;
  std::vector<std::jthread> threads;
  threads.reserve(kWriters);
  for (std::size_t user = 0; user < kWriters; ++user) {
    threads.emplace_back([&, user] {
      for (int n = 0; n < kEach; ++n) {
        Batch batch;
        // Rows without a commit version, which positions ignore.
        for (int i = 0; i < 5; ++i) batch.put(std::to_string(user) + std::to_string(i), "x");
        batch.put_versioned("log-", std::to_string(user), "x");
        write(store(user), batch);
      }
      --left;
    });
  }
  std::size_t before = 0;
  LogPosition position{};
  for (bool last = false; !last;) {
    last = left == 0;
    const auto below = [&](const std::vector<Row>& log) {
      return static_cast<std::size_t>(std::ranges::count_if(log, [&](const Row& row) {
        return LogPosition{commit_version_in(row.key, "log-")} < position;
      }));
    };
    EXPECT_EQ(below(rows_of(store(1), {"log-", "log."})), before) << "a row came below it";
    const auto next = store(1).safe_position();
    ASSERT_THAT(next, IsOk());
    EXPECT_GE(*next, position);
    position = *next;
    before = below(rows_of(store(1), {"log-", "log."}));
  }
  threads.clear();
  EXPECT_EQ(before, kWriters * kEach) << "all of them, when nobody writes any more";
}

// ---- Callbacks and the rest

TEST_P(TransactContract, ACallbackMayCallTheStore) {
  std::promise<std::optional<std::string>> found;
  const Keys keys{"a"};
  const Keys other{"b"};
  std::optional<std::string> value;
  const auto visit = [&](std::size_t, std::string_view, std::string_view row) {
    value = row;
    return true;
  };
  store().transact(
      keys, [](GuardedRows) { return put_of("a", "1"); },
      [&](const CommitResult& first) {
        EXPECT_EQ(first.outcome, CommitOutcome::kCommitted);
        store().write(put_of("b", "2"), [&](const CommitResult& second) {
          EXPECT_EQ(second.outcome, CommitOutcome::kCommitted);
          store().read({.keys = other}, visit, [&](const Result<void>& result) {
            found.set_value(result ? value : std::nullopt);
          });
        });
      });
  EXPECT_EQ(found.get_future().get(), "2");
}

TEST_P(TransactContract, FinishesCallsBeforeItIsDestroyed) {
  std::atomic<int> committed = 0;
  std::vector<Keys> keys;
  keys.reserve(60);
  for (int i = 0; i < 60; ++i) keys.push_back({"key-" + std::to_string(i)});
  for (const Keys& key : keys) {
    store().transact(
        key, [&](GuardedRows) { return put_of(key[0], "x"); },
        [&](const CommitResult& result) {
          if (result.outcome == CommitOutcome::kCommitted) ++committed;
        });
  }
  stores_.clear();
  EXPECT_EQ(committed, 60);
}

TEST_P(TransactContract, DropsARangeAndNothingElse) {
  for (const char* key : {"a", "b1", "b2", "c"}) put(key, "1");
  ASSERT_THAT(store().drop_range({"b", "c"}), IsOk());
  ASSERT_THAT(store().drop_range({"c", "b"}), IsOk());
  EXPECT_EQ(rows_of(store(1), {}), (std::vector<Row>{{"a", "1"}, {"c", "1"}}));
}

TEST_P(TransactContract, HasFilesToCopyOnlyOnADisk) {
  put("a", "1");
  StoreFiles* const files = store().files();
  ASSERT_EQ(files != nullptr, GetParam() == "rocks");
  if (files == nullptr) return;
  files->verify_files([](std::string_view damage) { ADD_FAILURE() << damage; },
                      [](uint64_t, uint64_t) {});
  const auto copy = directory_.path() / "copy";
  ASSERT_THAT(files->checkpoint(copy), IsOk());
  auto copied = open_rocks_store({.path = copy, .create_if_missing = false});
  ASSERT_THAT(copied, IsOk());
  EXPECT_EQ(values_of(**copied, {"a"})[0], "1");
  EXPECT_GE(*(*copied)->safe_position(), *store().safe_position());
}

INSTANTIATE_TEST_SUITE_P(Stores, TransactContract, testing::ValuesIn(test::store_kinds()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace stator
