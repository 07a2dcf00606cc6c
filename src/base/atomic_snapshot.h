// SPDX-License-Identifier: Apache-2.0
// AtomicSnapshot<T>: an immutable value that many threads read while one replaces it.
//
// Each reader takes a reference from its own slot, so that readers do not contend for one counter.
// A replaced value lives until its last reader releases it. get() returns null before the first
// set(). During set(), threads can get the old or the new value; after it, all get the new one.
// Thread safety: get() from any thread; set() from one thread at a time.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>

namespace stator {

template <class T>
class AtomicSnapshot {
 public:
  std::shared_ptr<const T> get() const {
    Slot& slot = slots_[slot_of_thread()];
    const std::lock_guard lock(slot.mutex);
    return slot.value;
  }

  void set(const std::shared_ptr<const T>& value) {
    for (Slot& slot : slots_) {
      // One control block per slot, so that the reference counts are separate too.
      auto holder = std::make_shared<const std::shared_ptr<const T>>(value);
      std::shared_ptr<const T> mine(holder, value.get());
      const std::lock_guard lock(slot.mutex);
      slot.value.swap(mine);
    }
  }

 private:
  static constexpr std::size_t kSlots = 8;
  struct alignas(64) Slot {
    std::mutex mutex;
    std::shared_ptr<const T> value;
  };

  static std::size_t slot_of_thread() {
    static std::atomic<std::size_t> next{0};
    thread_local const std::size_t mine = next.fetch_add(1, std::memory_order_relaxed) % kSlots;
    return mine;
  }

  mutable std::array<Slot, kSlots> slots_;
};

}  // namespace stator
