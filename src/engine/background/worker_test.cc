// SPDX-License-Identifier: Apache-2.0
#include "engine/background/worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <future>
#include <utility>
#include <vector>

namespace stator {
namespace {

TEST(Worker, RunsJobsInOrderOnOneThread) {
  std::vector<int> done;  // not locked: a second thread would cause a data race
  std::promise<void> last;
  Worker worker;
  for (int i = 0; i < 100; ++i) {
    worker.post([&, i] {
      done.push_back(i);
      if (i == 99) last.set_value();
    });
  }
  last.get_future().wait();
  worker.stop();
  EXPECT_TRUE(std::ranges::is_sorted(done));
  EXPECT_EQ(done.size(), 100U);
}

// With fewer threads, the test hangs.
TEST(Worker, RunsAsManyJobsAtOnceAsItHasThreads) {
  constexpr int kThreads = 3;
  std::barrier meeting(kThreads);  // each job waits for the two others
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  std::atomic<int> done = 0;
  Worker worker(kThreads);
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < kThreads; ++i) {
      worker.post([&] {
        const int now = ++running;
        int before = most;
        while (before < now && !most.compare_exchange_weak(before, now)) {
        }
        meeting.arrive_and_wait();
        --running;
        ++done;
        done.notify_all();
      });
    }
  }
  for (int now = done; now < 50 * kThreads; now = done) done.wait(now);
  EXPECT_LE(most, kThreads);
}

// Fulfills a promise when it is destroyed.
struct Dropped {
  std::promise<void>* promise;
  explicit Dropped(std::promise<void>& to) : promise(&to) {}
  Dropped(Dropped&& other) noexcept : promise(std::exchange(other.promise, nullptr)) {}
  Dropped& operator=(Dropped&&) = delete;
  ~Dropped() {
    if (promise != nullptr) promise->set_value();
  }
};

TEST(Worker, DropsTheJobsThatHaveNotBegunAndWaitsForTheOthers) {
  std::promise<void> begun;
  std::promise<void> is_dropped;
  std::atomic<bool> finished = false;
  std::atomic<bool> ran_later = false;
  Worker worker;
  worker.post([&] {
    begun.set_value();
    is_dropped.get_future().wait();
    finished = true;
  });
  worker.post([&, dropped = Dropped(is_dropped)] { ran_later = true; });
  begun.get_future().wait();
  worker.stop();
  EXPECT_TRUE(finished);
  worker.post([&] { ran_later = true; });
  EXPECT_FALSE(ran_later);
}

}  // namespace
}  // namespace stator
