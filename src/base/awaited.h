// SPDX-License-Identifier: Apache-2.0
// Awaited: a value that a callback passes to the thread that waits for it, once.
//
// The wait does not spin: the value usually comes from a disk or a network, and threads that spin
// take the processor from the one that they wait for.
// Thread safety: set() from any thread, take() from one. After take() has returned, set() does not
// use this object any more.
#pragma once

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
  T take() {
    while (sem_wait(&is_set_) != 0) {
    }
    return std::move(*value_);
  }

 private:
  std::optional<T> value_;
  sem_t is_set_;
};

}  // namespace stator
