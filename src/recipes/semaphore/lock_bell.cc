// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <mutex>

#include "recipes/semaphore/lock_item.h"

namespace stator::recipes {

struct Bells {
  std::mutex mutex;
  std::multimap<std::string, LockBell*> waiting;  // guarded by mutex, like the bells themselves
  uint64_t next_order = 0;

  // Identifies a lock by table and key. A lock of the same name elsewhere causes at most one extra
  // read.
  static std::string name_of(const LockTable& table, const std::string& key) {
    return table.options.table + '\0' + key;
  }

  // Wakes one sleeping waiter. Waiters that are awake look again, because their last look might
  // have been before the release.
  void ring(const std::string& name) {
    const auto [begin, end] = waiting.equal_range(name);
    LockBell* next = nullptr;
    for (auto at = begin; at != end; ++at) {
      LockBell* bell = at->second;
      if (bell->rung_) continue;
      if (!bell->asleep_) {
        bell->rung_ = true;
      } else if (next == nullptr ||
                 std::pair(bell->place_, bell->order_) < std::pair(next->place_, next->order_)) {
        next = bell;
      }
    }
    if (next == nullptr) return;
    next->rung_ = true;
    next->wake_.request_stop();
  }
};

namespace {

Bells& bells() {
  static Bells all;
  return all;
}

}  // namespace

LockBell::LockBell(const LockTable& table, const std::string& key)
    : name_(Bells::name_of(table, key)) {
  const std::scoped_lock lock(bells().mutex);
  order_ = bells().next_order++;
  bells().waiting.emplace(name_, this);
}

LockBell::~LockBell() {
  const std::scoped_lock lock(bells().mutex);
  const auto [begin, end] = bells().waiting.equal_range(name_);
  bells().waiting.erase(
      std::find_if(begin, end, [&](const auto& at) { return at.second == this; }));
  if (rung_ || owed_) bells().ring(name_);
}

void LockBell::set_place(int64_t place) {
  const std::scoped_lock lock(bells().mutex);
  place_ = place;
}

LockBell::Woken LockBell::wait(TimeSource& time, std::chrono::nanoseconds duration,
                               const std::stop_token& stop) {
  std::stop_source wake;
  {
    const std::scoped_lock lock(bells().mutex);
    asleep_ = !rung_ && duration.count() > 0;
    wake_ = wake;
  }
  if (asleep_) {
    const std::stop_callback on_stop(stop, [&] { wake.request_stop(); });
    time.sleep(duration, wake.get_token());
  }
  const std::scoped_lock lock(bells().mutex);
  asleep_ = false;
  if (stop.stop_requested()) return Woken::kByStop;
  if (!rung_) return Woken::kByTime;
  rung_ = false;
  owed_ = true;
  return Woken::kByRing;
}

void LockBell::ring(const LockTable& table, const std::string& key) {
  const std::scoped_lock lock(bells().mutex);
  bells().ring(Bells::name_of(table, key));
}

}  // namespace stator::recipes
