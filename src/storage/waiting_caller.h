// SPDX-License-Identifier: Apache-2.0
// WaitingCaller: while it exists, calls of a store that its thread makes may block. Use it around
// an asynchronous call whose result the thread waits for anyway: the store can then do the work on
// this thread, which saves two thread switches.
#pragma once

namespace stator {

class WaitingCaller {
 public:
  WaitingCaller() { ++depth; }
  WaitingCaller(const WaitingCaller&) = delete;
  WaitingCaller& operator=(const WaitingCaller&) = delete;
  ~WaitingCaller() { --depth; }

  // Whether the calling thread has one.
  static bool exists() { return depth > 0; }

 private:
  static inline thread_local int depth = 0;
};

}  // namespace stator
