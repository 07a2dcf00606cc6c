// SPDX-License-Identifier: Apache-2.0
// WaitLine: threads that wait until another thread wakes them, one at a time or all. Like a
// condition variable, with two differences:
// - wake_one() always wakes a thread if one waits. Before glibc 2.41, such as on Debian 12,
//   pthread_cond_signal can have no effect if three or more threads wait:
//   https://sourceware.org/bugzilla/show_bug.cgi?id=25847
// - It wakes the thread that began to wait last, whose stack is most likely still in a cache.
//
// Thread safety: all methods require the mutex that guards the waited-for state, the same for all
// threads. A thread can wake without a reason, so it must check that state in a loop.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace stator {

class WaitLine {
 public:
  WaitLine() = default;
  WaitLine(const WaitLine&) = delete;
  WaitLine& operator=(const WaitLine&) = delete;

  // Releases `lock` while it waits.
  void wait(std::unique_lock<std::mutex>& lock) {
    Waiter waiter(last_);
    while (!waiter.is_woken) waiter.wake.wait(lock);
  }
  // Also returns at the deadline.
  void wait_until(std::unique_lock<std::mutex>& lock,
                  std::chrono::steady_clock::time_point deadline) {
    Waiter waiter(last_);
    while (!waiter.is_woken) {
      const auto status = waiter.wake.wait_until(lock, deadline);
      if (status == std::cv_status::timeout && !waiter.is_woken) return remove(waiter);
    }
  }

  void wake_one() {
    if (last_ == nullptr) return;
    Waiter* const woken = std::exchange(last_, last_->previous);
    woken->is_woken = true;
    woken->wake.notify_one();  // under the lock, because the thread then destroys it
  }
  void wake_all() {
    while (last_ != nullptr) wake_one();
  }

 private:
  struct Waiter {
    // Enters the line at its end.
    explicit Waiter(Waiter*& last) : previous(std::exchange(last, this)) {}

    Waiter* previous;
    bool is_woken = false;
    std::condition_variable wake;
  };

  void remove(const Waiter& waiter) {
    Waiter** link = &last_;
    while (*link != &waiter) link = &(*link)->previous;
    *link = waiter.previous;
  }

  Waiter* last_ = nullptr;
};

}  // namespace stator
