// SPDX-License-Identifier: Apache-2.0
// Shared parts of the semaphore's suites.
#pragma once

#include <string>

#include "recipes/recipe_test.h"
#include "stator/recipes/semaphore.h"

namespace stator::test {

class SemaphoreBench : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { bench.create(Semaphore::table_definition(options())); }

  SemaphoreOptions options() { return {.table = "Locks", .time = &bench.time}; }
  static SemaphoreOptions real_time() {
    using namespace std::chrono_literals;
    return {.table = "Locks",
            .retry = {.max_attempts = 100, .backoff_base = 1ms, .backoff_max = 20ms},
            .backoff_base = 1ms,
            .backoff_max = 10ms};
  }
  static void expect_commits(Lease& lease) {
    if (!lack_of(Ability::kTransactions).empty()) return;
    EXPECT_OK(lease.commit({}));
  }
  // Another process: a separate object with its own observations.
  Semaphore other() { return {bench.client, options()}; }

  Bench bench{GetParam()};
};

#define STATOR_IN_ALL_HOMES(suite)                                                     \
  INSTANTIATE_TEST_SUITE_P(Homes, suite, testing::ValuesIn(test::recipe_home_kinds()), \
                           [](const auto& test) { return test.param; })

}  // namespace stator::test
