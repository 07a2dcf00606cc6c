// SPDX-License-Identifier: Apache-2.0
// The state of a lease of a lock that its handles share: its lock, its end, its threads.
// lock_lease_renewal.cc decides when it is renewed.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "recipes/semaphore/lock_item.h"

namespace stator {

namespace recipes {

Failure lost_error(const std::string& lock);  // kLost

}  // namespace recipes

struct LeaseTerms {
  std::string name;
  std::string key;
  std::string id;
  Fence fence = Fence{0};
  int permits = 1;
  std::chrono::milliseconds length{0};
  std::chrono::nanoseconds counted_from{0};  // since_boot
  Reentry reentry = Reentry::kNone;
};

// Thread safety: any thread.
struct Lease::State {
  State(std::shared_ptr<const recipes::LockTable> table, LeaseTerms terms);
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();

  const LeaseTerms& terms() const { return terms_; }
  const std::string& key() const { return terms_.key; }
  int permits() const { return terms_.permits; }

  void start_threads();  // later calls do nothing
  // Adds a handle, if `reentry` allows it.
  bool share(Reentry reentry);
  // Ensures the remaining time and the renewal that a new handle requests.
  Result<void> satisfy(const AcquireOptions& options, const std::stop_token& stop);

  std::chrono::nanoseconds remaining() const;
  std::stop_token lost() const { return lost_source_.get_token(); }
  Result<void> renew(const std::stop_token& stop);
  // Releases one handle; the last one returns the permit.
  Result<void> release();
  Result<TransactWriteItemsResult> commit(TransactWriteItemsRequest transaction);

 private:
  Result<void> give_back();
  Result<WriteResult> send_beat();
  std::chrono::milliseconds length() const;
  CallLimits::Bounds bounds_of_renewal(const std::stop_token& stop) const;
  CallLimits::Bounds bounds_of_commit() const;
  bool is_live() const { return !released_ && !lost_ && !over_; }  // under mutex_
  // Does nothing during a release, which then reports the outcome.
  void end(bool& how);
  void keep(const std::stop_token& stop);   // the renewing thread; lock_lease_renewal.cc
  void watch(const std::stop_token& stop);  // the thread that watches the end
  // Whether the item shows that this lease was released, not taken over.
  bool was_released(const recipes::StoredLock& lock) const;

  const std::shared_ptr<const recipes::LockTable> table_;
  const LeaseTerms terms_;
  const std::thread::id thread_ = std::this_thread::get_id();
  std::stop_source lost_source_;

  mutable std::mutex mutex_;
  // Guarded by mutex_:
  int handles_ = 1;
  std::chrono::milliseconds length_;  // from the next renewal on
  std::chrono::nanoseconds ends_at_;  // since_boot
  int64_t beat_ = 1;
  bool released_ = false;
  bool over_ = false;  // ended by the watching thread
  bool lost_ = false;  // known to be taken over

  std::once_flag threads_;
  std::jthread keeper_;
  std::jthread watcher_;
};

}  // namespace stator
