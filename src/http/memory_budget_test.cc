// SPDX-License-Identifier: Apache-2.0
#include "http/memory_budget.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "http/side_threads.h"

namespace stator::http {
namespace {

using std::chrono::steady_clock;
constexpr std::chrono::minutes kLong{1};

TEST(MemoryBudget, AddsUpToALimitAndNoFurther) {
  MemoryBudget budget(100);
  EXPECT_TRUE(budget.add(60, 100));
  EXPECT_FALSE(budget.add(41, 100));
  EXPECT_FALSE(budget.add(1, 50)) << "of a lower limit";
  EXPECT_FALSE(budget.add(SIZE_MAX, 100));
  EXPECT_TRUE(budget.add(40, 100));
  budget.release(100);
  EXPECT_TRUE(budget.has_room(100, 100));
}

TEST(MemoryBudget, ReportsOnceThatMuchWasReleased) {
  constexpr std::size_t kMuch = 64UL << 20;
  MemoryBudget budget(kMuch);
  EXPECT_TRUE(budget.add(kMuch, kMuch));
  EXPECT_FALSE(budget.take_quiet_moment());
  budget.release(kMuch);
  EXPECT_TRUE(budget.take_quiet_moment());
  EXPECT_FALSE(budget.take_quiet_moment());
}

TEST(MemoryBudget, WaitsForARelease) {
  MemoryBudget budget(100);
  ASSERT_TRUE(budget.add(100, 100));
  EXPECT_FALSE(budget.wait_and_add(1, steady_clock::now()));
  std::thread waiter([&] { EXPECT_TRUE(budget.wait_and_add(100, steady_clock::now() + kLong)); });
  budget.release(100);
  waiter.join();
  EXPECT_FALSE(budget.has_room(1, 100));
}

TEST(SideThreads, RunNoMoreThanThereIsMemoryFor) {
  constexpr std::size_t kJobs = 200;
  MemoryBudget budget(100);
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  std::atomic<std::size_t> done = 0;
  {
    SideThreads threads(4, budget, std::chrono::minutes(1));
    for (std::size_t i = 0; i < kJobs; ++i) {
      ASSERT_TRUE(threads.post([] { return 50UL; },
                               [&](Reservation reserved) {
                                 EXPECT_TRUE(reserved);
                                 const int now = ++running;
                                 for (int seen = most;
                                      now > seen && !most.compare_exchange_weak(seen, now);) {
                                 }
                                 --running;
                                 ++done;
                                 done.notify_all();
                               }));
    }
    for (std::size_t seen = done; seen < kJobs; seen = done) done.wait(seen);
  }
  EXPECT_LE(most, 2);
  EXPECT_TRUE(budget.has_room(100, 100)) << "what was reserved is released";
}

// Whether a job gets its bytes.
bool is_reserved(MemoryBudget& budget, std::size_t bytes) {
  std::atomic<int> told = 0;
  SideThreads threads(1, budget, std::chrono::seconds(2));
  EXPECT_TRUE(threads.post([bytes] { return bytes; },
                           [&](Reservation reserved) {
                             told = reserved ? 1 : 2;
                             told.notify_all();
                           }));
  told.wait(0);
  return told == 1;
}

TEST(SideThreads, RejectJobsThatCanNeverFit) {
  MemoryBudget budget(100);
  EXPECT_FALSE(is_reserved(budget, 101));
}

TEST(SideThreads, RefuseAJobThatWaitsForMemoryAsTheyStop) {
  MemoryBudget budget(100);
  ASSERT_TRUE(budget.add(100, 100));
  budget.stop();
  EXPECT_FALSE(is_reserved(budget, 1));
}

}  // namespace
}  // namespace stator::http
