// SPDX-License-Identifier: Apache-2.0
// The power fails at a random time under load, and the disk keeps an arbitrary part of the unsynced
// data. With durability sync, no acknowledged write is lost. With os, the state is that of an
// earlier point in time. In both cases, no transaction is partial and every index matches its
// table.
//
// STATOR_POWER_LOSS_ROUNDS sets the number of failures of each kind (default: 25), and STATOR_SEED
// what is written and lost.
#include <gtest/gtest.h>

#include <iostream>

#include "power_loss/faults.h"

namespace stator::test {
namespace {

class PowerLoss : public Faults {
 protected:
  // Short and long times have the same probability.
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

  // Fails again while the data is being opened, or shortly after.
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

// This is true only within one log: if RocksDB continues with another log, the end of the first one
// can be lost and the second one kept. So no log becomes full here.
TEST_F(PowerLoss, ReturnsToAnEarlierPointInTimeWithDurabilityOs) {
  run(Durability::kOs, Kept::kPrefix);
  EXPECT_GT(ledger_.lost(), 0U) << "the file system kept everything: nothing was shown";
}

}  // namespace
}  // namespace stator::test
