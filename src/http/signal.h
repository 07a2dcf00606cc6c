// SPDX-License-Identifier: Apache-2.0
// Signal: threads wait until another thread raises it. Unlike a condition variable it has no lock,
// which a preempted background thread could hold.
//
// Thread safety: any thread; raise never waits.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <climits>
#include <cstdint>
#include <ctime>

namespace stator::http {

class Signal {
 public:
  // How often it was raised. Before waiting, read this count first, then the state that the signal
  // announces.
  uint32_t count() const { return count_.load(); }

  void raise() {
    ++count_;
    futex(FUTEX_WAKE_PRIVATE, INT_MAX, nullptr);
  }

  // Waits until the count differs from `seen`; can return early. Returns false at the deadline.
  bool wait(uint32_t seen, std::chrono::steady_clock::time_point deadline) {
    const auto left = deadline - std::chrono::steady_clock::now();
    if (left <= left.zero()) return false;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    const timespec timeout{.tv_sec = seconds.count(), .tv_nsec = (left - seconds).count()};
    futex(FUTEX_WAIT_PRIVATE, seen, &timeout);
    return true;
  }

 private:
  void futex(int operation, uint32_t value, const timespec* timeout) {
    syscall(SYS_futex, &count_, operation, value, timeout, nullptr, 0);
  }

  static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));
  std::atomic<uint32_t> count_ = 0;
};

}  // namespace stator::http
