// SPDX-License-Identifier: Apache-2.0
// Background renewal, lost leases, operators, tables of other programs.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <set>
#include <string>
#include <thread>

#include "recipes/semaphore_test.h"
#include "stator/call_limits.h"
#include "support/stepped_time.h"

namespace stator {
namespace {

using namespace std::chrono_literals;
using namespace test;

class SemaphoreLease : public SemaphoreBench {
 protected:
  SemaphoreOptions stepped() { return {.table = "Locks", .time = &steps}; }
  // The threads of a lease.
  static constexpr int kThreads = 2;
  static std::set<std::string> threads_of_this_process() {
    std::set<std::string> threads;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
      threads.insert(thread.path().filename());
    }
    return threads;
  }
  // Counts the threads that are not in `before`. The kernel can list a thread for a short time
  // after it was joined, so a plain count could include one that has ended.
  static std::ptrdiff_t threads_since(const std::set<std::string>& before) {
    return std::ranges::count_if(threads_of_this_process(),
                                 [&](const auto& thread) { return !before.contains(thread); });
  }

  SteppedTime steps;
};
STATOR_IN_ALL_HOMES(SemaphoreLease);

TEST_P(SemaphoreLease, IsRenewedInTheBackgroundIfRequested) {
  Semaphore locks(bench.client, stepped());
  auto lease = locks.acquire("lock", {.lease = 30s, .renewal = Renewal::kBackground});
  ASSERT_OK(lease);
  Semaphore watcher(bench.client, stepped());
  const int before = bench.client.sent("UpdateItem");
  for (int i = 0; i < 60; ++i) {
    steps.advance(3s, kThreads);
    EXPECT_GT(lease->remaining(), 15s);
    if (i % 10 == 0) {
      EXPECT_FAILS(Code::kHeld, watcher.acquire("lock"));
    }
  }
  EXPECT_FALSE(lease->lost().stop_requested());
  // 180 seconds: a renewal every 12 s, in steps of 3 s, and the watcher's six attempts.
  EXPECT_NEAR(bench.client.sent("UpdateItem") - before, 15 + 6, 1);
  const std::stop_token lost = lease->lost();
  ASSERT_OK(lease->release());
  EXPECT_FALSE(lost.stop_requested());
  EXPECT_OK(watcher.acquire("lock"));
}

TEST_P(SemaphoreLease, IsRenewedInTheBackgroundOnceASharerRequestsIt) {
  Semaphore locks(bench.client, stepped());
  auto outer = locks.acquire("lock", {.lease = 30s, .reentry = Reentry::kObject});
  ASSERT_OK(outer);
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK(locks.acquire(
        "lock", {.lease = 30s, .renewal = Renewal::kBackground, .reentry = Reentry::kObject}));
  }
  for (int i = 0; i < 20; ++i) {
    steps.advance(3s, kThreads);
    EXPECT_GT(outer->remaining(), 15s);
  }
}

TEST_P(SemaphoreLease, HasNoThreadsButInTheBackground) {
  Semaphore locks = other();
  auto plain = locks.acquire("plain");
  ASSERT_OK(plain);
  const auto before = threads_of_this_process();
  {
    auto lease = locks.acquire("lock");
    ASSERT_OK(lease);
    EXPECT_EQ(threads_since(before), 0);
  }
  {
    Semaphore slow(bench.client, stepped());
    auto lease = slow.acquire("lock", {.renewal = Renewal::kBackground});
    ASSERT_OK(lease);
    EXPECT_EQ(threads_since(before), kThreads);
  }
  while (threads_since(before) > 0) std::this_thread::yield();
}

TEST_P(SemaphoreLease, IsLostWhenItCouldNotBeRenewedInTime) {
  Semaphore locks(bench.client, stepped());
  auto lease = locks.acquire("lock", {.lease = 30s, .renewal = Renewal::kBackground});
  ASSERT_OK(lease);
  std::atomic<bool> told = false;
  const std::stop_callback callback(lease->lost(), [&] { told = true; });
  bench.client.before([](std::string_view, int) { return refuse(Code::kAccessDenied); });
  for (int i = 0; i < 9; ++i) steps.advance(3s, kThreads);
  EXPECT_TRUE(lease->held());
  EXPECT_FALSE(lease->lost().stop_requested());
  steps.advance(3s, kThreads);
  while (!told) std::this_thread::yield();
  EXPECT_TRUE(lease->lost().stop_requested());
  EXPECT_FALSE(lease->held());
  EXPECT_FAILS(Code::kLost, lease->renew());
  bench.client.before(nullptr);
  const int sent = bench.client.sent();
  EXPECT_FAILS(Code::kLost, lease->commit({}));
  EXPECT_EQ(bench.client.sent(), sent);
  // No other process has the lock yet, so the release saves the next one the wait.
  EXPECT_OK(lease->release());
  EXPECT_OK(locks.acquire("lock"));
}

TEST_P(SemaphoreLease, IsLostAlsoWhileARenewalHangs) {
  std::stop_source end;
  Semaphore locks(bench.client, stepped());
  auto lease = locks.acquire("lock", {.lease = 30s, .renewal = Renewal::kBackground});
  ASSERT_OK(lease);
  bench.client.before([&](std::string_view, int) {
    while (!end.stop_requested()) std::this_thread::yield();
    return refuse(Code::kAccessDenied);
  });
  steps.advance(12s, kThreads);
  // The keeper is in its request now or soon; the watcher continues without it.
  for (int i = 0; i < 6; ++i) steps.advance(3s, 1);
  while (!lease->lost().stop_requested()) std::this_thread::yield();
  EXPECT_FALSE(lease->held());
  end.request_stop();
  (void)lease->release();
}

TEST_P(SemaphoreLease, ReportsThatItWasTakenOver) {
  Semaphore locks(bench.client, stepped());
  auto lease = locks.acquire("lock", {.lease = 30s, .renewal = Renewal::kBackground});
  ASSERT_OK(lease);
  const auto broken = other().break_lock("lock");
  ASSERT_OK(broken);
  EXPECT_GT(*broken, lease->fence());
  auto next = other().acquire("lock");
  ASSERT_OK(next);
  EXPECT_GT(next->fence(), *broken);
  for (int i = 0; i < 4; ++i) steps.advance(3s, kThreads);
  while (!lease->lost().stop_requested()) std::this_thread::yield();
  EXPECT_FAILS(Code::kLost, lease->release());
  EXPECT_OK(next->renew());
}

TEST_P(SemaphoreLease, ReportsALossInTheDetectingCallWithoutThreads) {
  STATOR_NEEDS(Ability::kTransactions);
  Semaphore locks = other();
  auto lease = locks.acquire("lock", {.lease = 10s});
  auto second = locks.acquire("second");
  ASSERT_OK(lease);
  ASSERT_OK(second);
  Semaphore watcher = other();
  ASSERT_OK(watcher.acquire("lock", {.wait = 1min}));
  EXPECT_FALSE(lease->lost().stop_requested());
  EXPECT_FAILS(Code::kLost, lease->renew());
  EXPECT_TRUE(lease->lost().stop_requested());
  ASSERT_OK(watcher.break_lock("second"));
  EXPECT_FAILS(Code::kLost, second->commit({}));
  EXPECT_TRUE(second->lost().stop_requested());
  EXPECT_FALSE(second->held());
}

// A renewal's first request takes effect, but its reply is lost, and time passes before the next.
TEST_P(SemaphoreLease, NeverOutlivesTheCountOfAnObserver) {
  auto lease = other().acquire("lock", {.lease = 20s});
  ASSERT_OK(lease);
  Semaphore watcher = other();
  int seen = 0;
  bench.client.before([&](std::string_view, int) {
    if (++seen == 1) return lose_reply();
    if (seen > 2) return pass();
    // The watcher sees the renewal, but the holder does not know of it.
    EXPECT_FAILS(Code::kHeld, watcher.acquire("lock"));
    bench.time.advance(15s);
    return lose_request();
  });
  (void)lease->renew();
  const auto left = lease->remaining();
  bench.time.advance(std::max<std::chrono::nanoseconds>(0s, left - 1ns));
  EXPECT_FAILS(Code::kHeld, watcher.acquire("lock"));
}

// ---- Bounds of requests

TEST_P(SemaphoreLease, BoundsItsRequestsByTheLease) {
  const auto expect_bounds = [&](std::chrono::nanoseconds attempt, std::chrono::nanoseconds total) {
    bench.client.before([=](std::string_view, int) {
      const CallLimits* limits = CallLimits::current();
      EXPECT_NE(limits, nullptr);
      if (limits == nullptr) return pass();
      EXPECT_LE(limits->for_attempt(), attempt);
      EXPECT_LE(limits->left(), total);
      return pass();
    });
  };
  {
    expect_bounds(10s, 30s);
    auto lease = other().acquire("lock", {.lease = 30s});
    ASSERT_OK(lease);
    EXPECT_FAILS(Code::kTimeout, other().acquire("lock", {.lease = 30s, .wait = 10s}));
    expect_bounds(10s, 20s);
    bench.time.advance(10s);
    expect_commits(*lease);
    ASSERT_OK(lease->renew());
    expect_bounds(10s, 10s);
    bench.time.advance(25s);
    ASSERT_OK(lease->renew());
    expect_bounds(5s, 5s);
    ASSERT_OK(lease->release());
    EXPECT_EQ(CallLimits::current(), nullptr);
    expect_bounds(1s, 3s);
    lease = other().acquire("lock", {.lease = 3s});
    ASSERT_OK(lease);
  }
  bench.client.before(nullptr);
  // The lease has just been destroyed.
  EXPECT_TRUE(other().state("lock").value().holders.empty());
}

TEST_P(SemaphoreLease, BoundsACommitByItsEndAndByTheCallersLimits) {
  STATOR_NEEDS(Ability::kTransactions);
  auto lease = other().acquire("lock", {.lease = 300s});
  ASSERT_OK(lease);
  bench.time.advance(280s);
  std::chrono::nanoseconds most = 20s;
  std::stop_source source;
  int commits = 0;
  bench.client.before([&](std::string_view, int) {
    ++commits;
    EXPECT_LE(CallLimits::current()->for_attempt(), most);
    EXPECT_LE(CallLimits::current()->left(), most);
    EXPECT_EQ(CallLimits::current()->stop().stop_requested(), source.stop_requested());
    return pass();
  });
  expect_commits(*lease);
  const CallLimits callers({.attempt = 10s, .total = 10s, .stop = source.get_token()});
  most = 10s;
  expect_commits(*lease);
  source.request_stop();
  (void)lease->commit({});
  EXPECT_EQ(commits, 3);
  bench.client.before(nullptr);
}

TEST_P(SemaphoreLease, IsNotAcquiredWhenItIsStoppedDuringTheRequest) {
  SemaphoreOptions once = options();
  once.retry.max_attempts = 1;
  Semaphore locks(bench.client, once);
  for (const Fate& fate : {lose_reply(), lose_request(), refuse(Code::kCancelled)}) {
    std::stop_source source;
    bench.client.before([&, updates = 0](std::string_view operation, int) mutable {
      if (operation != "UpdateItem" || ++updates > 1) return pass();
      source.request_stop();
      EXPECT_TRUE(CallLimits::current()->stop().stop_requested());
      return fate;
    });
    EXPECT_FAILS(Code::kCancelled, locks.acquire("lock", {}, source.get_token()));
    bench.client.before(nullptr);
    EXPECT_TRUE(locks.state("lock").value().holders.empty());
  }
}

// ---- Operators

TEST_P(SemaphoreLease, OneHolderOfManyIsBroken) {
  STATOR_NEEDS(Ability::kTransactions);
  auto a = other().acquire("lock", {.permits = 2, .user = "ann"});
  auto b = other().acquire("lock", {.permits = 2, .user = "ben"});
  ASSERT_OK(b);
  Semaphore operators = other();
  const LockState state = operators.state("lock").value();
  EXPECT_EQ(state.permits, 2);
  EXPECT_EQ(state.holders.at(1).user, "ben");
  EXPECT_FAILS(Code::kNotFound, operators.break_lock("lock", "nobody"));
  EXPECT_FAILS(Code::kNotFound, operators.break_lock("absent"));
  const auto fence = operators.break_lock("lock", state.holders.at(1).owner);
  ASSERT_OK(fence);
  EXPECT_GT(*fence, b->fence());
  EXPECT_EQ(operators.state("lock")->fence, *fence);
  EXPECT_FAILS(Code::kLost, b->commit({}));
  EXPECT_FAILS(Code::kLost, b->release());
  EXPECT_OK(a->renew());
  EXPECT_OK(a->release());
  ASSERT_OK(operators.break_lock("lock"));  // increases the fencing token too
  EXPECT_GT(operators.state("lock")->fence, *fence);
}

TEST_P(SemaphoreLease, BreakingALockThatKeepsChangingCanBeRepeated) {
  Semaphore locks = other();
  ASSERT_OK(locks.acquire("lock"));
  Semaphore others(*bench.home.client, options());
  bench.client.before([&](std::string_view operation, int) {
    if (operation == "UpdateItem") {
      EXPECT_OK(others.acquire("lock"));
    }
    return pass();
  });
  const auto broken = locks.break_lock("lock");
  ASSERT_FALSE(broken);
  EXPECT_TRUE(broken.error().retryable()) << code_name(broken.error().code);
  bench.client.before(nullptr);
  EXPECT_OK(locks.break_lock("lock"));
}

TEST_P(SemaphoreLease, BreaksManyHolders) {
  Semaphore locks = other();
  std::vector<Lease> leases;
  for (int i = 0; i < 60; ++i) {
    auto lease = locks.acquire("lock", {.permits = 60});
    ASSERT_OK(lease);
    leases.push_back(std::move(*lease));
  }
  ASSERT_OK(locks.break_lock("lock"));
  EXPECT_TRUE(locks.state("lock")->holders.empty());
  for (Lease& lease : leases) EXPECT_FAILS(Code::kLost, lease.release());
}

TEST_P(SemaphoreLease, ListsLocksByUser) {
  Semaphore locks = other();
  std::vector<Lease> leases;
  for (const auto& [name, user] :
       {std::pair("a", "ann"), {"b", "ben"}, {"c#1", "ann"}, {"d", ""}}) {
    for (int i = 0; i < 2; ++i) {
      auto lease = locks.acquire(name, {.permits = 5, .user = i == 0 ? user : "other"});
      ASSERT_OK(lease);
      leases.push_back(std::move(*lease));
    }
  }
  auto free = locks.acquire("free");
  ASSERT_OK(free->release());
  ASSERT_OK(bench.client.put_item({.table = "Locks", .item = {{"pk", "LOCK#odd"}, {"held", 5}}}));
  ASSERT_OK(bench.client.put_item({.table = "Locks", .item = {{"pk", "something else"}}}));

  const auto names = [](const Page<LockState>& page) {
    std::vector<std::string> list;
    for (const LockState& state : page.items) list.push_back(state.name);
    return list;
  };
  EXPECT_THAT(names(locks.list().value()), testing::UnorderedElementsAre("a", "b", "c#1", "d"));
  const auto of_ann = locks.list({.user = "ann"});
  ASSERT_OK(of_ann);
  EXPECT_THAT(names(*of_ann), testing::UnorderedElementsAre("a", "c#1"));
  EXPECT_EQ(of_ann->items[0].holders.size(), 1U);
  EXPECT_THAT(names(locks.list({.user = ""}).value()), testing::ElementsAre("d"));

  std::vector<std::string> paged;
  PageOptions page{.limit = 1};
  do {
    const auto found = locks.list({}, page);
    ASSERT_OK(found);
    for (const std::string& name : names(*found)) paged.push_back(name);
    page.cursor = found->next;
  } while (!page.cursor.empty());
  EXPECT_THAT(paged, testing::UnorderedElementsAre("a", "b", "c#1", "d"));
  page.cursor = locks.list({}, {.limit = 1})->next;
  EXPECT_FAILS(Code::kBadCursor, locks.list({.user = "ann"}, page));
}

TEST_P(SemaphoreLease, ListsExpiredHolders) {
  auto dead = other().acquire("dead", {.lease = 10s, .user = "ann"});
  auto alive = other().acquire("alive", {.lease = 10s});
  ASSERT_OK(alive);
  bench.time.advance(1h);  // unknown, because no process has polled
  Semaphore locks = other();
  EXPECT_TRUE(locks.list({.expired = true})->items.empty());
  bench.time.advance(9s);
  ASSERT_OK(alive->renew());
  bench.time.advance(takeover_after(10s) - 9s);
  const auto expired = locks.list({.expired = true});
  ASSERT_OK(expired);
  ASSERT_EQ(expired->items.size(), 1U);
  EXPECT_EQ(expired->items[0].name, "dead");
  EXPECT_TRUE(expired->items[0].holders.at(0).expired());
  EXPECT_EQ(expired->items[0].holders.at(0).unchanged, takeover_after(10s));
}

TEST_P(SemaphoreLease, ListsOverdueHoldersByWallClocksAtOnce) {
  auto dead = other().acquire("dead", {.lease = 10s, .user = "ann"});
  auto alive = other().acquire("alive", {.lease = 10s});
  ASSERT_OK(alive);
  // A lock of a program that stores no times.
  ASSERT_OK(bench.client.put_item({.table = "Locks",
                                   .item = {{"pk", "LOCK#unknown"},
                                            {"permits", 1},
                                            {"held", 1},
                                            {"waiting", 0},
                                            {"fence", 1},
                                            {"fence:x", 1},
                                            {"holder:x", Map{{"beat", 1}, {"lease_ms", 1000}}}}}));
  bench.time.advance(9s);
  ASSERT_OK(alive->renew());
  const Time renewed = bench.time.now();
  bench.time.advance(1s);
  const auto overdue = other().list({.overdue = true});
  ASSERT_OK(overdue);
  ASSERT_EQ(overdue->items.size(), 1U);
  EXPECT_EQ(overdue->items[0].name, "dead");
  EXPECT_FALSE(overdue->items[0].holders.at(0).expired());
  EXPECT_EQ(other().state("alive")->holders.at(0).renewed_at, renewed);
  // The time is only a hint: a wrong wall clock affects only the list.
  bench.time.set_wall(renewed + 1h);
  EXPECT_EQ(other().list({.overdue = true})->items.size(), 2U);
  EXPECT_FAILS(Code::kHeld, other().acquire("alive"));
}

TEST_P(SemaphoreLease, ListsMoreLocksThanAnObjectRemembers) {
  constexpr int kLocks = 10'050;
  const AttributeValue holder =
      Map{{"beat", 1}, {"lease_ms", 1000}, {"since", "2024-05-01T00:00:00Z"}};
  for (int first = 0; first < kLocks; first += 25) {
    BatchWriteItemRequest batch;
    for (int i = first; i < first + 25; ++i) {
      batch.items["Locks"].push_back({.put = Item{{"pk", "LOCK#" + std::to_string(i)},
                                                  {"permits", 1},
                                                  {"held", 1},
                                                  {"waiting", 0},
                                                  {"fence", 1},
                                                  {"fence:x", 1},
                                                  {"holder:x", holder}}});
    }
    ASSERT_OK(bench.client.batch_write_item(batch));
  }
  Semaphore locks = other();
  EXPECT_FAILS(Code::kHeld, locks.acquire("0"));
  std::set<std::string> names;
  PageOptions page{.limit = 1000};
  do {
    const auto found = locks.list({.overdue = true}, page);
    ASSERT_OK(found);
    for (const LockState& state : found->items) EXPECT_TRUE(names.insert(state.name).second);
    page.cursor = found->next;
  } while (!page.cursor.empty());
  EXPECT_EQ(names.size(), kLocks);
  // Earlier observations are still known.
  bench.time.advance(takeover_after(1s));
  EXPECT_OK(locks.acquire("0"));
}

// ---- Tables of other programs

TEST_P(SemaphoreLease, LivesInThePostsTable) {
  const auto index = [](const char* name, const char* key) {
    return IndexDefinition{.name = name, .key_schema = {{key, KeyType::kHash}}};
  };
  const CreateTableRequest table{
      .table = "spectron_semaphores",
      .attributes = {{"semaphoreName", ScalarType::kS},
                     {"userId", ScalarType::kS},
                     {"expires", ScalarType::kN}},
      .key_schema = {{"semaphoreName", KeyType::kHash}},
      .global_indexes = std::vector{index("User", "userId"), index("Expires", "expires")},
      .billing_mode = BillingMode::kPayPerRequest};
  bench.create(table);
  const SemaphoreOptions options{.table = "spectron_semaphores",
                                 .partition_key = "semaphoreName",
                                 .prefix = "",
                                 .time = &bench.time};
  Semaphore locks(bench.client, options);
  auto lease = locks.acquire("tbl_issues:7", {.user = "ann"});
  ASSERT_OK(lease);
  expect_commits(*lease);
  EXPECT_EQ(locks.list()->items.at(0).name, "tbl_issues:7");
  // A row of the article's program is not changed: that program knows no leases.
  ASSERT_OK(bench.client.put_item(
      {.table = options.table,
       .item = {{"semaphoreName", "tbl_issues:8"}, {"userId", "ben"}, {"expires", 1}}}));
  EXPECT_FAILS(Code::kConflict, locks.acquire("tbl_issues:8"));
}

TEST_P(SemaphoreLease, SharesATableWithASortKeyAndOtherPrefixes) {
  const SemaphoreOptions a{
      .table = "Shared", .sort_key = "sk", .prefix = "A#", .time = &bench.time};
  SemaphoreOptions b = a;
  b.prefix = "B#";
  bench.create(Semaphore::table_definition(a));
  Semaphore in_a(bench.client, a);
  Semaphore in_b(bench.client, b);
  auto lease = in_a.acquire("lock");
  ASSERT_OK(lease);
  EXPECT_OK(in_b.acquire("lock"));
  EXPECT_FAILS(Code::kHeld, in_a.acquire("lock"));
  EXPECT_OK(lease->renew());
  expect_commits(*lease);
  EXPECT_EQ(in_a.list()->items.size(), 1U);
  EXPECT_TRUE(in_b.list()->items.empty());
}

TEST_P(SemaphoreLease, AcceptsUnusualNames) {
  Semaphore locks = other();
  for (const std::string& name :
       {std::string("#"), std::string("%23"), std::string("a#b"), std::string("a%23b"),
        std::string("żółw 🐢"), std::string(2043, 'x'), std::string("\0", 1)}) {
    auto lease = locks.acquire(name);
    ASSERT_OK(lease);
    EXPECT_EQ(locks.list()->items.at(0).name, name);
    EXPECT_EQ(lease->fence(), Fence{1});
  }
}

}  // namespace
}  // namespace stator
