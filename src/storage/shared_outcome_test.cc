// SPDX-License-Identifier: Apache-2.0
// Outcomes that only a store over a network has.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "storage/transact_fixture.h"
#include "support/shared_store.h"

namespace stator {
namespace {

using test::IsOk;
using test::kSeed;

TEST(SharedOutcome, IsUnknownWithoutAResponseAndMightHaveBeenApplied) {
  int unknown = 0;
  int committed = 0;
  test::SharedBackend backend(kSeed, {.lost_replies = 400, .late = 400, .outages = 700});
  {
    test::SharedStore store(backend, kSeed);
    const std::vector<std::string> keys{"counter"};
    for (int i = 0; i < 200; ++i) {
      const auto result = transact_and_wait(store, keys, [](GuardedRows rows) {
        Batch batch;
        batch.put("counter", std::to_string(std::stoi(rows[0].value_or("0")) + 1));
        return batch;
      });
      if (result.outcome == CommitOutcome::kCommitted) ++committed;
      if (result.outcome == CommitOutcome::kUnknown) {
        ++unknown;
        EXPECT_EQ(result.error.code, Code::kOutcomeUnknown);
      }
    }
    EXPECT_GT(unknown, 0);
    EXPECT_GT(committed, 0);
    backend.deliver_late();
    int counter = 0;
    ASSERT_THAT(read_value(store, "counter",
                           [&](std::string_view row) { counter = std::stoi(std::string(row)); }),
                IsOk());
    EXPECT_GE(counter, committed);
    EXPECT_LE(counter, committed + unknown);
  }
}

}  // namespace
}  // namespace stator
