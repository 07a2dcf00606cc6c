// SPDX-License-Identifier: Apache-2.0
// Work on many rows reads many of them at once, because a shared store needs a round trip for each
// read.
#include "engine/testing/counting_store.h"
#include "engine/testing/engine_harness.h"

namespace stator::test {
namespace {

class CountedReads : public EngineTest {
 protected:
  CountedReads() { open(std::make_unique<CountingStore>(counts_)); }
  ~CountedReads() override { engine_.reset(); }

  // The number of reads of a call.
  template <class Call>
  std::size_t reads_of(Call call) {
    const std::size_t before = counts_.reads;
    call();
    return counts_.reads - before;
  }

  ReadCounts counts_;
};

TEST_F(CountedReads, OfASweepAreOnePerStepForAllItems) {
  constexpr std::size_t kExpired = 128;
  constexpr std::size_t kSteps = 2;
  create(hash_table());
  ASSERT_THAT(engine_->update_time_to_live(
                  {.table = "Things", .specification = {.enabled = true, .attribute = "expires"}}),
              IsOk());
  ASSERT_TRUE(comes_true([&] { return engine_->stats().jobs == 0; }));
  for (std::size_t i = 0; i < kExpired; ++i) {
    ASSERT_THAT(put("Things", {{"pk", std::to_string(i)}, {"expires", 1'600'000'000}}), IsOk());
  }
  std::size_t deleted = 0;
  const std::size_t reads = reads_of([&] { deleted = engine_->sweep_expired(); });
  EXPECT_EQ(deleted, kExpired);
  EXPECT_EQ(reads, 2 * kSteps + 1) << "each step reads the queue, then the items; the end of the "
                                      "queue is read too";
}

}  // namespace
}  // namespace stator::test
