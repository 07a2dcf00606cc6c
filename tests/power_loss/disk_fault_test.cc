// SPDX-License-Identifier: Apache-2.0
// A disk operation fails at a random time under load. The write fails with InternalServerError, no
// partial write is visible, reads continue, and the store reports why it accepts no writes. After a
// full disk, it accepts writes again once there is free space, without a restart. After that, and
// after an additional power failure, all acknowledged writes exist.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "power_loss/faults.h"

namespace stator::test {
namespace {

using rocksdb::IOStatus;
using ::testing::AnyOf;

struct Case {
  const char* name;
  FileChange change;
  const char* part;  // of the names of the affected files
  bool full;         // otherwise, a device error
  bool lasting;
  uint64_t after_max;  // the fault comes after at most this many changes
};

constexpr const char* kText = "says the test";
constexpr const char* kFull = "the disk is full";

// Writes an item that the ledger does not check.
Result<WriteResult> write_something(Client& client) {
  return client.update_item({.table = "Shared",
                             .key = {{"pk", "nobody's"}},
                             .update = "ADD amount :one",
                             .values = Values{{":one", 1}}});
}

void expect_refusal(const Machine& machine, Client& client, const char* why) {
  EXPECT_THAT(write_something(client), FailsWith(Code::kInternalServerError, why));
  EXPECT_FALSE(machine.store->health().writable);
  EXPECT_NE(machine.store->health().reason.find(why), std::string::npos);
}

class DiskFaults : public Faults, public testing::WithParamInterface<Case> {
 protected:
  LossyFileSystem::Fault fault() {
    return {.change = GetParam().change,
            .part = GetParam().part,
            .status = GetParam().full ? IOStatus::NoSpace(kText) : IOStatus::IOError(kText),
            .after = random_() % (GetParam().after_max + 1),
            .lasting = GetParam().lasting};
  }
};

TEST_P(DiskFaults, LoseNothingAcknowledgedAndShowNothingHalfDone) {
  SCOPED_TRACE("STATOR_SEED=" + std::to_string(seed_));
  create();
  const auto machine = make_machine();
  ASSERT_THAT(start(*machine, Durability::kSync), IsOk());
  machine->files->fail(fault());
  for (const auto& end : write_until_failure(*machine->database)) {
    if (end) continue;
    EXPECT_THAT(end, AnyOf(FailsWith(Code::kInternalServerError, kText),
                           FailsWith(Code::kInternalServerError, kFull)));
  }
  EXPECT_TRUE(machine->files->has_failed());
  // A device error, or a disk that was full before the first write of a log. Or the disk was full
  // when a flush was scheduled, and RocksDB forgot the flush.
  const auto stuck = [&] { return machine->store->health().reason.contains("reopened"); };
  const auto why = [&] { return machine->store->health().reason.contains(kText) ? kText : kFull; };
  const bool was_stuck = stuck();
  EXPECT_TRUE(was_stuck || GetParam().full) << machine->store->health().reason;
  if (was_stuck) expect_refusal(*machine, *machine->database, why());
  ledger_.check(*machine->database, Kept::kOnlyAcknowledged);
  machine->files->mend();
  // A write can still fail because of a flush that was in progress. The store detects a forgotten
  // flush only when it tries to resume.
  auto written = write_something(*machine->database);
  for (int i = 0; i < 1'000 && !written && !stuck(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    written = write_something(*machine->database);
  }
  if (stuck()) {
    expect_refusal(*machine, *machine->database, why());
  } else {
    EXPECT_FALSE(was_stuck);
    EXPECT_THAT(written, IsOk());
    EXPECT_TRUE(machine->store->health().writable);
  }
  lose_power(*machine);
  check_after(Durability::kSync, Kept::kAcknowledged);
}

TEST_F(Faults, WritesResumeOnceTheFullDiskHasSpaceAgain) {
  SCOPED_TRACE("STATOR_SEED=" + std::to_string(seed_));
  create();
  const auto machine = make_machine();
  ASSERT_THAT(start(*machine, Durability::kSync), IsOk());
  for (int round = 0; round < 3; ++round) {
    machine->files->fail(
        {.change = FileChange::kAppend, .part = ".log", .after = random_() % 100, .lasting = true});
    for (const auto& end : write_until_failure(*machine->database)) {
      if (end) continue;
      EXPECT_THAT(end, FailsWith(Code::kInternalServerError, kFull));
    }
    expect_refusal(*machine, *machine->database, kFull);
    ledger_.settle(*machine->database, Kept::kOnlyAcknowledged);
    machine->files->mend();
    EXPECT_TRUE(machine->store->health().writable);
    ledger_.repeat_transactions(*machine->database);
  }
  machine->files->fail_power_after(random_() % 200);
  (void)write_until_failure(*machine->database);
  lose_power(*machine);
  check_after(Durability::kSync, Kept::kAcknowledged);
}

TEST_F(Faults, ADiskThatFailsWhileWritesResumeIsReported) {
  create();
  const auto machine = make_machine();
  ASSERT_THAT(start(*machine, Durability::kSync), IsOk());
  machine->files->fail(
      {.change = FileChange::kAppend, .status = IOStatus::NoSpace(kText), .lasting = true});
  (void)write_until_failure(*machine->database);
  EXPECT_THAT(write_something(*machine->database), FailsWith(Code::kInternalServerError, kFull));
  machine->files->fail({.change = FileChange::kAppend,
                        .part = ".sst",
                        .status = IOStatus::IOError(kText),
                        .lasting = true});
  constexpr const char* kFailed = "the disk failed after it was full";
  EXPECT_THAT(write_something(*machine->database), FailsWith(Code::kInternalServerError, kFailed));
  machine->files->mend();
  expect_refusal(*machine, *machine->database, kFailed);
  machine->database.reset();
  ASSERT_THAT(start(*machine, Durability::kSync), IsOk());
  ledger_.check(*machine->database, Kept::kOnlyAcknowledged);
}

INSTANTIATE_TEST_SUITE_P(
    Disk, DiskFaults,
    testing::Values(
        Case{"ErrorOfALog", FileChange::kAppend, ".log", false, false, 100},
        Case{"ErrorOfTheSyncOfALog", FileChange::kSync, ".log", false, false, 100},
        Case{"FullForALog", FileChange::kAppend, ".log", true, true, 100},
        Case{"FullForALogOnce", FileChange::kAppend, ".log", true, false, 100},
        Case{"FullForTheSyncOfALog", FileChange::kSync, ".log", true, false, 100},
        Case{"FullForANewLog", FileChange::kCreate, ".log", true, true, 2},
        Case{"ErrorOfANewLog", FileChange::kCreate, ".log", false, false, 2},
        Case{"FullForATable", FileChange::kAppend, ".sst", true, true, 10},
        Case{"ErrorOfATable", FileChange::kAppend, ".sst", false, true, 10},
        Case{"ErrorOfTheSyncOfATable", FileChange::kSync, ".sst", false, true, 3},
        Case{"FullForTheManifest", FileChange::kAppend, "MANIFEST", true, true, 3},
        Case{"ErrorOfTheManifest", FileChange::kAppend, "MANIFEST", false, true, 3},
        Case{"ErrorOfTheSyncOfTheManifest", FileChange::kSync, "MANIFEST", false, true, 3},
        Case{"ErrorOfTheSyncOfTheDirectory", FileChange::kSyncDirectory, "", false, true, 3}),
    [](const auto& disk) { return std::string(disk.param.name); });

}  // namespace
}  // namespace stator::test
