// SPDX-License-Identifier: Apache-2.0
// Shared parts of the recipes' suites: a client on some backend, with injected faults and a clock.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "stator/recipes/common.h"
#include "support/abilities.h"
#include "support/counting_client.h"
#include "support/fake_time.h"
#include "support/faulty_client.h"
#include "support/homes.h"

namespace stator::test {

inline Time at(std::string_view text) {
  return Time::parse(text).value();
}

// The error code of a result, or "ok".
template <class T>
std::string outcome(const Result<T>& result) {
  return result ? "ok" : code_name(result.error().code);
}

// Succeeds if the result has a value. Otherwise fails with its error.
template <class T>
testing::AssertionResult succeeded(const Result<T>& result) {
  if (result) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << code_name(result.error().code) << ": " << result.error().message;
}

#define ASSERT_OK(...) ASSERT_TRUE(::stator::test::succeeded(__VA_ARGS__))
#define EXPECT_OK(...) EXPECT_TRUE(::stator::test::succeeded(__VA_ARGS__))
#define EXPECT_FAILS(code, ...) \
  EXPECT_EQ(::stator::test::outcome(__VA_ARGS__), ::stator::code_name(code))

// client -> faulty -> counting -> the home's client.
struct Bench {
  explicit Bench(const std::string& kind) : home(open_home(kind)), lasting(kind == "endpoint") {}
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  ~Bench() {
    for (const std::string& table : tables) {
      (void)home.client->delete_table({.table = table});
      wait_for_table(*home.client, table, false);
    }
  }

  // Items do not expire: the clock of a home can be years ahead of the test's, so it would delete
  // what the test has just written.
  void create(RecipeTable table) {
    table.expiry.clear();
    // A home that outlives the test can have a table of this name with items.
    if (lasting) {
      ASSERT_OK(home.client->create_table(table));
      tables.push_back(table.table);
    }
    ASSERT_OK(create_table_if_missing(*home.client, table));
  }
  // Returns the requests and units that `action` consumes.
  template <class F>
  examples::Cost cost_of(F action) {
    const examples::Cost before = counting.cost();
    action();
    return counting.cost() - before;
  }

  Home home;
  bool lasting;
  std::vector<std::string> tables = {};  // to delete from a lasting home
  examples::CountingClient counting{*home.client};
  FaultyClient client{counting};
  FakeTime time;
};

}  // namespace stator::test
