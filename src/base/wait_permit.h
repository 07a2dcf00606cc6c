// SPDX-License-Identifier: Apache-2.0
// WaitPermit: what its thread may wait for within an asynchronous call. Use it around a call whose
// result the thread waits for anyway, or if nothing else needs the thread: a store can then do the
// work on this thread, which saves two thread switches.
#pragma once

#include <cstdint>
#include <utility>

namespace stator {

// Each includes those before it.
enum class WaitFor : uint8_t { kNothing, kDisk, kServer };

class WaitPermit {
 public:
  // Replaces that of the scope around it. kNothing: the thread makes several calls, and waits only
  // after the last one.
  explicit WaitPermit(WaitFor longest) : outer_(std::exchange(current, longest)) {}
  WaitPermit(const WaitPermit&) = delete;
  WaitPermit& operator=(const WaitPermit&) = delete;
  ~WaitPermit() { current = outer_; }

  // Whether the calling thread may wait for it.
  static bool covers(WaitFor what) { return current >= what; }

 private:
  static inline thread_local WaitFor current = WaitFor::kNothing;
  const WaitFor outer_;
};

}  // namespace stator
