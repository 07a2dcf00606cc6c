// SPDX-License-Identifier: Apache-2.0
// Several permits, queues, shared leases, wakeups.
#include <atomic>
#include <cstdio>
#include <set>
#include <thread>

#include "recipes/semaphore/lock_item.h"
#include "recipes/semaphore_test.h"
#include "support/stepped_time.h"

namespace stator {
namespace {

using namespace std::chrono_literals;
using namespace test;

class SemaphorePermits : public SemaphoreBench {
 protected:
  // A lock's item as another process could have left it.
  Item item_with(int permits, const std::vector<std::string>& holders,
                 const std::vector<std::string>& waiters) {
    Item item{{"pk", "LOCK#lock"},
              {"permits", permits},
              {"held", static_cast<int64_t>(holders.size())},
              {"waiting", static_cast<int64_t>(waiters.size())}};
    int64_t fence = 0;
    for (const auto& [kind, ids] :
         {std::pair(recipes::kHolder, holders), std::pair(recipes::kWaiter, waiters)}) {
      for (const std::string& id : ids) {
        item.emplace(kind.map + id, Map{{"beat", 1}, {"lease_ms", 10'000}});
        item.emplace(kind.number + id, ++fence);
      }
    }
    item.emplace("fence", fence);
    return item;
  }
  void put(Item item) {
    ASSERT_OK(bench.client.put_item({.table = "Locks", .item = std::move(item)}));
  }
  std::vector<std::string> owners(const std::vector<LockHolder>& holders) {
    std::vector<std::string> ids;
    for (const LockHolder& holder : holders) ids.push_back(holder.owner);
    return ids;
  }
};
STATOR_IN_ALL_HOMES(SemaphorePermits);

TEST_P(SemaphorePermits, AdmitsOneHolderPerPermit) {
  Semaphore locks = other();
  std::vector<Lease> leases;
  Fence last{0};
  for (int i = 0; i < 3; ++i) {
    auto lease = locks.acquire("lock", {.permits = 3, .user = "user " + std::to_string(i)});
    ASSERT_OK(lease);
    EXPECT_GT(lease->fence(), last);
    last = lease->fence();
    leases.push_back(std::move(*lease));
  }
  const auto refused = other().acquire("lock", {.permits = 3});
  EXPECT_FAILS(Code::kHeld, refused);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("held by user 0 (fence 1, lease of "
                                                          "20000 ms) and 2 more"));
  EXPECT_EQ(Semaphore::state_in(refused.error())->holders.size(), 3U);
  ASSERT_OK(leases[1].release());
  const auto next = other().acquire("lock", {.permits = 3});
  ASSERT_OK(next);
  EXPECT_GT(next->fence(), last);
  EXPECT_OK(leases[0].renew());
  EXPECT_OK(leases[2].renew());
  expect_commits(leases[2]);
}

TEST_P(SemaphorePermits, RefusesLimitsThatDisagree) {
  auto lease = other().acquire("lock", {.permits = 3, .user = "ann"});
  ASSERT_OK(lease);
  const auto refused = other().acquire("lock", {.permits = 4, .wait = kWaitForEver});
  EXPECT_FAILS(Code::kLimitsDisagree, refused);
  EXPECT_THAT(refused.error().message,
              testing::HasSubstr("lock has 3 permits, not the 4 asked for; it is held by ann"));
  ASSERT_OK(lease->release());
  EXPECT_FAILS(Code::kLimitsDisagree, other().acquire("lock"));
}

TEST_P(SemaphorePermits, AppliesThePermitsOfAnOperator) {
  EXPECT_FAILS(Code::kNotFound, other().set_permits("lock", 2));
  auto a = other().acquire("lock", {.permits = 2});
  auto b = other().acquire("lock", {.permits = 2});
  ASSERT_OK(a);
  ASSERT_OK(b);
  ASSERT_OK(other().set_permits("lock", 1));
  EXPECT_FAILS(Code::kLimitsDisagree, other().acquire("lock", {.permits = 2}));
  EXPECT_FAILS(Code::kHeld, other().acquire("lock"));
  EXPECT_OK(a->renew());
  ASSERT_OK(a->release());
  EXPECT_FAILS(Code::kHeld, other().acquire("lock"));
  ASSERT_OK(b->release());
  EXPECT_OK(other().acquire("lock"));
}

TEST_P(SemaphorePermits, TakesOverOnlyFromExpiredHolders) {
  auto alive = other().acquire("lock", {.permits = 3, .lease = 10s});
  auto dead = other().acquire("lock", {.permits = 3, .lease = 10s});
  auto slow = other().acquire("lock", {.permits = 3, .lease = 1h});
  ASSERT_OK(slow);
  Semaphore watcher = other();
  EXPECT_FAILS(Code::kHeld, watcher.acquire("lock", {.permits = 3}));
  bench.time.advance(9s);
  ASSERT_OK(alive->renew());
  bench.time.advance(takeover_after(10s) - 9s);
  auto taken = watcher.acquire("lock", {.permits = 3});
  ASSERT_OK(taken);
  EXPECT_FAILS(Code::kLost, dead->renew());
  EXPECT_OK(alive->renew());
  EXPECT_OK(slow->renew());
  EXPECT_OK(taken->renew());
  EXPECT_FAILS(Code::kHeld, watcher.acquire("lock", {.permits = 3}));
}

TEST_P(SemaphorePermits, TakesOverFromManyExpiredHoldersAtOnce) {
  std::vector<std::string> ids;
  for (int i = 0; i < 30; ++i) ids.push_back("dead" + std::to_string(i));
  put(item_with(30, ids, {}));
  Semaphore watcher = other();
  auto lease = watcher.acquire("lock", {.permits = 30, .wait = 1min});
  ASSERT_OK(lease);
  EXPECT_EQ(to_int64(lease->fence()), 31);
  std::vector<Lease> leases;
  for (int i = 0; i < 29; ++i) {
    auto next = watcher.acquire("lock", {.permits = 30});
    ASSERT_OK(next);
    leases.push_back(std::move(*next));
  }
  EXPECT_FAILS(Code::kHeld, watcher.acquire("lock", {.permits = 30}));
}

TEST_P(SemaphorePermits, RejectsItemsWithWrongCounts) {
  Item item = item_with(2, {"a"}, {});
  item["held"] = 2;
  put(item);
  EXPECT_FAILS(Code::kConflict, other().state("lock"));
  item = item_with(1, {"a"}, {});
  item["holder:a"] = Map{{"beat", 1}, {"lease_ms", -5}};
  put(item);
  EXPECT_FAILS(Code::kConflict, other().acquire("lock"));
}

TEST_P(SemaphorePermits, IsSharedByThreads) {
  constexpr int kPermits = 3;
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  std::mutex mutex;
  std::set<int64_t> fences;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 8; ++thread) {
      threads.emplace_back([&, thread] {
        Semaphore locks(bench.client, real_time());
        for (int round = 0; round < 6; ++round) {
          auto lease =
              locks.acquire("lock", {.permits = kPermits,
                                     .lease = 1h,
                                     .wait = kWaitForEver,
                                     .order = thread % 2 == 0 ? Order::kFifo : Order::kAny});
          ASSERT_OK(lease);
          const int now = inside.fetch_add(1) + 1;
          EXPECT_LE(now, kPermits);
          for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
          }
          std::this_thread::yield();
          {
            const std::scoped_lock lock(mutex);
            EXPECT_TRUE(fences.insert(to_int64(lease->fence())).second);
          }
          inside.fetch_sub(1);
          EXPECT_OK(lease->release());
        }
      });
    }
  }
  const auto state = other().state("lock");
  EXPECT_TRUE(state->holders.empty());
  EXPECT_TRUE(state->waiters.empty());
}

// docs/recipes/semaphore.md contains these costs.
TEST_P(SemaphorePermits, CostsTheDocumentedUnits) {
  STATOR_NEEDS(Ability::kUnitsOfTransactions);
  const auto expect_cost = [&](const char* what, int requests, double units, auto action) {
    const examples::Cost cost = bench.cost_of(action);
    EXPECT_EQ(cost.requests, requests) << what;
    EXPECT_EQ(cost.write_units, units) << what;
    if (GetParam() == "memory") {
      std::printf("%-45s %2d requests %5.0f write units\n", what, static_cast<int>(cost.requests),
                  cost.write_units);
    }
  };
  Semaphore locks = other();
  expect_cost("acquire and release", 2, 2, [&] { ASSERT_OK(locks.acquire("a")->release()); });
  auto lease = locks.acquire("a", {.lease = 10s});
  expect_cost("renew", 1, 1, [&] { ASSERT_OK(lease->renew()); });
  expect_cost("commit of one small item", 1, 4, [&] {
    ASSERT_OK(lease->commit({.items = {{.table = "Locks", .item = {{"pk", "record"}}}}}));
  });
  EXPECT_FAILS(Code::kHeld, locks.acquire("a"));
  bench.time.advance(takeover_after(10s));
  Result<Lease> taken = fail(Code::kHeld, "not yet");
  expect_cost("take over, after observing", 1, 1, [&] { taken = locks.acquire("a"); });
  ASSERT_OK(taken);
  expect_cost("wait in line, both releases", 6, 4, [&] {
    // A failed attempt, which also costs units but reports none; enqueue, poll, take.
    bench.client.before([&](std::string_view operation, int) {
      if (operation == "GetItem") {
        EXPECT_OK(taken->release());
      }
      return pass();
    });
    EXPECT_OK(locks.acquire("a", {.wait = 1h, .order = Order::kFifo}));
    bench.client.before(nullptr);
  });
  for (const auto& [permits, units] : {std::pair(10, 4), {100, 22}, {1000, 206}}) {
    std::vector<std::string> ids;
    for (int i = 1; i < permits; ++i) ids.push_back(std::to_string(1'000'000'000'000'000 + i));
    Item item = item_with(permits, ids, {});
    for (const std::string& id : ids) {
      item["holder:" + id] =
          Map{{"beat", 1}, {"lease_ms", 20'000}, {"since", "2024-05-01T12:00:00.123456789Z"}};
    }
    put(std::move(item));
    expect_cost(("acquire and release of " + std::to_string(permits)).c_str(), 2, units,
                [&] { ASSERT_OK(locks.acquire("lock", {.permits = permits})->release()); });
  }
}

// ---- Queue

TEST_P(SemaphorePermits, ServesQueuedWaitersInOrder) {
  auto lease = other().acquire("lock", {.lease = 1h});
  ASSERT_OK(lease);
  constexpr int kWaiters = 4;
  std::mutex mutex;
  std::vector<int> served;
  std::vector<std::jthread> threads;
  Semaphore looking(bench.client, real_time());
  for (int i = 0; i < kWaiters; ++i) {
    threads.emplace_back([&, i] {
      Semaphore locks(bench.client, real_time());
      auto mine = locks.acquire(
          "lock",
          {.lease = 1h, .wait = kWaitForEver, .user = std::to_string(i), .order = Order::kFifo});
      ASSERT_OK(mine);
      const std::scoped_lock lock(mutex);
      served.push_back(i);
    });
    while (looking.state("lock")->waiters.size() <= static_cast<std::size_t>(i)) {
      std::this_thread::yield();
    }
  }
  EXPECT_EQ(looking.state("lock")->waiters.at(2).user, "2");
  // A contender that is not in the queue cannot acquire the lock while others are.
  EXPECT_FAILS(Code::kHeld, looking.acquire("lock"));
  ASSERT_OK(lease->release());
  threads.clear();
  EXPECT_THAT(served, testing::ElementsAre(0, 1, 2, 3));
  EXPECT_TRUE(looking.state("lock")->waiters.empty());
}

TEST_P(SemaphorePermits, DoesNotOvertakeQueuedWaiters) {
  put(item_with(1, {}, {"first"}));
  EXPECT_FAILS(Code::kHeld, other().acquire("lock"));
  EXPECT_FAILS(Code::kTimeout, other().acquire("lock", {.wait = 5s}));
  EXPECT_FAILS(Code::kTimeout, other().acquire("lock", {.wait = 5s, .order = Order::kFifo}));
  EXPECT_THAT(owners(other().state("lock")->waiters), testing::ElementsAre("first"));
}

TEST_P(SemaphorePermits, RemovesAnExpiredWaiterAfterObservingItsLease) {
  for (const Order order : {Order::kAny, Order::kFifo}) {
    put(item_with(1, {}, {"dead"}));
    Semaphore watcher = other();
    const auto start = bench.time.since_boot();
    auto lease = watcher.acquire("lock", {.wait = kWaitForEver, .order = order});
    ASSERT_OK(lease);
    EXPECT_GE(bench.time.since_boot() - start, takeover_after(10s));
    EXPECT_LE(bench.time.since_boot() - start, 11s);
    EXPECT_TRUE(watcher.state("lock")->waiters.empty());
  }
}

TEST_P(SemaphorePermits, ClearsALongQueueOfExpiredWaiters) {
  std::vector<std::string> ids;
  for (int i = 0; i < 50; ++i) ids.push_back("dead" + std::to_string(i));
  put(item_with(2, {"holder"}, ids));
  auto lease = other().acquire("lock", {.permits = 2, .wait = 12s, .order = Order::kFifo});
  ASSERT_OK(lease);
  EXPECT_EQ(other().state("lock")->holders.size(), 1U);  // the holder was dead too
  EXPECT_TRUE(other().state("lock")->waiters.empty());
}

TEST_P(SemaphorePermits, ShowsThatItStillWaits) {
  put(item_with(1, {"holder"}, {}));
  int64_t beats = 0;
  bench.client.before([&](std::string_view operation, int) {
    if (operation != "GetItem") return pass();
    // The holder is alive.
    EXPECT_OK(bench.home.client->update_item({.table = "Locks",
                                              .key = {{"pk", "LOCK#lock"}},
                                              .update = "SET #h.beat = #h.beat + :one",
                                              .names = Names{{"#h", "holder:holder"}},
                                              .values = Values{{":one", 1}}}));
    const auto item =
        bench.home.client->get_item({.table = "Locks", .key = {{"pk", "LOCK#lock"}}}).value().item;
    const auto lock = recipes::parse_lock(*item);
    // Not in the queue yet if the failed attempt returned no item.
    if (!lock->waiters.empty()) beats = lock->waiters.at(0).beat;
    return pass();
  });
  EXPECT_FAILS(Code::kTimeout,
               other().acquire("lock", {.lease = 3s, .wait = 60s, .order = Order::kFifo}));
  EXPECT_GE(beats, 20);
  bench.client.before(nullptr);
  // It leaves the queue when it gives up.
  EXPECT_TRUE(other().state("lock")->waiters.empty());
}

TEST_P(SemaphorePermits, LeavesTheQueueWhenStopped) {
  put(item_with(1, {"holder"}, {}));
  Semaphore locks(bench.client, real_time());
  std::stop_source source;
  std::jthread stopper([&] {
    while (locks.state("lock")->waiters.empty()) std::this_thread::yield();
    source.request_stop();
  });
  EXPECT_FAILS(
      Code::kCancelled,
      locks.acquire("lock", {.wait = kWaitForEver, .order = Order::kFifo}, source.get_token()));
  EXPECT_TRUE(locks.state("lock")->waiters.empty());
}

TEST_P(SemaphorePermits, JoinsTheQueueOnceWhenAResponseIsLost) {
  put(item_with(1, {"holder"}, {}));
  bench.client.before([](std::string_view operation, int nth) {
    return operation == "UpdateItem" && nth == 2 ? lose_reply() : pass();
  });
  auto lease = other().acquire("lock", {.wait = 1min, .order = Order::kFifo});
  ASSERT_OK(lease);
  // The holder and the waiter used one number each.
  EXPECT_EQ(to_int64(lease->fence()), 3);
  EXPECT_EQ(lease->remaining(), 20s);
}

// ---- Sharing a lease

TEST_P(SemaphorePermits, SharesALeaseWithinItsThreadIfRequested) {
  Semaphore locks = other();
  auto outer = locks.acquire("lock", {.reentry = Reentry::kThread});
  ASSERT_OK(outer);
  const int before = bench.client.sent();
  auto inner = locks.acquire("lock", {.reentry = Reentry::kThread});
  ASSERT_OK(inner);
  EXPECT_EQ(bench.client.sent(), before);
  EXPECT_EQ(inner->fence(), outer->fence());
  EXPECT_FAILS(Code::kHeld, locks.acquire("lock"));
  EXPECT_FAILS(Code::kHeld, other().acquire("lock", {.reentry = Reentry::kThread}));
  EXPECT_FAILS(Code::kHeld, locks.acquire("lock", {.reentry = Reentry::kObject}));
  EXPECT_FAILS(Code::kLimitsDisagree,
               locks.acquire("lock", {.permits = 2, .reentry = Reentry::kThread}));
  std::jthread([&] {
    EXPECT_FAILS(Code::kHeld, locks.acquire("lock", {.reentry = Reentry::kThread}));
  }).join();
  ASSERT_OK(outer->release());
  EXPECT_FALSE(outer->held());
  EXPECT_FAILS(Code::kLost, outer->renew());
  EXPECT_TRUE(inner->held());
  EXPECT_FAILS(Code::kHeld, other().acquire("lock"));
  EXPECT_OK(inner->renew());
  ASSERT_OK(inner->release());
  EXPECT_OK(other().acquire("lock"));
}

TEST_P(SemaphorePermits, SharesALeaseWithinItsObjectIfRequested) {
  Semaphore locks = other();
  auto outer = locks.acquire("lock", {.lease = 10s, .reentry = Reentry::kObject});
  ASSERT_OK(outer);
  std::jthread([&] {
    auto inner = locks.acquire("lock", {.lease = 10s, .reentry = Reentry::kObject});
    ASSERT_OK(inner);
    EXPECT_EQ(inner->fence(), outer->fence());
  }).join();
  EXPECT_TRUE(outer->held());
  // An expired lease is not shared.
  bench.time.advance(10s);
  EXPECT_FAILS(Code::kHeld, locks.acquire("lock", {.reentry = Reentry::kObject}));
  ASSERT_OK(outer->release());
  EXPECT_OK(locks.acquire("lock", {.reentry = Reentry::kObject}));
}

TEST_P(SemaphorePermits, SharesALeaseWithTheRequestedLength) {
  Semaphore locks = other();
  auto outer = locks.acquire("lock", {.lease = 10s, .reentry = Reentry::kObject});
  ASSERT_OK(outer);
  bench.time.advance(4s);
  auto inner = locks.acquire("lock", {.lease = 6s, .reentry = Reentry::kObject});
  ASSERT_OK(inner);
  EXPECT_EQ(inner->remaining(), 6s);  // the remaining time of the outer lease
  auto longer = locks.acquire("lock", {.lease = 60s, .reentry = Reentry::kObject});
  ASSERT_OK(longer);
  EXPECT_EQ(longer->fence(), outer->fence());
  EXPECT_EQ(longer->remaining(), 60s);
  Semaphore watcher = other();
  EXPECT_EQ(watcher.state("lock")->holders.at(0).lease, 60s);
  bench.time.advance(60s);
  EXPECT_FAILS(Code::kHeld, watcher.acquire("lock"));
  ASSERT_OK(outer->renew());
  EXPECT_EQ(longer->remaining(), 60s);
}

TEST_P(SemaphorePermits, AcquiresALockThatWasTakenFromTheSharedLease) {
  Semaphore locks = other();
  auto outer = locks.acquire("lock", {.lease = 10s, .reentry = Reentry::kObject});
  ASSERT_OK(outer);
  bench.time.advance(4s);
  const auto broken = other().break_lock("lock");
  ASSERT_OK(broken);
  const auto again = locks.acquire("lock", {.lease = 10s, .reentry = Reentry::kObject});
  ASSERT_OK(again);
  EXPECT_GT(again->fence(), *broken);
  EXPECT_FALSE(outer->held());
}

// ---- Wakeups within a process

TEST_P(SemaphorePermits, WakesAWaiterInTheProcessAtOnce) {
  auto lease = other().acquire("lock", {.lease = 24h});
  ASSERT_OK(lease);
  SemaphoreOptions patient = real_time();
  patient.backoff_base = patient.backoff_max = 24h;
  const int before = bench.client.sent();
  std::atomic<int> had = 0;
  std::vector<std::jthread> threads;
  for (const Order order : {Order::kAny, Order::kFifo, Order::kAny}) {
    threads.emplace_back([&, order] {
      Semaphore locks(bench.client, patient);
      ASSERT_OK(locks.acquire("lock", {.lease = 24h, .wait = kWaitForEver, .order = order}));
      had.fetch_add(1);
    });
  }
  while (bench.client.sent() < before + 4) std::this_thread::yield();
  ASSERT_OK(lease->release());
  threads.clear();
  EXPECT_EQ(had, 3);
}

TEST(LockBell, PassesOnAnUnansweredRing) {
  const Home home = open_home("memory");
  SteppedTime time;
  const recipes::LockTable table{.client = *home.client, .options = {.table = "T"}, .time = time};
  using Woken = recipes::LockBell::Woken;
  std::optional<recipes::LockBell> first(std::in_place, table, "key");
  first->set_place(1);
  recipes::LockBell::ring(table, "other");
  Woken last_woken = Woken::kByTime;
  std::jthread sleeper([&] {
    recipes::LockBell last(table, "key");
    last_woken = last.wait(time, 1h, {});
    last.answered();
  });
  time.advance(0s, 1);
  std::jthread second([&] {
    EXPECT_EQ(first->wait(time, 1h, {}), Woken::kByRing);
    first.reset();
  });
  time.advance(0s, 2);
  recipes::LockBell::ring(table, "key");
  second.join();
  sleeper.join();
  EXPECT_EQ(last_woken, Woken::kByRing);
  recipes::LockBell awake(table, "key");
  recipes::LockBell::ring(table, "key");
  EXPECT_EQ(awake.wait(time, 1h, {}), Woken::kByRing);
  EXPECT_EQ(awake.wait(time, 0s, {}), Woken::kByTime);
}

}  // namespace
}  // namespace stator
