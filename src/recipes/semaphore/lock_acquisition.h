// SPDX-License-Identifier: Apache-2.0
// One acquire call: who asks, what it knows, its requests.
//
// A permit is taken if fewer are held than there are and nobody is in line, or nobody before the
// asker. Where that fails, the answer carries the item: the asker's own entry, if an earlier
// attempt's reply was lost; otherwise the others' entries, which are noted with the time of our own
// boot clock. Those that are still the same when takeover_after() their lease has passed are dead,
// and the next attempt removes them, on condition that they are the same even then. Every request
// is such an attempt, so each path is one round trip; entering the line is one more.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "recipes/semaphore/lock_item.h"
#include "recipes/semaphore/lock_sightings.h"

namespace stator::recipes {

class Acquisition {
 public:
  Acquisition(const LockTable& table, Sightings& sightings, const LockName& name,
              const AcquireOptions& options);

  enum class Answer {
    kTaken,    // fence() and counted_from() are the lease's
    kHeld,     // no permit to be had; holders() tells why
    kChanged,  // the lock is not as it was thought to be: worth another step at once
    kOnward,   // there is more to do at once: a line to enter, more of the dead to remove
    kBusy,     // nothing was done: conflicts, throttles; error()
    kUnknown,  // no answer; error()
  };
  // The next request. `eager`: a permit is likely to be free.
  Result<Answer> step(bool eager);
  // Leaves nothing behind of what may have been done. True where that freed a permit.
  bool give_up();

  const std::string& key() const { return key_; }
  const std::string& owner() const { return id_; }
  Fence fence() const { return fence_; }
  // Since when the lease counts: before the first request that may have taken the permit.
  std::chrono::nanoseconds counted_from() const { return counted_from_; }
  std::optional<int64_t> place() const { return place_; }
  // Until it must show that it still waits; the longest time where it need not.
  std::chrono::nanoseconds until_sign_of_life() const;
  const Error& error() const { return error_; }
  // The failure with the lock as last seen.
  Failure held(Code code, std::string_view what) const;

 private:
  enum class Step { kTake, kSweep, kEnter, kShow, kLook };
  Step choose(const Dead& dead, bool eager) const;
  bool may_enter() const;
  // Whether a permit is left for the asker once the dead are gone.
  bool has_room(const Dead& dead) const;
  UpdateItemRequest request(Step step, const Dead& dead);
  UpdateItemRequest take(const Dead& dead) const;
  void remove_dead(LockUpdate& update, const Dead& dead) const;
  Result<Answer> look();
  Result<Answer> written(Step step, Result<WriteResult> result);
  Result<Answer> judge_error(const Error& error);
  // What the item means for the asker.
  Result<Answer> judge(std::optional<Item> item);

  const LockTable& table_;
  Sightings& sightings_;
  std::string name_;
  std::string key_;
  const AcquireOptions& options_;
  std::string id_;
  Fence fence_{0};
  std::chrono::nanoseconds sent_at_{0};
  std::chrono::nanoseconds counted_from_{0};
  // When the last request was sent that found the permit not taken by an attempt before it, or the
  // first attempt. Also one that was refused may still take it: a client repeats what had no
  // answer, and the copy that was thought lost may come later.
  std::optional<std::chrono::nanoseconds> not_taken_at_;
  bool maybe_left_behind_ = false;
  std::optional<int64_t> place_;  // in line
  int64_t beat_ = 1;              // of the place
  std::chrono::nanoseconds shown_at_{0};
  std::optional<StoredLock> lock_;  // as last seen
  std::optional<Item> item_;
  Error error_;
};

}  // namespace stator::recipes
