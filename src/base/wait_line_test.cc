// SPDX-License-Identifier: Apache-2.0
#include "base/wait_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace stator {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

constexpr std::chrono::seconds kPatience{20};

// Threads that wait in a line, in the order of their numbers, and note when they return.
class Waiters : public ::testing::Test {
 protected:
  using Deadline = std::optional<std::chrono::steady_clock::time_point>;

  ~Waiters() override {
    on_lock([&] { line_.wake_all(); });
    for (std::thread& thread : threads_) thread.join();
  }

  // Returns once the thread waits.
  void add(Deadline deadline = {}) {
    const int number = static_cast<int>(threads_.size());
    bool is_in_line = false;
    threads_.emplace_back([this, number, deadline, &is_in_line] {
      std::unique_lock lock(mutex_);
      is_in_line = true;
      changed_.notify_all();
      if (deadline) {
        line_.wait_until(lock, *deadline);
      } else {
        line_.wait(lock);
      }
      returned_.push_back(number);
      changed_.notify_all();
    });
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_in_line; });
  }
  void on_lock(const std::function<void()>& action) {
    const std::lock_guard lock(mutex_);
    action();
  }
  // The threads that returned, once there are so many.
  std::vector<int> returned(std::size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, kPatience, [&] { return returned_.size() >= count; }));
    return returned_;
  }

  WaitLine line_;
  std::mutex mutex_;

 private:
  std::condition_variable changed_;
  std::vector<int> returned_;
  std::vector<std::thread> threads_;
};

TEST_F(Waiters, AreWokenOneAtATimeFromTheLast) {
  for (int i = 0; i < 4; ++i) add();
  on_lock([&] { line_.wake_one(); });
  EXPECT_THAT(returned(1), ElementsAre(3));
  on_lock([&] { line_.wake_one(); });
  EXPECT_THAT(returned(2), ElementsAre(3, 2));
  add();
  on_lock([&] { line_.wake_one(); });
  EXPECT_THAT(returned(3), ElementsAre(3, 2, 4));
}

TEST_F(Waiters, AreWokenByEachOfTwoCallsUnderOneLock) {
  for (int i = 0; i < 3; ++i) add();
  on_lock([&] {
    line_.wake_one();
    line_.wake_one();
  });
  EXPECT_THAT(returned(2), UnorderedElementsAre(2, 1));
}

TEST_F(Waiters, AreAllWoken) {
  for (int i = 0; i < 4; ++i) add();
  on_lock([&] { line_.wake_all(); });
  EXPECT_THAT(returned(4), UnorderedElementsAre(0, 1, 2, 3));
}

TEST_F(Waiters, LeaveTheLineAtTheirDeadline) {
  const auto soon = [] { return std::chrono::steady_clock::now() + std::chrono::milliseconds(2); };
  add();
  add(soon());
  EXPECT_THAT(returned(1), ElementsAre(1));
  add();
  add(soon());
  EXPECT_THAT(returned(2), ElementsAre(1, 3));
  on_lock([&] { line_.wake_one(); });
  EXPECT_THAT(returned(3), ElementsAre(1, 3, 2));
  add(std::chrono::steady_clock::time_point::max());
  on_lock([&] { line_.wake_one(); });
  EXPECT_THAT(returned(4), ElementsAre(1, 3, 2, 4));
}

TEST(WaitLine, WithoutThreadsWakesNone) {
  WaitLine line;
  line.wake_one();
  line.wake_all();
}

// Each item wakes one thread, so one that is not woken leaves its item.
TEST(WaitLine, LosesNoWake) {
  constexpr int kThreads = 4;
  constexpr int kItems = 20'000;
  WaitLine line;
  std::mutex mutex;
  std::condition_variable taken;
  int items = 0;
  bool ended = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      std::unique_lock lock(mutex);
      while (!ended) {
        if (items == 0) {
          line.wait(lock);
        } else if (--items == 0) {
          taken.notify_one();
        }
      }
    });
  }
  for (int i = 0; i < kItems; ++i) {
    std::unique_lock lock(mutex);
    const int added = 1 + i % kThreads;
    for (int item = 0; item < added; ++item) {
      ++items;
      line.wake_one();
    }
    if (!taken.wait_for(lock, kPatience, [&] { return items == 0; })) {
      ADD_FAILURE() << items << " items are left";
      break;
    }
  }
  {
    const std::lock_guard lock(mutex);
    ended = true;
    line.wake_all();
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace stator
