// SPDX-License-Identifier: Apache-2.0
// The state and requests of one acquire call.
//
// A permit is acquired if one is free and no other waiter is queued before the caller. If that
// fails, the response contains the item. It can contain the caller's own entry, if the response to
// an earlier attempt was lost. Otherwise the other entries are recorded with the local boot clock.
// Entries that are unchanged after takeover_after() their lease have expired; the next attempt
// removes them, on condition that they are still unchanged. Every request is such an attempt, so
// each path takes one round trip; joining the queue takes one more.
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

  enum class Outcome {
    kTaken,    // fence() and counted_from() are the lease's
    kHeld,     // no permit is free; holders() has the holders
    kChanged,  // the lock was not in the expected state: try another step at once
    kOnward,   // another step is needed at once: join the queue, or remove more expired holders
    kBusy,     // nothing was done, because of a conflict or throttling; see error()
    kUnknown,  // no response; see error()
  };
  // Sends the next request. `eager`: a permit is probably free.
  Result<Outcome> step(bool eager);
  // Undoes what earlier requests might have done. Returns true if that freed a permit.
  bool give_up();

  const std::string& key() const { return key_; }
  const std::string& owner() const { return id_; }
  Fence fence() const { return fence_; }
  // Start of the lease: before the first request that might have acquired the permit.
  std::chrono::nanoseconds counted_from() const { return counted_from_; }
  std::optional<int64_t> place() const { return place_; }
  // Time until the waiter must send its next heartbeat; the maximum if it need not.
  std::chrono::nanoseconds until_sign_of_life() const;
  const Error& error() const { return error_; }
  // The failure, with the last seen state of the lock.
  Failure held(Code code, std::string_view what) const;

 private:
  enum class Step { kTake, kSweep, kEnter, kShow, kLook };
  Step choose(const Expired& expired, bool eager) const;
  bool may_enter() const;
  // Whether a permit is free for the caller once the expired holders are removed.
  bool has_room(const Expired& expired) const;
  UpdateItemRequest request(Step step, const Expired& expired);
  UpdateItemRequest take(const Expired& expired) const;
  void remove_expired(LockUpdate& update, const Expired& expired) const;
  Result<Outcome> look();
  Result<Outcome> written(Step step, Result<WriteResult> result);
  Result<Outcome> judge_error(const Error& error);
  // Interprets the item for the caller.
  Result<Outcome> judge(std::optional<Item> item);

  const LockTable& table_;
  Sightings& sightings_;
  std::string name_;
  std::string key_;
  const AcquireOptions& options_;
  std::string id_;
  Fence fence_{0};
  std::chrono::nanoseconds sent_at_{0};
  std::chrono::nanoseconds counted_from_{0};
  // When the last request was sent whose response showed that no earlier attempt had acquired the
  // permit. Until there is one, the time of the first attempt. A rejected attempt can still acquire
  // it: a client repeats requests without a response, and a delayed copy can arrive later.
  std::optional<std::chrono::nanoseconds> not_taken_at_;
  bool maybe_left_behind_ = false;
  std::optional<int64_t> place_;  // queue position
  int64_t beat_ = 1;              // last heartbeat of the queue entry
  std::chrono::nanoseconds shown_at_{0};
  std::optional<StoredLock> lock_;  // as last seen
  std::optional<Item> item_;
  Error error_;
};

}  // namespace stator::recipes
