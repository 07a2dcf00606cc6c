// SPDX-License-Identifier: Apache-2.0
// Awaited: a value that a callback passes to the thread that waits for it, once.
//
// Thread safety: set() from any thread, take() or take_soon() from one. After that has returned,
// set() does not use this object any more.
#pragma once

#include <sched.h>
#include <semaphore.h>

#include <optional>
#include <utility>

namespace stator {

template <class T>
class Awaited {
 public:
  Awaited() { sem_init(&is_set_, /*pshared=*/0, 0); }
  Awaited(const Awaited&) = delete;
  Awaited& operator=(const Awaited&) = delete;
  ~Awaited() { sem_destroy(&is_set_); }

  void set(T value) {
    value_.emplace(std::move(value));
    sem_post(&is_set_);
  }
  // Sleeps immediately, because the thread that sets the value needs the processor.
  T take() {
    while (sem_wait(&is_set_) != 0) {
    }
    return std::move(*value_);
  }
  // Tries a few times before it sleeps, for a value that is waited for while the processor is idle,
  // such as for the disk: many threads that sleep take long to be woken.
  T take_soon() {
    constexpr int kTries = 4;
    for (int i = 0; i < kTries; ++i) {
      if (sem_trywait(&is_set_) == 0) return std::move(*value_);
      sched_yield();
    }
    return take();
  }

 private:
  std::optional<T> value_;
  sem_t is_set_;
};

}  // namespace stator
