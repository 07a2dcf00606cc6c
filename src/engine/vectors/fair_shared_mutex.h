// SPDX-License-Identifier: Apache-2.0
// FairSharedMutex: a shared mutex whose exclusive lock is not kept waiting by a stream of readers.
//
// Thread safety: any thread; the thread that acquired a lock must release it.
// Blocking: lock_shared() also waits behind a waiting lock().
#pragma once

#include <mutex>
#include <shared_mutex>

namespace stator {

class FairSharedMutex {
 public:
  void lock() {
    const std::lock_guard turn(turn_);
    mutex_.lock();
  }
  void unlock() { mutex_.unlock(); }
  void lock_shared() {
    const std::lock_guard turn(turn_);
    mutex_.lock_shared();
  }
  void unlock_shared() { mutex_.unlock_shared(); }

 private:
  std::mutex turn_;
  std::shared_mutex mutex_;
};

}  // namespace stator
