// SPDX-License-Identifier: Apache-2.0
// The power fails at a random moment under load, and of what was not synced the disk keeps what it
// likes: with durability sync nothing acknowledged is lost, with os what is left is what there was
// at some earlier moment. Either way no transaction is halved and every index equals its table.
//
// STATOR_POWER_LOSS_ROUNDS sets how many failures of each kind (25 unless set), STATOR_SEED what is
// written and lost.
#include <gtest/gtest.h>

#include <iostream>

#include "power_loss/faults.h"

namespace stator::test {
namespace {

class PowerLoss : public Faults {
 protected:
  // Short and long times alike.
  uint64_t some_changes() { return random_() % (1ULL << (1 + random_() % 12)); }

  void lose_power_under_load(Durability durability) {
    const auto machine = make_machine();
    const auto started = start(*machine, durability);
    ASSERT_THAT(started, IsOk());
    machine->files->fail_power_after(some_changes());
    for (const auto& end : write_until_failure(*machine->database)) {
      if (end) continue;
      EXPECT_EQ(end.error().code, Code::kInternalServerError) << end.error().message;
    }
    lose_power(*machine);
  }

  // And again, before the data is open or shortly after.
  void lose_power_while_recovering(Durability durability) {
    const auto machine = make_machine();
    machine->files->fail_power_after(some_changes() / 8);
    (void)start(*machine, durability);
    lose_power(*machine);
  }

  void run(Durability durability, Kept kept) {
    const uint64_t rounds = number_from_environment("STATOR_POWER_LOSS_ROUNDS", 25);
    SCOPED_TRACE("STATOR_SEED=" + std::to_string(seed_));
    create();
    for (uint64_t round = 0; round < rounds && !HasFailure(); ++round) {
      SCOPED_TRACE("failure " + std::to_string(round));
      lose_power_under_load(durability);
      if (HasFailure()) return;
      if (random_() % 3 == 0) lose_power_while_recovering(durability);
      check_after(durability, kept);
    }
    EXPECT_GT(ledger_.acknowledged(), 0U);
    std::cout << rounds << " failures, " << ledger_.acknowledged() << " writes acknowledged, "
              << ledger_.lost() << " of them lost, STATOR_SEED=" << seed_ << '\n';
  }
};

TEST_F(PowerLoss, LosesNothingAcknowledgedWithDurabilitySync) {
  run(Durability::kSync, Kept::kAcknowledged);
  EXPECT_EQ(ledger_.lost(), 0U);
}

// Within one log, that is: where RocksDB goes on to the next, the end of the first may be lost and
// the second kept. So no log is full here.
TEST_F(PowerLoss, ReturnsToAnEarlierPointInTimeWithDurabilityOs) {
  run(Durability::kOs, Kept::kPrefix);
  EXPECT_GT(ledger_.lost(), 0U) << "the file system kept everything: nothing was shown";
}

}  // namespace
}  // namespace stator::test
