// SPDX-License-Identifier: Apache-2.0
#include "stator/recipes/semaphore.h"

#include <atomic>
#include <functional>
#include <thread>
#include <utility>

#include "recipes/semaphore_test.h"

namespace stator {
namespace {

using namespace std::chrono_literals;
using namespace test;

class SemaphoreTest : public SemaphoreBench {
 protected:
  static LockHolder only_holder(Semaphore locks) {
    const auto state = locks.state("lock");
    EXPECT_EQ(state.value().holders.size(), 1U);
    return state.value().holders.at(0);
  }
};
STATOR_IN_ALL_HOMES(SemaphoreTest);

TEST_P(SemaphoreTest, LocksAndReleases) {
  Semaphore mine = other();
  Semaphore theirs = other();
  auto lease = mine.acquire("tbl_issues:7", {.user = "ann"});
  ASSERT_OK(lease);
  EXPECT_TRUE(lease->held());
  EXPECT_FAILS(Code::kHeld, theirs.acquire("tbl_issues:7"));
  EXPECT_OK(theirs.acquire("tbl_issues:8"));
  ASSERT_OK(lease->release());
  EXPECT_FALSE(lease->held());
  EXPECT_OK(theirs.acquire("tbl_issues:7"));
}

TEST_P(SemaphoreTest, ReturnsTheHolder) {
  Semaphore mine = other();
  EXPECT_EQ(mine.state("lock").value().permits, 0);
  auto lease = mine.acquire("lock", {.lease = 30s, .user = "ann"});
  ASSERT_OK(lease);
  const auto refused = other().acquire("lock");
  ASSERT_FALSE(refused);
  const auto state = Semaphore::state_in(refused.error());
  ASSERT_TRUE(state);
  ASSERT_EQ(state->holders.size(), 1U);
  const LockHolder* holder = &state->holders.front();
  EXPECT_EQ(holder->user, "ann");
  EXPECT_EQ(holder->fence, lease->fence());
  EXPECT_EQ(holder->lease, 30s);
  EXPECT_EQ(holder->acquired_at, bench.time.now());
  EXPECT_THAT(refused.error().message, testing::HasSubstr("ann"));
  EXPECT_EQ(only_holder(mine).owner, holder->owner);
  ASSERT_OK(lease->release());
  EXPECT_TRUE(mine.state("lock").value().holders.empty());
  EXPECT_EQ(mine.state("lock").value().fence, Fence{1});
}

TEST_P(SemaphoreTest, ReleasesWhenTheLeaseGoesOutOfScope) {
  Semaphore mine = other();
  {
    ASSERT_OK(mine.acquire("lock"));
  }
  EXPECT_OK(mine.acquire("lock"));
}

TEST_P(SemaphoreTest, LeavesTheLockToItsHolderWhenAnAttemptFails) {
  auto lease = other().acquire("lock");
  ASSERT_OK(lease);
  for (int i = 0; i < 3; ++i) EXPECT_FAILS(Code::kHeld, other().acquire("lock"));
  EXPECT_EQ(only_holder(other()).fence, lease->fence());
}

TEST_P(SemaphoreTest, ReleasesTwiceWithoutHarm) {
  auto lease = other().acquire("lock");
  ASSERT_OK(lease);
  ASSERT_OK(lease->release());
  auto next = other().acquire("lock");
  ASSERT_OK(next);
  EXPECT_OK(lease->release());
  EXPECT_OK(next->renew());
}

TEST_P(SemaphoreTest, MovesItsLease) {
  Semaphore mine = other();
  std::optional<Lease> kept;
  {
    auto lease = mine.acquire("lock");
    ASSERT_OK(lease);
    kept.emplace(std::move(*lease));
    EXPECT_FALSE(lease->held());  // NOLINT(bugprone-use-after-move): what moving leaves
    EXPECT_OK(lease->release());
  }
  EXPECT_TRUE(kept->held());
  EXPECT_FAILS(Code::kHeld, mine.acquire("lock"));
  auto second = mine.acquire("second");
  ASSERT_OK(second);
  *kept = std::move(*second);
  EXPECT_OK(mine.acquire("lock"));
  EXPECT_EQ(kept->name(), "second");
}

TEST_P(SemaphoreTest, IsNotReentrant) {
  Semaphore mine = other();
  auto lease = mine.acquire("lock", {.user = "ann"});
  ASSERT_OK(lease);
  EXPECT_FAILS(Code::kHeld, mine.acquire("lock", {.user = "ann"}));
  EXPECT_OK(lease->renew());
}

TEST_P(SemaphoreTest, FencingTokensGrowOverReleases) {
  Semaphore mine = other();
  Fence last{0};
  for (int i = 0; i < 5; ++i) {
    auto lease = mine.acquire("lock");
    ASSERT_OK(lease);
    EXPECT_GT(lease->fence(), last);
    last = lease->fence();
    ASSERT_OK(lease->release());
  }
}

// ---- Takeover

TEST_P(SemaphoreTest, IsTakenOverOnlyAfterAWholeLeaseAndItsMarginUnderObservation) {
  auto lease = other().acquire("lock", {.lease = 20s});
  ASSERT_OK(lease);
  bench.time.advance(1h);  // long dead, but no process has observed it
  Semaphore watcher = other();
  EXPECT_FAILS(Code::kHeld, watcher.acquire("lock"));
  bench.time.advance(takeover_after(20s) - 1ns);
  EXPECT_FAILS(Code::kHeld, watcher.acquire("lock"));
  bench.time.advance(1ns);
  const auto taken = watcher.acquire("lock");
  ASSERT_OK(taken);
  EXPECT_GT(taken->fence(), lease->fence());
}

TEST_P(SemaphoreTest, IsTakenOverByOneWhoWaits) {
  auto lease = other().acquire("lock", {.lease = 20s});
  ASSERT_OK(lease);
  Semaphore watcher = other();
  const auto start = bench.time.since_boot();
  const auto taken = watcher.acquire("lock", {.wait = kWaitForEver});
  ASSERT_OK(taken);
  EXPECT_GE(bench.time.since_boot() - start, takeover_after(20s));
  EXPECT_LE(bench.time.since_boot() - start, 21s);
}

// A clock of another machine, which is faster or slower than the true one, and can be set forward.
class DriftingTime final : public TimeSource {
 public:
  DriftingTime(TimeSource& time, int64_t ppm) : time_(time), ppm_(ppm) {}

  Time now() override { return time_.now(); }
  std::chrono::nanoseconds since_boot() override {
    const std::chrono::nanoseconds gone = time_.since_boot() - start_;
    return start_ + gone + gone * ppm_ / 1'000'000 + correction_;
  }
  bool sleep(std::chrono::nanoseconds duration, std::stop_token stop) override {
    return time_.sleep(duration, std::move(stop));
  }
  void set_forward(std::chrono::nanoseconds correction) { correction_ += correction; }

 private:
  TimeSource& time_;
  const int64_t ppm_;
  const std::chrono::nanoseconds start_ = time_.since_boot();
  std::chrono::nanoseconds correction_{0};
};

TEST_P(SemaphoreTest, IsTakenOverOnlyAfterItsHolderHasStoppedAlsoByClocksThatDrift) {
  for (const std::chrono::milliseconds length : {std::chrono::milliseconds(100ms), {24h}}) {
    DriftingTime slow(bench.time, -999);
    DriftingTime fast(bench.time, 999);
    SemaphoreOptions of_holder = options();
    SemaphoreOptions of_watcher = options();
    of_holder.time = &slow;
    of_watcher.time = &fast;
    const std::string name = std::to_string(length.count());
    auto lease = Semaphore(bench.client, of_holder).acquire(name, {.lease = length});
    ASSERT_OK(lease);
    Semaphore watcher(bench.client, of_watcher);
    EXPECT_FAILS(Code::kHeld, watcher.acquire(name));
    fast.set_forward(10ms);
    while (lease->held()) {
      bench.time.advance(std::max<std::chrono::nanoseconds>(lease->remaining() / 2, 1us));
      const auto left = lease->remaining();
      const bool taken = watcher.acquire(name).has_value();
      EXPECT_FALSE(taken && left.count() > 0) << left.count() << " ns before its end";
    }
    bench.time.advance(length / 500 + 20ms);
    EXPECT_OK(watcher.acquire(name));
  }
}

TEST_P(SemaphoreTest, StaysWithAHolderThatRenews) {
  auto lease = other().acquire("lock", {.lease = 20s});
  ASSERT_OK(lease);
  Semaphore watcher = other();
  for (int i = 0; i < 10; ++i) {
    EXPECT_FAILS(Code::kHeld, watcher.acquire("lock"));
    bench.time.advance(15s);
    ASSERT_OK(lease->renew());
    EXPECT_EQ(lease->remaining(), 20s);
  }
}

TEST_P(SemaphoreTest, IgnoresWallClocks) {
  auto lease = other().acquire("lock", {.lease = 120s});
  ASSERT_OK(lease);
  Semaphore watcher = other();
  bench.time.set_wall(at("2034-01-01T00:00:00Z"));
  EXPECT_FAILS(Code::kHeld, watcher.acquire("lock"));
  bench.time.advance(119s);
  EXPECT_FAILS(Code::kHeld, watcher.acquire("lock"));
  EXPECT_GT(lease->remaining(), 0s);
  bench.time.set_wall(at("1999-01-01T00:00:00Z"));
  bench.time.advance(takeover_after(120s) - 119s);
  EXPECT_EQ(lease->remaining(), 0s);
  EXPECT_OK(watcher.acquire("lock"));
}

TEST_P(SemaphoreTest, ALostLeaseCannotRenewReleaseOrCommit) {
  STATOR_NEEDS(Ability::kTransactions);
  auto lease = other().acquire("lock", {.lease = 1s});
  ASSERT_OK(lease);
  Semaphore watcher = other();
  auto taken = watcher.acquire("lock", {.wait = 1min});
  ASSERT_OK(taken);
  TransactWriteItemsRequest late{
      .items = {{.table = "Locks", .item = {{"pk", "late"}, {"written", true}}}}};
  EXPECT_FAILS(Code::kLost, lease->commit(late));
  EXPECT_FAILS(Code::kLost, lease->renew());
  EXPECT_FALSE(lease->held());
  EXPECT_FAILS(Code::kLost, lease->release());
  EXPECT_EQ(only_holder(watcher).fence, taken->fence());
  EXPECT_OK(taken->renew());
  EXPECT_FALSE(
      bench.client.get_item({.table = "Locks", .key = {{"pk", "late"}}}).value().item.has_value());
}

TEST_P(SemaphoreTest, DestroyingALostLeaseLeavesTheLockToItsHolder) {
  Semaphore watcher = other();
  std::optional<Lease> taken;
  {
    auto lease = other().acquire("lock", {.lease = 1s});
    ASSERT_OK(lease);
    auto next = watcher.acquire("lock", {.wait = 1min});
    ASSERT_OK(next);
    taken.emplace(std::move(*next));
  }
  const auto state = other().state("lock");
  ASSERT_OK(state);
  ASSERT_EQ(state->holders.size(), 1U);
  EXPECT_EQ(state->holders[0].fence, taken->fence());
  EXPECT_FAILS(Code::kHeld, other().acquire("lock"));
  EXPECT_OK(taken->renew());
}

TEST_P(SemaphoreTest, OneOfTwoWatchersTakesOver) {
  auto lease = other().acquire("lock", {.lease = 1s});
  ASSERT_OK(lease);
  Semaphore a = other();
  Semaphore b = other();
  EXPECT_FAILS(Code::kHeld, a.acquire("lock"));
  EXPECT_FAILS(Code::kHeld, b.acquire("lock"));
  bench.time.advance(takeover_after(1s));
  const auto taken = a.acquire("lock");
  EXPECT_OK(taken);
  EXPECT_FAILS(Code::kHeld, b.acquire("lock"));
}

// ---- Lost replies

TEST_P(SemaphoreTest, IsNotLockedOutByItsOwnLostReply) {
  Semaphore mine = other();
  bench.client.first("UpdateItem", 1, lose_reply());
  const auto start = bench.time.since_boot();
  auto lease = mine.acquire("lock", {.lease = 20s});
  ASSERT_OK(lease);
  // The lease begins before the attempt that might have acquired it.
  EXPECT_EQ(lease->remaining(), 20s - (bench.time.since_boot() - start));
  EXPECT_OK(lease->renew());
  expect_commits(*lease);
}

TEST_P(SemaphoreTest, RepeatsALostRequest) {
  Semaphore mine = other();
  bench.client.first("UpdateItem", 1, lose_request());
  EXPECT_OK(mine.acquire("lock"));
}

TEST_P(SemaphoreTest, ARequestThatArrivesTwiceDoesNotChangeTheFencingToken) {
  Semaphore mine = other();
  bench.client.first("UpdateItem", 1, repeat());
  auto lease = mine.acquire("lock");
  ASSERT_OK(lease);
  EXPECT_EQ(lease->fence(), Fence{1});
  EXPECT_OK(lease->renew());
  bench.client.first("UpdateItem", 1, repeat());
  EXPECT_OK(lease->renew());
  bench.client.first("UpdateItem", 1, repeat());
  EXPECT_OK(lease->release());
}

// A time source that runs an event before the first sleep.
class EventfulTime final : public TimeSource {
 public:
  EventfulTime(TimeSource& time, std::function<void()> event)
      : time_(time), event_(std::move(event)) {}

  Time now() override { return time_.now(); }
  std::chrono::nanoseconds since_boot() override { return time_.since_boot(); }
  bool sleep(std::chrono::nanoseconds duration, std::stop_token stop) override {
    if (const auto event = std::exchange(event_, nullptr)) event();
    return time_.sleep(duration, std::move(stop));
  }

 private:
  TimeSource& time_;
  std::function<void()> event_;
};

// An HTTP client repeats requests without a response, and returns only the second response. If that
// is a rejection, the first copy can still be in transit and acquire the lock later.
TEST_P(SemaphoreTest, ItsLeaseEndsBeforeATakeoverAlsoIfALateCopyStartedIt) {
  auto before = other().acquire("lock", {.lease = 1h});
  ASSERT_OK(before);
  Semaphore watcher = other();
  std::chrono::nanoseconds seen_at{};
  EventfulTime time(bench.time, [&] {
    const UpdateItemRequest copy = bench.client.latest_update();
    EXPECT_OK(before->release());
    EXPECT_OK(bench.client.update_item(copy));
    seen_at = bench.time.since_boot();
    EXPECT_FAILS(Code::kHeld, watcher.acquire("lock"));
    bench.time.advance(5s);
  });
  SemaphoreOptions slow = options();
  slow.time = &time;
  auto lease = Semaphore(bench.client, slow).acquire("lock", {.lease = 20s, .wait = 1min});
  ASSERT_OK(lease);
  EXPECT_LE(bench.time.since_boot() + lease->remaining(), seen_at + 20s);
}

TEST_P(SemaphoreTest, TakesOverOnceWhenTheReplyIsLost) {
  auto lease = other().acquire("lock", {.lease = 1s});
  ASSERT_OK(lease);
  Semaphore watcher = other();
  EXPECT_FAILS(Code::kHeld, watcher.acquire("lock"));
  bench.time.advance(takeover_after(1s));
  bench.client.first("UpdateItem", 1, lose_reply());
  auto taken = watcher.acquire("lock", {.lease = 5s});
  ASSERT_OK(taken);
  EXPECT_EQ(to_int64(taken->fence()), to_int64(lease->fence()) + 1);
  EXPECT_OK(taken->renew());
}

TEST_P(SemaphoreTest, BehavesTheSameIfRefusalsHaveNoItems) {
  bench.client.withhold_items();
  auto lease = other().acquire("lock", {.lease = 10s, .user = "ann"});
  ASSERT_OK(lease);
  bench.client.first("UpdateItem", 1, lose_reply());
  EXPECT_OK(lease->renew());
  Semaphore watcher = other();
  const auto refused = watcher.acquire("lock");
  EXPECT_FAILS(Code::kHeld, refused);
  EXPECT_EQ(Semaphore::state_in(refused.error())->holders.at(0).user, "ann");
  bench.time.advance(takeover_after(10s));
  auto taken = watcher.acquire("lock");
  ASSERT_OK(taken);
  EXPECT_FAILS(Code::kLost, lease->renew());
  bench.client.first("UpdateItem", 1, lose_reply());
  EXPECT_OK(taken->release());
}

TEST_P(SemaphoreTest, FindingItsOwnReleaseDoneIsSuccess) {
  auto lease = other().acquire("lock");
  ASSERT_OK(lease);
  bench.client.first("UpdateItem", 1, lose_reply());
  EXPECT_OK(lease->release());
}

TEST_P(SemaphoreTest, FindingItsOwnReleaseDoneIsSuccessAlsoWhenAnotherHasItByNow) {
  auto lease = other().acquire("lock");
  ASSERT_OK(lease);
  // The release is applied but its reply is lost. The next holder comes before the retry.
  std::optional<Lease> next;
  bench.client.before([&, done = bench.client.sent("UpdateItem")](std::string_view, int nth) {
    if (nth == done + 1) return lose_reply();
    if (nth == done + 2) {
      auto taken = other().acquire("lock");
      if (taken) next.emplace(std::move(*taken));
    }
    return pass();
  });
  EXPECT_OK(lease->release());
  ASSERT_TRUE(next);
  EXPECT_OK(next->renew());
}

TEST_P(SemaphoreTest, ReturnsAPossiblePermitIfItEndsWithoutAResponse) {
  Semaphore mine = other();
  int updates = 0;
  bench.client.before([&](std::string_view operation, int) {
    return operation == "UpdateItem" && ++updates <= 3 ? lose_reply() : pass();
  });
  EXPECT_FAILS(Code::kOutcomeUnknown, mine.acquire("lock"));
  bench.client.before(nullptr);
  EXPECT_TRUE(mine.state("lock").value().holders.empty());
}

// ---- Waiting

TEST_P(SemaphoreTest, AWaitThatTimesOutReturnsTheHolder) {
  auto lease = other().acquire("lock", {.lease = 1h, .user = "ann"});
  ASSERT_OK(lease);
  const auto start = bench.time.since_boot();
  const auto refused = other().acquire("lock", {.wait = 5s});
  EXPECT_FAILS(Code::kTimeout, refused);
  EXPECT_GE(bench.time.since_boot() - start, 5s);
  EXPECT_LE(bench.time.since_boot() - start, 6s);
  EXPECT_EQ(Semaphore::state_in(refused.error())->holders.at(0).user, "ann");
}

TEST_P(SemaphoreTest, AWaitEndsWhenItIsStopped) {
  auto lease = other().acquire("lock", {.lease = 1h});
  ASSERT_OK(lease);
  Semaphore waiting(bench.client, real_time());
  std::stop_source source;
  const int before = bench.client.sent("UpdateItem");
  std::jthread stopper([&] {
    while (bench.client.sent("UpdateItem") < before + 3) std::this_thread::yield();
    source.request_stop();
  });
  EXPECT_FAILS(Code::kCancelled,
               waiting.acquire("lock", {.wait = kWaitForEver}, source.get_token()));
}

TEST_P(SemaphoreTest, PassesOnOtherErrorsAtOnce) {
  Semaphore elsewhere(bench.client, {.table = "Absent", .time = &bench.time});
  const int before = bench.client.sent();
  EXPECT_FAILS(Code::kResourceNotFound, elsewhere.acquire("lock", {.wait = kWaitForEver}));
  EXPECT_EQ(bench.client.sent() - before, 1);
}

TEST_P(SemaphoreTest, WaitsThroughThrottlingAndConflicts) {
  bench.client.before([n = 0](std::string_view, int) mutable {
    ++n;
    return n <= 3 ? refuse(n == 2 ? Code::kTransactionConflict : Code::kThrottling) : pass();
  });
  EXPECT_OK(other().acquire("lock", {.wait = 1min}));
}

TEST_P(SemaphoreTest, RefusesBadArgumentsBeforeAnyRequest) {
  Semaphore mine = other();
  const int before = bench.client.sent();
  EXPECT_FAILS(Code::kInvalidArgument, mine.acquire(""));
  EXPECT_FAILS(Code::kInvalidArgument, mine.acquire(std::string(2049, 'x')));
  EXPECT_FAILS(Code::kInvalidArgument, mine.acquire("\xff"));
  EXPECT_FAILS(Code::kInvalidArgument, mine.acquire("lock", {.lease = 0s}));
  EXPECT_FAILS(Code::kInvalidArgument, mine.acquire("lock", {.lease = 25h}));
  EXPECT_FAILS(Code::kInvalidArgument, mine.acquire("lock", {.wait = -1s}));
  EXPECT_FAILS(Code::kInvalidArgument, mine.acquire("lock", {.permits = 0}));
  EXPECT_FAILS(Code::kInvalidArgument, mine.acquire("lock", {.permits = 1001}));
  EXPECT_FAILS(Code::kInvalidArgument, mine.acquire("lock", {.user = std::string(101, 'x')}));
  EXPECT_FAILS(Code::kInvalidArgument, mine.acquire("lock", {.user = "\xff"}));
  EXPECT_FAILS(Code::kInvalidArgument, mine.break_lock(""));
  EXPECT_FAILS(Code::kInvalidArgument, mine.state(std::string(2049, 'x')));
  EXPECT_FAILS(Code::kInvalidArgument, mine.set_permits("lock", 1001));
  EXPECT_FAILS(Code::kInvalidArgument, mine.list({}, {.limit = 0}));
  EXPECT_FAILS(Code::kBadCursor, mine.list({}, {.cursor = "AAAA"}));
  EXPECT_FAILS(Code::kInvalidArgument, Semaphore(bench.client, {.table = ""}).acquire("lock"));
  EXPECT_FAILS(Code::kInvalidArgument,
               Semaphore(bench.client, {.table = "L", .partition_key = ""}).acquire("lock"));
  EXPECT_FAILS(Code::kInvalidArgument,
               Semaphore(bench.client, {.table = "L", .prefix = "\xff"}).acquire("lock"));
  EXPECT_EQ(bench.client.sent(), before);
}

TEST_P(SemaphoreTest, RejectsAnItemThatIsNotALock) {
  ASSERT_OK(bench.client.put_item(
      {.table = "Locks", .item = {{"pk", "LOCK#x"}, {"owner", "someone"}, {"fence", "no"}}}));
  EXPECT_FAILS(Code::kConflict, other().acquire("x"));
  EXPECT_FAILS(Code::kConflict, other().state("x"));
}

// ---- Commit

TEST_P(SemaphoreTest, CommitsWhileItIsCurrent) {
  STATOR_NEEDS(Ability::kTransactions);
  auto lease = other().acquire("lock", {.lease = 1s});
  ASSERT_OK(lease);
  const TransactWriteItemsRequest write{
      .items = {{.table = "Locks", .item = {{"pk", "record"}, {"by", to_int64(lease->fence())}}}}};
  bench.time.advance(1s);  // no other process has acquired it, but one could
  const int before = bench.client.sent();
  EXPECT_FAILS(Code::kLost, lease->commit(write));
  EXPECT_EQ(bench.client.sent(), before);
  EXPECT_FALSE(lease->lost().stop_requested());
  ASSERT_OK(lease->renew());
  EXPECT_OK(lease->commit(write));
  EXPECT_TRUE(bench.client.get_item({.table = "Locks", .key = {{"pk", "record"}}})
                  .value()
                  .item.has_value());
  ASSERT_OK(lease->release());
  EXPECT_FAILS(Code::kLost, lease->commit(write));
}

TEST_P(SemaphoreTest, DoesNotRepeatACommitAfterTheEndOfTheLease) {
  auto lease = other().acquire("lock", {.lease = 1s});
  ASSERT_OK(lease);
  for (const auto& [fate, code] : {std::pair(lose_request(), Code::kOutcomeUnknown),
                                   {cancel({"TransactionConflict"}), Code::kLost}}) {
    ASSERT_OK(lease->renew());
    const int before = bench.client.sent("TransactWriteItems");
    bench.client.before([&, fate](std::string_view, int) {
      bench.time.advance(1s);
      return fate;
    });
    EXPECT_FAILS(code, lease->commit({}));
    bench.client.before(nullptr);
    EXPECT_EQ(bench.client.sent("TransactWriteItems") - before, 1);
  }
}

TEST_P(SemaphoreTest, HandsOnTheTransactionsOwnFailures) {
  STATOR_NEEDS(Ability::kTransactions);
  auto lease = other().acquire("lock");
  ASSERT_OK(lease);
  const auto refused = lease->commit(
      {.items = {
           {.table = "Locks", .item = {{"pk", "record"}}, .condition = "attribute_exists(pk)"}}});
  EXPECT_FAILS(Code::kTransactionCanceled, refused);
  ASSERT_TRUE(refused.error().detail);
  EXPECT_EQ(refused.error().detail->reasons.at(0).code, "ConditionalCheckFailed");
  EXPECT_TRUE(lease->held());
}

TEST_P(SemaphoreTest, CommitsThroughConflictsAndLostReplies) {
  STATOR_NEEDS(Ability::kTransactions);
  auto lease = other().acquire("lock");
  ASSERT_OK(lease);
  const TransactWriteItemsRequest count{.items = {{.action = TransactAction::kUpdate,
                                                   .table = "Locks",
                                                   .item = {{"pk", "counter"}},
                                                   .update = "ADD runs :one",
                                                   .values = Values{{":one", 1}}}}};
  bench.client.first("TransactWriteItems", 2, cancel({"None", "TransactionConflict"}));
  EXPECT_OK(lease->commit(count));
  bench.client.first("TransactWriteItems", 1, lose_reply());
  EXPECT_OK(lease->commit(count));
  // The attempt without a response took effect, and the next one was in its way.
  bench.client.before(
      [before = bench.client.sent("TransactWriteItems")](std::string_view, int nth) {
        if (nth == before + 1) return lose_reply();
        return nth == before + 2 ? cancel({"None", "TransactionConflict"}) : pass();
      });
  EXPECT_OK(lease->commit(count));
  bench.client.before(nullptr);
  EXPECT_EQ(bench.client.get_item({.table = "Locks", .key = {{"pk", "counter"}}})
                .value()
                .item->at("runs"),
            AttributeValue(3));
}

TEST_P(SemaphoreTest, AdmitsOneThreadAtATime) {
  STATOR_NEEDS(Ability::kTransactions);
  constexpr int kThreads = 6;
  constexpr int kRounds = 8;
  std::atomic<int> inside = 0;
  std::atomic<int64_t> last_fence = 0;
  ASSERT_OK(bench.client.put_item(
      {.table = "Locks", .item = {{"pk", "record"}, {"value", 0}, {"rounds", 0}}}));
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&] {
        Semaphore locks(bench.client, real_time());
        for (int round = 0; round < kRounds; ++round) {
          auto lease = locks.acquire("lock", {.lease = 1h, .wait = kWaitForEver});
          ASSERT_OK(lease);
          EXPECT_EQ(inside.fetch_add(1), 0);
          EXPECT_GT(to_int64(lease->fence()), last_fence.exchange(to_int64(lease->fence())));
          // Read, modify, write: a race would lose updates.
          const Item record =
              bench.client
                  .get_item({.table = "Locks", .key = {{"pk", "record"}}, .consistent_read = true})
                  .value()
                  .item.value();
          const int64_t rounds = record.at("rounds").get_if<Number>()->to_int64().value();
          EXPECT_OK(lease->commit(
              {.items = {{.table = "Locks",
                          .item = {{"pk", "record"}, {"value", 0}, {"rounds", rounds + 1}}}}}));
          inside.fetch_sub(1);
          EXPECT_OK(lease->release());
        }
      });
    }
  }
  EXPECT_EQ(bench.client.get_item({.table = "Locks", .key = {{"pk", "record"}}})
                .value()
                .item->at("rounds"),
            AttributeValue(kThreads * kRounds));
}

TEST_P(SemaphoreTest, CostsTheDocumentedUnits) {
  Semaphore mine = other();
  std::optional<Lease> kept;
  const auto acquiring = bench.cost_of([&] {
    auto lease = mine.acquire("lock", {.lease = 1s});
    ASSERT_OK(lease);
    kept.emplace(std::move(*lease));
  });
  EXPECT_EQ(acquiring.requests, 1);
  EXPECT_EQ(acquiring.write_units, 1);
  const auto renewing = bench.cost_of([&] { ASSERT_OK(kept->renew()); });
  EXPECT_EQ(renewing.requests, 1);
  EXPECT_EQ(renewing.write_units, 1);

  Semaphore watcher = other();
  EXPECT_FAILS(Code::kHeld, watcher.acquire("lock"));
  bench.time.advance(takeover_after(1s));
  std::optional<Lease> taken;
  const auto taking_over = bench.cost_of([&] {
    auto lease = watcher.acquire("lock");
    ASSERT_OK(lease);
    taken.emplace(std::move(*lease));
  });
  EXPECT_EQ(taking_over.requests, 1);
  EXPECT_EQ(taking_over.write_units, 1);
  const auto releasing = bench.cost_of([&] { ASSERT_OK(taken->release()); });
  EXPECT_EQ(releasing.requests, 1);
  EXPECT_EQ(releasing.write_units, 1);
}

// ---- Creation of the table

TEST_P(SemaphoreTest, ItsTableIsCreatedOnceByManyAtOnce) {
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&] {
      EXPECT_OK(create_table_if_missing(*bench.home.client,
                                        Semaphore::table_definition({.table = "Fresh"})));
    });
  }
}

TEST_P(SemaphoreTest, RejectsATableWithOtherKeys) {
  CreateTableRequest wanted = Semaphore::table_definition({.table = "Locks"});
  wanted.key_schema[0].name = wanted.attributes[0].name = "semaphoreName";
  EXPECT_FAILS(Code::kConflict, create_table_if_missing(*bench.home.client, wanted));
  bench.client.before([](std::string_view operation, int) {
    return operation == "CreateTable" ? refuse(Code::kAccessDenied) : pass();
  });
  EXPECT_FAILS(
      Code::kAccessDenied,
      create_table_if_missing(bench.client, Semaphore::table_definition({.table = "Other"})));
}

}  // namespace
}  // namespace stator
