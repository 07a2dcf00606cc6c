// SPDX-License-Identifier: Apache-2.0
// Random histories of concurrent transactions, checked for an order that explains them.
//
// Each value is a list of the marks of transactions that appended to it. So a read shows the
// earlier commits of a key in their order. A transaction comes after those whose marks it read, and
// before the next one that appended. If this relation has a cycle, no order explains the history.
#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include "storage/transact_fixture.h"

namespace stator {
namespace {

using test::kSeed;

constexpr std::size_t kKeys = 5;

struct Observed {
  std::map<std::size_t, std::vector<int>> read;  // by key: the marks found
  std::set<std::size_t> appended;                // keys
};

std::vector<int> marks_of(const std::optional<std::string>& value) {
  std::vector<int> marks;
  std::istringstream words(value.value_or(""));
  for (int mark = 0; words >> mark;) marks.push_back(mark);
  return marks;
}

class History {
 public:
  void add(int mark, Observed observed) {
    const std::lock_guard lock(mutex_);
    transactions_.emplace(mark, std::move(observed));
  }

  // `final_marks`: for each key, the marks after all writes.
  void check(const std::vector<std::vector<int>>& final_marks) {
    for (std::size_t key = 0; key < kKeys; ++key) check_key(key, final_marks[key]);
    for (const auto& [mark, observed] : transactions_) visit(mark);
  }

 private:
  enum class State { kNew, kOpen, kDone };

  void check_key(std::size_t key, const std::vector<int>& order) {
    EXPECT_EQ(std::set<int>(order.begin(), order.end()).size(), order.size())
        << "a commit was applied twice";
    std::size_t committed = 0;
    for (const auto& [mark, observed] : transactions_) {
      if (observed.appended.contains(key)) {
        ++committed;
        EXPECT_EQ(std::ranges::count(order, mark), 1) << "a commit was lost";
      }
      const auto read = observed.read.find(key);
      if (read == observed.read.end()) continue;
      const std::vector<int>& seen = read->second;
      ASSERT_TRUE(seen.size() <= order.size() &&
                  std::ranges::equal(seen, std::span(order).first(seen.size())))
          << "a read of what nobody committed";
      if (!seen.empty()) later_[seen.back()].insert(mark);
      if (seen.size() < order.size()) later_[mark].insert(order[seen.size()]);
    }
    EXPECT_EQ(order.size(), committed) << "something was applied that did not commit";
    for (std::size_t i = 1; i < order.size(); ++i) later_[order[i - 1]].insert(order[i]);
  }

  void visit(int mark) {
    if (states_[mark] == State::kDone) return;
    states_[mark] = State::kOpen;
    for (const int next : later_[mark]) {
      if (next == mark) continue;
      ASSERT_NE(states_[next], State::kOpen) << "no order explains " << mark << " and " << next;
      visit(next);
    }
    states_[mark] = State::kDone;
  }

  std::mutex mutex_;
  std::map<int, Observed> transactions_;
  std::map<int, std::set<int>> later_;
  std::map<int, State> states_;
};

class TransactHistories : public test::TransactStores {};

TEST_P(TransactHistories, HaveAnOrderThatExplainsThem) {
  constexpr int kUsers = 4;
  constexpr int kEach = 120;
  History history;
  std::vector<std::string> names;
  names.reserve(kKeys);
  for (std::size_t key = 0; key < kKeys; ++key) names.push_back("key-" + std::to_string(key));
  std::vector<std::jthread> threads;
  threads.reserve(kUsers);
  for (int user = 0; user < kUsers; ++user) {
    threads.emplace_back([&, user] {
      std::mt19937 random(kSeed + static_cast<unsigned>(user));
      for (int n = 0; n < kEach; ++n) {
        const int mark = 1 + n * kUsers + user;
        std::vector<std::size_t> keys;
        for (std::size_t key = 0; key < kKeys; ++key) {
          if (random() % 2 == 0) keys.push_back(key);
        }
        std::ranges::shuffle(keys, random);
        std::vector<bool> appends;
        appends.reserve(keys.size());
        for (std::size_t i = 0; i < keys.size(); ++i) appends.push_back(random() % 2 == 0);
        std::vector<std::string> guarded;
        guarded.reserve(keys.size());
        for (const std::size_t key : keys) guarded.push_back(names[key]);
        Observed observed;
        transact(store(static_cast<std::size_t>(user)), guarded, [&](GuardedRows rows) {
          observed = {};
          Batch batch;
          for (std::size_t i = 0; i < keys.size(); ++i) {
            observed.read[keys[i]] = marks_of(rows[i]);
            if (!appends[i]) continue;
            observed.appended.insert(keys[i]);
            batch.put(guarded[i], rows[i].value_or("") + " " + std::to_string(mark));
          }
          return batch;
        });
        history.add(mark, std::move(observed));
      }
    });
  }
  threads.clear();
  opened_.deliver_late();
  std::vector<std::vector<int>> final_marks;
  final_marks.reserve(kKeys);
  for (const auto& value : values_of(store(), names)) final_marks.push_back(marks_of(value));
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  history.check(final_marks);
}

// One user: every operation is compared with a map.
TEST_P(TransactHistories, OfOneUserAreThoseOfAMap) {
  std::mt19937 random(kSeed);
  std::map<std::string, std::string> model;
  const auto random_key = [&] {
    return std::string(1 + random() % 2, static_cast<char>('a' + random() % 6));
  };
  for (int step = 0; step < 400; ++step) {
    SCOPED_TRACE("step " + std::to_string(step) + " of seed " + std::to_string(kSeed));
    TransactStore& on = store(random() % 2);
    const std::vector<std::string> keys{random_key(), random_key()};
    Batch batch;
    const auto change = [&](const std::string& key, std::optional<std::string> value) {
      value ? batch.put(key, *value) : batch.erase(key);
      value ? static_cast<void>(model[key] = *value) : static_cast<void>(model.erase(key));
    };
    const auto found = [&](const std::string& key) {
      const auto row = model.find(key);
      return row == model.end() ? std::nullopt : std::optional(row->second);
    };
    switch (random() % 4) {
      case 0:
        change(random_key(), std::to_string(step));
        change(random_key(), std::nullopt);
        write(on, batch);
        break;
      case 1: {
        const auto first = found(keys[0]);
        const auto second = found(keys[1]);
        change(keys[1], first ? std::optional(*first + "'") : std::nullopt);
        transact(on, keys, [&](GuardedRows rows) {
          EXPECT_EQ(rows[0], first);
          EXPECT_EQ(rows[1], second);
          return batch;
        });
        break;
      }
      case 2:
        EXPECT_EQ(values_of(on, keys), (std::vector{found(keys[0]), found(keys[1])}));
        break;
      default: {
        std::vector<test::Row> wanted;
        wanted.reserve(model.size());
        for (const auto& [key, value] : model) wanted.push_back({key, value});
        EXPECT_EQ(rows_of(on, {}), wanted);
      }
    }
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, TransactHistories, testing::ValuesIn(test::store_kinds()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace stator
