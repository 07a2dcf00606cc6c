// SPDX-License-Identifier: Apache-2.0
// Leases of jobs, which several processes take from each other.
#include "engine/catalog/job_lease.h"

#include <gtest/gtest.h>

#include <random>
#include <sstream>
#include <thread>

#include "engine/catalog/catalog_rows.h"
#include "engine/catalog/job_leases.h"
#include "engine/catalog/records.h"
#include "engine/jobs/job_engine.h"
#include "engine/testing/engine_harness.h"
#include "engine/verify/verify.h"
#include "support/comes_true.h"
#include "support/forwarding_store.h"
#include "support/from_environment.h"
#include "support/gated_store.h"
#include "support/must.h"
#include "support/shared_store.h"

namespace stator {
namespace {

using test::comes_true;
using test::FailsWith;
using test::IsOk;
using test::must;
using test::SharedBackend;
using test::SharedStore;

constexpr uint32_t kSeed = 28;
const auto is_refused = FailsWith(Code::kHeld, "another engine has taken the job");
constexpr int64_t kNowMs = 1'700'000'000'000;

// A process: its store and its leases.
struct Process {
  explicit Process(SharedBackend& backend, uint32_t seed) : store(backend, seed) {}

  // Tries to take the lease. It is free or not according to the last look().
  std::shared_ptr<JobLease> take(const std::string& record) {
    auto lease = leases.begin(record_work(record));
    EXPECT_THAT(lease->take(), IsOk());
    return lease;
  }

  SharedStore store;
  JobLeases leases{store};
};

class Leases : public ::testing::Test {
 protected:
  Leases() {
    must(Catalog::open(ours_.store, jobs_));
    put_record("IN_PROGRESS");
  }

  void put_record(const std::string& status) {
    EXPECT_THAT(Records(ours_.store).put(record_, Item{{"Status", status}}), IsOk());
  }
  std::optional<LeaseRow> row() {
    std::optional<LeaseRow> row;
    must(read_value(ours_.store, lease_key(record_),
                    [&](std::string_view value) { row = must(decode_lease(value)); }));
    return row;
  }
  // Commits a write of the job with this lease.
  static Result<void> work(JobLease& lease) {
    return lease.commit({}, [](GuardedRows, Batch& batch) -> Result<void> {
      batch.put(std::string(kPartitionBytes, 'x'), "worked");
      return {};
    });
  }
  bool has_worked() {
    return must(
        read_value(ours_.store, std::string(kPartitionBytes, 'x'), [](std::string_view) {}));
  }
  // `theirs_` looks at the leases, `passed_ms` after the start.
  void look(int64_t passed_ms) {
    EXPECT_THAT(theirs_.leases.look(kNowMs + passed_ms), IsOk());
    looked_ms_ = passed_ms;
  }
  // Looks once a minute until then. Reports whether the lease is free.
  bool is_free_for_them(int64_t passed_ms) {
    while (looked_ms_ + kLeaseLookMs < passed_ms) look(looked_ms_ + kLeaseLookMs);
    look(passed_ms);
    return theirs_.leases.is_free(lease_key(record_));
  }

  const std::string record_ = record_key(RecordKind::kExport, "1");
  int64_t looked_ms_ = 0;
  JobRunner jobs_{{}};
  SharedBackend backend_{kSeed};
  Process ours_{backend_, kSeed + 1};
  Process theirs_{backend_, kSeed + 2};
};

TEST_F(Leases, AreTakenByOneProcess) {
  EXPECT_TRUE(is_free_for_them(0));
  const auto ours = ours_.take(record_);
  EXPECT_TRUE(ours->is_held());
  EXPECT_EQ(ours->fence(), 1U);
  EXPECT_TRUE(theirs_.take(record_)->is_lost());
  EXPECT_THAT(work(*ours), IsOk());
  EXPECT_TRUE(has_worked());
}

TEST_F(Leases, AreTakenOfOpenJobsOnly) {
  put_record("COMPLETED");
  EXPECT_TRUE(ours_.take(record_)->is_lost());
  EXPECT_FALSE(row());
  put_record("IN_PROGRESS");
  EXPECT_TRUE(theirs_.take(record_)->is_held());
}

TEST_F(Leases, RunOutIfTheirRowDoesNotChange) {
  const auto ours = ours_.take(record_);
  EXPECT_FALSE(is_free_for_them(0));
  EXPECT_FALSE(is_free_for_them(kJobLeaseMs - 1));
  EXPECT_TRUE(is_free_for_them(kJobLeaseMs));
  const auto theirs = theirs_.take(record_);
  EXPECT_TRUE(theirs->is_held());
  EXPECT_EQ(theirs->fence(), 2U);
}

TEST_F(Leases, AreKeptByHeartbeats) {
  const auto ours = ours_.take(record_);
  EXPECT_FALSE(is_free_for_them(0));
  for (int i = 1; i <= 3; ++i) {
    ours_.leases.send_heartbeats();
    EXPECT_FALSE(is_free_for_them(i * kJobLeaseMs));
  }
  EXPECT_TRUE(is_free_for_them(4 * kJobLeaseMs));
}

// Only the clock of the waiting process matters.
TEST_F(Leases, RunOutLaterIfTheClockIsSetBack) {
  const auto ours = ours_.take(record_);
  look(10 * kJobLeaseMs);
  EXPECT_FALSE(is_free_for_them(0));
  EXPECT_FALSE(is_free_for_them(kJobLeaseMs - 1));
  EXPECT_TRUE(is_free_for_them(kJobLeaseMs));
}

// After an outage of the store, the waiting process looks before the owner's next heartbeat.
TEST_F(Leases, AreKeptAfterALongTimeWithoutChecks) {
  const auto ours = ours_.take(record_);
  look(0);
  look(2 * kJobLeaseMs);
  EXPECT_FALSE(theirs_.leases.is_free(lease_key(record_)));
  ours_.leases.send_heartbeats();
  EXPECT_FALSE(is_free_for_them(3 * kJobLeaseMs));
  EXPECT_TRUE(is_free_for_them(3 * kJobLeaseMs + kLeaseLookMs));
}

TEST_F(Leases, ThatAreLostCommitNothing) {
  const auto ours = ours_.take(record_);
  is_free_for_them(0);
  ASSERT_TRUE(is_free_for_them(kJobLeaseMs));
  const auto theirs = theirs_.take(record_);
  EXPECT_THAT(work(*ours), is_refused);
  EXPECT_TRUE(ours->is_lost());
  Batch batch;
  batch.put(std::string(kPartitionBytes, 'x'), "worked");
  EXPECT_THAT(ours->write(std::move(batch)), is_refused);
  EXPECT_THAT(Records(*ours).put(record_, {}), is_refused);
  EXPECT_THAT(ours->send_heartbeat(), is_refused);
  EXPECT_FALSE(has_worked());
  EXPECT_EQ(must(Records(ours_.store).get(record_)).size(), 1U);
  EXPECT_THAT(work(*theirs), IsOk());
}

// The owner sends a heartbeat between the look and the attempt.
TEST_F(Leases, AreNotTakenFromAnOwnerThatResumed) {
  const auto ours = ours_.take(record_);
  is_free_for_them(0);
  ASSERT_TRUE(is_free_for_them(kJobLeaseMs));
  EXPECT_THAT(ours->send_heartbeat(), IsOk());
  EXPECT_TRUE(theirs_.take(record_)->is_lost());
  EXPECT_THAT(work(*ours), IsOk());
}

TEST_F(Leases, AreFreeAtOnceAfterAStop) {
  const auto ours = ours_.take(record_);
  ours_.leases.release();
  ASSERT_TRUE(is_free_for_them(0));
  const auto theirs = theirs_.take(record_);
  EXPECT_TRUE(theirs->is_held());
  EXPECT_EQ(theirs->fence(), 2U);
  EXPECT_THAT(work(*ours), is_refused);
}

TEST_F(Leases, EndWithTheirJob) {
  const auto ours = ours_.take(record_);
  EXPECT_TRUE(row());
  EXPECT_THAT(Records(*ours).put(record_, Item{{"Status", "IN_PROGRESS"}, {"StartedMs", 1}}),
              IsOk());
  EXPECT_TRUE(row());
  EXPECT_THAT(Records(*ours).put(record_, Item{{"Status", "COMPLETED"}}), IsOk());
  EXPECT_FALSE(row());
}

// The rows of the earlier and the later job differ only in the holder.
TEST_F(Leases, OfAnEarlierJobOfTheSameNameAreNotThoseOfALaterOne) {
  const auto earlier = ours_.take(record_);
  is_free_for_them(0);
  ASSERT_TRUE(is_free_for_them(kJobLeaseMs));
  EXPECT_THAT(Records(*theirs_.take(record_)).put(record_, {}), IsOk());
  put_record("IN_PROGRESS");
  ASSERT_THAT(ours_.leases.look(kNowMs), IsOk());
  const auto later = ours_.take(record_);
  EXPECT_EQ(later->fence(), earlier->fence());
  EXPECT_THAT(work(*earlier), is_refused);
  EXPECT_THAT(work(*later), IsOk());
}

// The last look was during the earlier job.
TEST_F(Leases, OfALaterJobOfTheSameNameAreTakenWithoutAnotherCheck) {
  const auto earlier = ours_.take(record_);
  EXPECT_FALSE(is_free_for_them(0));
  EXPECT_THAT(Records(*earlier).put(record_, {}), IsOk());
  put_record("IN_PROGRESS");
  EXPECT_TRUE(theirs_.take(record_)->is_held());
}

TEST_F(Leases, OfAnEngineThatWorksOnTheJobAreNotFreeForIt) {
  const auto ours = ours_.take(record_);
  for (int64_t passed_ms = 0; passed_ms <= kJobLeaseMs; passed_ms += kLeaseLookMs) {
    ASSERT_THAT(ours_.leases.look(kNowMs + passed_ms), IsOk());
  }
  EXPECT_FALSE(ours_.leases.is_free(lease_key(record_)));
  ours_.leases.end(*ours);
  EXPECT_TRUE(ours_.leases.is_free(lease_key(record_)));
}

// A request and the maintenance start the same job.
TEST_F(Leases, OfAJobThatIsStartedTwiceAreKept) {
  const auto winner = ours_.leases.begin(record_work(record_));
  const auto loser = ours_.leases.begin(record_work(record_));
  ASSERT_THAT(winner->take(), IsOk());
  ASSERT_THAT(loser->take(), IsOk());
  EXPECT_TRUE(loser->is_lost());
  ours_.leases.end(*loser);
  EXPECT_FALSE(ours_.leases.is_free(lease_key(record_)));
  const uint64_t before = row()->heartbeats;
  ours_.leases.send_heartbeats();
  EXPECT_EQ(row()->heartbeats, before + 1);
}

TEST_F(Leases, ThatAreDamagedAreReported) {
  Batch batch;
  batch.put(lease_key(record_), "short");
  ASSERT_EQ(write_and_wait(ours_.store, std::move(batch)).outcome, CommitOutcome::kCommitted);
  EXPECT_THAT(ours_.leases.begin(record_work(record_))->take(),
              FailsWith(Code::kCorruption, "the lease of a job is damaged"));
}

TEST_F(Leases, WithoutAJobAreDamage) {
  const auto findings = [&] {
    return verify(ours_.store, [](std::string_view, uint64_t, uint64_t) {}).findings;
  };
  const auto ours = ours_.take(record_);
  EXPECT_THAT(findings(), ::testing::IsEmpty());
  EXPECT_THAT(Records(ours_.store).put(record_, Item{{"Status", "COMPLETED"}}), IsOk());
  const auto damaged = findings();
  ASSERT_EQ(damaged.size(), 1U);
  EXPECT_THAT(damaged[0].message, ::testing::HasSubstr("is of no job"));
}

TEST(LeasesOfOneProcess, NeedNoRows) {
  const auto store = make_memory_store();
  JobLeases leases(*store);
  const std::string record = record_key(RecordKind::kExport, "1");
  const auto lease = leases.begin(record_work(record));
  EXPECT_TRUE(lease->is_held());
  EXPECT_EQ(lease->fence(), 0U);
  EXPECT_THAT(Records(*lease).put(record, Item{{"Status", "IN_PROGRESS"}}), IsOk());
  leases.send_heartbeats();
  leases.release();
  std::size_t rows = 0;
  ASSERT_THAT(
      read_range(*store, {}, [&](std::string_view, std::string_view) { return ++rows > 0; }),
      IsOk());
  EXPECT_EQ(rows, 1U);
}

// drop_range() waits until the gate is open.
class GatedDrops final : public test::ForwardingStore {
 public:
  GatedDrops(std::shared_ptr<TransactStore> inner, test::Gate& gate)
      : ForwardingStore(std::move(inner)), gate_(gate) {}
  Result<void> drop_range(const KeyRange& range) override {
    gate_.wait();
    return ForwardingStore::drop_range(range);
  }

 private:
  test::Gate& gate_;
};

TEST(LeasesOfAnEngine, AreKeptDuringALongTrim) {
  SharedBackend backend(kSeed);
  test::Gate gate;
  test::FakeClock clock;
  const auto engine = must(Engine::open(
      std::make_unique<GatedDrops>(std::make_shared<SharedStore>(backend, kSeed), gate),
      {.clock = &clock,
       .sweep_interval = {},
       .maintenance_interval = std::chrono::milliseconds(1)}));
  const std::string record = record_key(RecordKind::kExport, "1");
  const auto lease = engine->parts().leases.begin(record_work(record));
  ASSERT_THAT(Records(engine->store()).put(record, Item{{"Status", "IN_PROGRESS"}}), IsOk());
  ASSERT_THAT(lease->take(), IsOk());
  CreateTableRequest logged = test::hash_table();
  logged.stream = StreamSpecification{.enabled = true, .view = StreamViewType::kKeysOnly};
  must(engine->create_table(logged));
  gate.close();
  EXPECT_TRUE(comes_true([&] {
    clock.advance(std::chrono::hours(5));                       // an epoch of the log
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // time to begin it
    return gate.waiting() == 1;
  }));
  const auto heartbeats = [&] {
    uint64_t count = 0;
    must(read_value(engine->store(), lease_key(record),
                    [&](std::string_view value) { count = must(decode_lease(value)).heartbeats; }));
    return count;
  };
  EXPECT_TRUE(comes_true([&, before = heartbeats()] { return heartbeats() > before + 2; }));
  EXPECT_EQ(gate.waiting(), 1U);
  gate.open();
}

// Processes keep taking the lease from each other. Each commit appends the number of its turn. The
// numbers never decrease, even if a commit arrives late.
TEST(LeaseHistories, AreInTurns) {
  constexpr int kProcesses = 3;
  constexpr int kTurns = 25;
  const auto seed = static_cast<uint32_t>(test::number_from_environment("STATOR_SEED", kSeed));
  SharedBackend backend(
      seed, {.conflicts = 50, .lost_replies = 50, .late = 50, .outages = 300, .slow = 5});
  const std::string record = record_key(RecordKind::kExport, "1");
  const std::vector<std::string> history = {std::string(kPartitionBytes, 'x')};
  SharedStore last(backend, seed);
  while (!Records(last).put(record, Item{{"Status", "IN_PROGRESS"}})) {
  }
  const auto run = [&](uint32_t number) {
    Process process(backend, seed + number);
    std::mt19937 random(seed + number);
    for (int turn = 0; turn < kTurns; ++turn) {
      static_cast<void>(process.leases.look(kNowMs));
      const auto lease = process.leases.begin(record_work(record));
      while (!lease->take()) {
      }
      for (int work = static_cast<int>(random() % 4); work > 0 && lease->is_held(); --work) {
        static_cast<void>(
            lease->commit(history, [&](GuardedRows rows, Batch& batch) -> Result<void> {
              batch.put(history[0], rows[0].value_or("") + std::to_string(lease->fence()) + " ");
              return {};
            }));
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    threads.reserve(kProcesses);
    for (uint32_t i = 1; i <= kProcesses; ++i) threads.emplace_back(run, i);
  }
  backend.deliver_late();
  std::string turns;
  must(read_value(last, history[0], [&](std::string_view value) { turns = value; }));
  std::istringstream text(turns);
  uint64_t highest = 0;
  for (uint64_t fence = 0; text >> fence; highest = std::max(highest, fence)) {
    ASSERT_GE(fence, highest) << turns;
  }
  EXPECT_GT(highest, static_cast<uint64_t>(kTurns) / 2) << turns;
}

}  // namespace
}  // namespace stator
