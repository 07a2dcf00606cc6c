// SPDX-License-Identifier: Apache-2.0
// LockSightings: the observed states of locks and the times since which they are unchanged, by the
// boot clock, which cannot be set. An entry expires only on the basis of these observations.
//
// Thread safety: any thread.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "recipes/semaphore/lock_item.h"

namespace stator::recipes {

struct ExpiredEntry {
  std::string id;
  int64_t number = 0;
  int64_t beat = 0;
};

// Expired entries: seen unchanged for takeover_after() their lease. At most as many as fit into one
// request.
struct Expired {
  std::vector<ExpiredEntry> holders;
  std::vector<ExpiredEntry> waiters;
  bool more = false;
  bool empty() const { return holders.empty() && waiters.empty(); }
};

class Sightings {
 public:
  explicit Sightings(TimeSource& time) : time_(time) {}

  // At most 10,000 locks are remembered. A further one replaces another (kOfItsOwn) or is ignored
  // (kInList).
  enum class Interest { kOfItsOwn, kInList };
  // Call after the response that contains the lock: an earlier time would include time during which
  // the lock was not observed.
  void note(const std::string& key, const StoredLock& lock,
            Interest interest = Interest::kOfItsOwn);
  void forget(const std::string& key);

  // Never includes `except`, the caller's own entry.
  Expired expired(const std::string& key, const std::string& except) const;
  // Time until the next entry can expire; the maximum if none is known.
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
