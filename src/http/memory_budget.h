// SPDX-License-Identifier: Apache-2.0
// MemoryBudget: the bytes that requests and responses of all connections hold, with a limit.
//
// Thread safety: any thread; add, release and has_room never wait.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <utility>

#include "http/signal.h"

namespace stator::http {

class MemoryBudget {
 public:
  explicit MemoryBudget(std::size_t limit) : limit_(limit) {}

  std::size_t limit() const { return limit_; }
  std::size_t held() const { return held_.load(std::memory_order_relaxed); }
  // The limit for a request or response of this size. Incomplete large requests leave half to
  // others. Small requests and responses have an additional eighth.
  std::size_t receive_limit(std::size_t bytes) const {
    return bytes <= kSmallBytes ? limit_ + limit_ / 8 : limit_ / 2;
  }
  std::size_t send_limit(std::size_t bytes) const {
    return bytes <= kSmallBytes ? limit_ + limit_ / 8 : limit_;
  }
  bool has_room(std::size_t bytes, std::size_t limit) const {
    const std::size_t held = held_.load(std::memory_order_relaxed);
    return bytes <= limit && held <= limit - bytes;
  }

  // Adds bytes. Returns false, and adds nothing, if the total would exceed `limit`.
  bool add(std::size_t bytes, std::size_t limit) {
    std::size_t held = held_.load();
    do {
      if (bytes > limit || held > limit - bytes) return false;
    } while (!held_.compare_exchange_weak(held, held + bytes));
    note_peak(held + bytes);
    return true;
  }
  // Adds bytes without a limit, for memory that is already allocated.
  void add_anyway(std::size_t bytes) { note_peak(held_.fetch_add(bytes) + bytes); }

  void release(std::size_t bytes) {
    held_.fetch_sub(bytes);
    if (calls_.load() && calls_.exchange(false)) on_release_();
    if (waiting_.load() > 0) released_.raise();
  }

  // Sets the callback of call_at_release(). It runs on the releasing thread, with no locks held.
  // Call this before the first bytes are added.
  void set_on_release(std::function<void()> call) { on_release_ = std::move(call); }
  // Requests one call after the next release.
  void call_at_release() {
    if (on_release_) calls_.store(true);
  }

  // Waits until `bytes` can be added. Returns false at the deadline and after stop().
  bool wait_and_add(std::size_t bytes, std::chrono::steady_clock::time_point deadline) {
    if (bytes == 0 || add(bytes, limit_)) return true;
    if (bytes > limit_) return false;
    ++waiting_;  // before the attempts that follow, so that no release is missed
    bool added = false;
    bool in_time = true;
    while (in_time && !stopped_.load()) {
      const auto seen = released_.count();
      added = add(bytes, limit_);
      if (added) break;
      in_time = released_.wait(seen, deadline);
    }
    --waiting_;
    return added;
  }
  void stop() {
    stopped_.store(true);
    released_.raise();
  }

  // Returns true once after much memory was held and most of it was released.
  bool take_quiet_moment() {
    constexpr std::size_t kMuch = 8UL << 20;
    const std::size_t held = held_.load(std::memory_order_relaxed);
    std::size_t peak = peak_.load(std::memory_order_relaxed);
    return peak >= kMuch && held <= peak / 4 && peak_.compare_exchange_strong(peak, held);
  }

 private:
  static constexpr std::size_t kSmallBytes = 64UL << 10;

  void note_peak(std::size_t held) {
    std::size_t peak = peak_.load(std::memory_order_relaxed);
    while (held > peak && !peak_.compare_exchange_weak(peak, held)) {
    }
  }

  const std::size_t limit_;
  std::atomic<std::size_t> held_ = 0;
  std::atomic<std::size_t> peak_ = 0;  // since the budget was last unused
  std::atomic<int> waiting_ = 0;
  std::atomic<bool> calls_ = false;
  std::function<void()> on_release_ = {};
  Signal released_;
  std::atomic<bool> stopped_ = false;
};

// Bytes of a budget, released by the destructor.
class Reservation {
 public:
  Reservation() = default;
  Reservation(MemoryBudget& budget, std::size_t bytes) : budget_(&budget), bytes_(bytes) {}
  Reservation(Reservation&& other) noexcept
      : budget_(std::exchange(other.budget_, nullptr)), bytes_(other.bytes_) {}
  Reservation& operator=(Reservation&& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;
  ~Reservation() { release(); }

  explicit operator bool() const { return budget_ != nullptr; }
  void release() {
    if (budget_ != nullptr) std::exchange(budget_, nullptr)->release(bytes_);
  }

 private:
  MemoryBudget* budget_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace stator::http
