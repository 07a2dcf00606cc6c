// SPDX-License-Identifier: Apache-2.0
// VirtualWorld: actors on separate machines, in virtual time. One of them runs at a time, in the
// order of their wake-up times, so that a seed repeats a run; no thread sleeps.
//
// Thread safety: run() from one thread; other methods from the running actor or event.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "stator/recipes/time.h"

namespace stator::test {

class SeededRandom {
 public:
  explicit SeededRandom(uint64_t seed) : engine_(seed) {}
  int64_t below(int64_t end) {
    return static_cast<int64_t>(engine_() % static_cast<uint64_t>(end));
  }
  std::chrono::nanoseconds below(std::chrono::nanoseconds end) {
    return std::chrono::nanoseconds(below(std::max<int64_t>(1, end.count())));
  }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  T one_of(std::initializer_list<T> list) {
    return list.begin()[below(static_cast<int64_t>(list.size()))];
  }

 private:
  std::mt19937_64 engine_;
};

class VirtualWorld {
 public:
  using nanoseconds = std::chrono::nanoseconds;

  nanoseconds now() const { return now_; }  // true time, which the actors do not know
  // The running actor; absent outside run() and during events.
  std::optional<std::size_t> running() const { return running_; }

  // Runs the actors until all have ended.
  void run(const std::vector<std::function<void()>>& actors) {
    for (std::size_t i = 0; i < actors.size(); ++i) {
      turns_.emplace_back();
      plans_.emplace(std::pair(now_, ++order_), Plan{.actor = i});
    }
    std::vector<std::jthread> threads;
    threads.reserve(actors.size());
    for (std::size_t i = 0; i < actors.size(); ++i) {
      threads.emplace_back([this, i, &actors] {
        turns_[i].acquire();
        actors[i]();
        go_on();
      });
    }
    go_on();
    done_.acquire();
  }

  // Suspends the running actor, whose other threads must wait for the calling one. Others run
  // meanwhile. Does nothing while no actor runs.
  void wait(nanoseconds duration) {
    if (running_) wait_until(*running_, now_ + duration);
  }
  // Suspends the actor until then. Others run meanwhile.
  void wait_until(std::size_t actor, nanoseconds when) {
    plans_.emplace(std::pair(std::max(when, now_), ++order_), Plan{.actor = actor});
    go_on();
    turns_[actor].acquire();
  }
  // Runs an event without an actor at a time, such as the arrival of a delayed request.
  void at(nanoseconds when, std::function<void()> event) {
    plans_.emplace(std::pair(std::max(when, now_), ++order_), Plan{.event = std::move(event)});
    ++events_;
  }

 private:
  // Unlike std::binary_semaphore, it does not spin, which is slow on a busy machine.
  class Turn {
   public:
    void acquire() {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return std::exchange(is_free_, false); });
    }
    void release() {
      const std::scoped_lock lock(mutex_);
      is_free_ = true;
      changed_.notify_one();
    }

   private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_free_ = false;  // guarded by mutex_
  };

  struct Plan {
    std::size_t actor = 0;
    std::function<void()> event = {};
  };

  void go_on() {
    while (plans_.size() > events_) {
      const auto next = plans_.begin();
      now_ = next->first.first;
      const Plan plan = std::move(next->second);
      plans_.erase(next);
      if (!plan.event) {
        running_ = plan.actor;
        return turns_[plan.actor].release();
      }
      running_.reset();
      --events_;
      plan.event();
    }
    running_.reset();
    done_.release();  // the remaining events have no effect
  }

  nanoseconds now_ = std::chrono::hours(1);
  uint64_t order_ = 0;
  std::map<std::pair<nanoseconds, uint64_t>, Plan> plans_;
  std::size_t events_ = 0;  // among the plans
  std::optional<std::size_t> running_;
  std::deque<Turn> turns_;
  Turn done_;
};

// The clocks of an actor's machine. The wall clock jumps anywhere at any time. The boot clock has
// another start, and is up to `kDriftPpm` too fast or too slow, at a rate that changes. It is set
// forward by up to `kCorrection` in total.
class MachineTime final : public TimeSource {
 public:
  static constexpr int64_t kDriftPpm = 999;
  static constexpr std::chrono::milliseconds kCorrection{10};

  // A sleep can end early at random, as if the process were woken, after at most `longest_sleep`.
  MachineTime(VirtualWorld& world, std::size_t actor, SeededRandom& random,
              std::chrono::nanoseconds longest_sleep)
      : world_(world), actor_(actor), random_(random), longest_sleep_(longest_sleep) {
    since_ = world.now();
    then_ = std::chrono::hours(random.below(10'000));
    drift();
  }

  Time now() override {
    return Time(std::chrono::sys_seconds(std::chrono::hours(random_.below(800'000))));
  }
  std::chrono::nanoseconds since_boot() override {
    const std::chrono::nanoseconds gone = world_.now() - since_;
    return then_ + gone + gone * ppm_ / 1'000'000;
  }
  bool sleep(std::chrono::nanoseconds duration, std::stop_token stop) override {
    const auto most =
        std::min(duration, std::chrono::nanoseconds(1) + random_.below(longest_sleep_));
    world_.wait_until(actor_, world_.now() + most - most * ppm_ / (1'000'000 + ppm_) +
                                  std::chrono::nanoseconds(1));
    if (random_.chance(10)) drift();
    return !stop.stop_requested();
  }

 private:
  void drift() {
    const auto correction =
        random_.chance(30) ? random_.below(correction_left_) : correction_left_ * 0;
    correction_left_ -= correction;
    then_ = since_boot() + correction;
    since_ = world_.now();
    ppm_ = random_.one_of({-kDriftPpm, int64_t{0}, random_.below(kDriftPpm), kDriftPpm});
  }

  VirtualWorld& world_;
  const std::size_t actor_;
  SeededRandom& random_;
  const std::chrono::nanoseconds longest_sleep_;
  std::chrono::nanoseconds correction_left_ = kCorrection;
  std::chrono::nanoseconds since_;  // in true time
  std::chrono::nanoseconds then_;   // reading of the boot clock
  int64_t ppm_ = 0;
};

}  // namespace stator::test
