// SPDX-License-Identifier: Apache-2.0
// What was seen of locks and since when, by a clock of this machine that nobody can set: the only
// ground on which an entry is held for dead.
//
// Thread safety: every method from any thread at once.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "recipes/semaphore/lock_item.h"

namespace stator::recipes {

struct DeadEntry {
  std::string id;
  int64_t number = 0;
  int64_t beat = 0;
};

// Entries that were seen unchanged for takeover_after() of their lease; as many as go into one
// request.
struct Dead {
  std::vector<DeadEntry> holders;
  std::vector<DeadEntry> waiters;
  bool more = false;
  bool empty() const { return holders.empty() && waiters.empty(); }
};

class Sightings {
 public:
  explicit Sightings(TimeSource& time) : time_(time) {}

  // Of at most 10,000 locks: a further one takes the place of another, or is not noted if it is
  // only one of a list.
  enum class Interest { kOfItsOwn, kInList };
  // Called after the reply that shows the lock: a clock read before it would count time in which
  // nobody had looked.
  void note(const std::string& key, const StoredLock& lock,
            Interest interest = Interest::kOfItsOwn);
  void forget(const std::string& key);

  // Never `except`, who asks.
  Dead dead(const std::string& key, const std::string& except) const;
  // Until the next entry may be held for dead; the longest time where none is known.
  std::chrono::nanoseconds until_next(const std::string& key) const;
  // Fills in LockHolder::unchanged.
  void judge(const std::string& key, LockState& state) const;

 private:
  struct Sighting {
    bool waits = false;
    int64_t number = 0;
    int64_t beat = 0;
    std::chrono::nanoseconds since{0};
    std::chrono::milliseconds lease{0};
  };
  using Entries = std::map<std::string, Sighting>;  // by id

  TimeSource& time_;
  mutable std::mutex mutex_;
  std::map<std::string, Entries> locks_;  // by key; guarded by mutex_
};

}  // namespace stator::recipes
