// SPDX-License-Identifier: Apache-2.0
// WaitingCaller: while it exists, calls of a store that its thread makes may block. Use it around
// an asynchronous call whose result the thread waits for anyway: the store can then do the work on
// this thread, which saves two thread switches.
#pragma once

#include <utility>

namespace stator {

class WaitingCaller {
 public:
  WaitingCaller() { ++depth; }
  WaitingCaller(const WaitingCaller&) = delete;
  WaitingCaller& operator=(const WaitingCaller&) = delete;
  ~WaitingCaller() { --depth; }

  // While it exists, the thread makes several calls, and waits only after the last one: the store
  // does not do the work of each before the next.
  class SeveralCalls {
   public:
    SeveralCalls() : depth_(std::exchange(depth, 0)) {}
    SeveralCalls(const SeveralCalls&) = delete;
    SeveralCalls& operator=(const SeveralCalls&) = delete;
    ~SeveralCalls() { depth = depth_; }

   private:
    const int depth_;
  };

  // Whether the calling thread has one.
  static bool exists() { return depth > 0; }

 private:
  static inline thread_local int depth = 0;
};

}  // namespace stator
