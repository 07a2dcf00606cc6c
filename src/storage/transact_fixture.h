// SPDX-License-Identifier: Apache-2.0
// Common parts of the tests of TransactStore: every kind of store, opened twice if it can be
// shared.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "storage/stores.h"
#include "support/matchers.h"
#include "support/temp_dir.h"

namespace stator::test {

inline constexpr uint32_t kSeed = 20260;

struct Row {
  std::string key;
  std::string value;
  bool operator==(const Row&) const = default;
};

// The stores of one test: one, or several on one backend.
struct OpenedStores {
  std::shared_ptr<void> backend;  // destroyed after the stores
  std::vector<std::unique_ptr<TransactStore>> stores;
  // Delivers delayed requests.
  std::function<void()> deliver_late = [] {};
};

// Returns the kinds of stores for the suites; each test program defines it. `directory` is empty.
std::vector<std::string> store_kinds();
OpenedStores open_stores(const std::string& kind, const std::filesystem::path& directory);

class TransactStores : public testing::TestWithParam<std::string> {
 protected:
  TransactStores() : opened_(open_stores(GetParam(), directory_.path())) {}
  ~TransactStores() override {
    stores_.clear();
    opened_.deliver_late();
  }

  // The store of one of several users.
  TransactStore& store(std::size_t user = 0) { return *stores_[user % stores_.size()]; }

  // Repeats the transaction until it does not conflict.
  CommitResult transact(TransactStore& on, const std::vector<std::string>& keys,
                        FunctionRef<Batch(GuardedRows)> decide) {
    CommitResult result;
    do {
      result = transact_and_wait(on, keys, decide);
    } while (result.outcome == CommitOutcome::kConflict);
    EXPECT_EQ(result.outcome, CommitOutcome::kCommitted) << result.error.message;
    return result;
  }
  CommitResult transact(const std::vector<std::string>& keys,
                        FunctionRef<Batch(GuardedRows)> decide) {
    return transact(store(), keys, decide);
  }
  CommitResult write(TransactStore& on, const Batch& batch) {
    CommitResult result;
    do {
      result = write_and_wait(on, batch);
    } while (result.outcome == CommitOutcome::kConflict);
    EXPECT_EQ(result.outcome, CommitOutcome::kCommitted) << result.error.message;
    return result;
  }
  void put(const std::string& key, const std::string& value) {
    Batch batch;
    batch.put(key, value);
    write(store(), batch);
  }

  // Returns the values of keys; absent for absent keys.
  std::vector<std::optional<std::string>> values_of(TransactStore& on,
                                                    const std::vector<std::string>& keys) {
    std::vector<std::optional<std::string>> values(keys.size());
    EXPECT_THAT(read_and_wait(on, {.keys = keys},
                              [&](std::size_t part, std::string_view key, std::string_view value) {
                                EXPECT_EQ(key, keys[part]);
                                values[part] = value;
                                return true;
                              }),
                IsOk());
    return values;
  }
  std::optional<std::string> get(const std::string& key, std::size_t user = 0) {
    return values_of(store(user), {key})[0];
  }
  // Reads the rows in steps of a few rows.
  std::vector<Row> rows_of(TransactStore& on, KeyRange range) {
    constexpr std::size_t kAtOnce = 30;
    std::vector<Row> rows;
    bool more = true;
    while (more) {
      std::size_t count = 0;
      EXPECT_THAT(read_range(on, {.range = range},
                             [&](std::string_view key, std::string_view value) {
                               rows.push_back({std::string(key), std::string(value)});
                               return ++count < kAtOnce;
                             }),
                  IsOk());
      more = count == kAtOnce;
      if (more) range.begin = rows.back().key + '\0';
    }
    return rows;
  }

  TempDir directory_;
  OpenedStores opened_;
  std::vector<std::unique_ptr<TransactStore>>& stores_ = opened_.stores;
};

// The commit version in a key, after `prefix`.
inline uint64_t commit_version_in(std::string_view key, std::string_view prefix) {
  return read_big_endian(key.substr(prefix.size(), kCommitVersionBytes));
}

}  // namespace stator::test
