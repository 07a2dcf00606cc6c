// SPDX-License-Identifier: Apache-2.0
#include "recipes/semaphore/lock_sightings.h"

#include <algorithm>

namespace stator::recipes {
namespace {

constexpr std::size_t kMaxLocks = 10'000;
constexpr std::size_t kMaxDeadOfAKind = 8;

using std::chrono::nanoseconds;

}  // namespace

void Sightings::note(const std::string& key, const StoredLock& lock, Interest interest) {
  const nanoseconds now = time_.since_boot();
  const std::scoped_lock guard(mutex_);
  if (locks_.size() >= kMaxLocks && !locks_.contains(key)) {
    if (interest == Interest::kInList) return;
    locks_.erase(locks_.begin());
  }
  Entries& known = locks_[key];
  Entries seen;
  for (const bool waits : {false, true}) {
    for (const LockEntry& entry : waits ? lock.waiters : lock.holders) {
      const int64_t number = to_int64(entry.who.fence);
      Sighting sighting{.waits = waits,
                        .number = number,
                        .beat = entry.beat,
                        .since = now,
                        .lease = entry.who.lease};
      const auto before = known.find(entry.who.owner);
      if (before != known.end() && before->second.number == number &&
          before->second.beat == entry.beat && before->second.lease == sighting.lease) {
        sighting.since = before->second.since;
      }
      seen.emplace(entry.who.owner, sighting);
    }
  }
  known = std::move(seen);
}

void Sightings::forget(const std::string& key) {
  const std::scoped_lock guard(mutex_);
  locks_.erase(key);
}

Expired Sightings::expired(const std::string& key, const std::string& except) const {
  const nanoseconds now = time_.since_boot();
  const std::scoped_lock guard(mutex_);
  Expired expired;
  const auto lock = locks_.find(key);
  if (lock == locks_.end()) return expired;
  for (const auto& [id, sighting] : lock->second) {
    if (id == except || now - sighting.since < takeover_after(sighting.lease)) continue;
    auto& list = sighting.waits ? expired.waiters : expired.holders;
    if (list.size() == kMaxDeadOfAKind) {
      expired.more = true;
    } else {
      list.push_back({.id = id, .number = sighting.number, .beat = sighting.beat});
    }
  }
  return expired;
}

nanoseconds Sightings::until_next(const std::string& key) const {
  const nanoseconds now = time_.since_boot();
  const std::scoped_lock guard(mutex_);
  nanoseconds next = nanoseconds::max();
  const auto lock = locks_.find(key);
  if (lock == locks_.end()) return next;
  for (const auto& [id, sighting] : lock->second) {
    const nanoseconds left = sighting.since + takeover_after(sighting.lease) - now;
    if (left.count() > 0) next = std::min(next, left);
  }
  return next;
}

void Sightings::judge(const std::string& key, LockState& state) const {
  const nanoseconds now = time_.since_boot();
  const std::scoped_lock guard(mutex_);
  const auto lock = locks_.find(key);
  if (lock == locks_.end()) return;
  for (auto* list : {&state.holders, &state.waiters}) {
    for (LockHolder& holder : *list) {
      const auto sighting = lock->second.find(holder.owner);
      if (sighting != lock->second.end()) holder.unchanged = now - sighting->second.since;
    }
  }
}

}  // namespace stator::recipes
