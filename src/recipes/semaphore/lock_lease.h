// SPDX-License-Identifier: Apache-2.0
// The state of a lease, which its handles share: what it is of, how long it lasts, its threads.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "recipes/semaphore/lock_item.h"

namespace stator {

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

// Thread safety: every method from any thread at once.
struct Lease::State {
  State(std::shared_ptr<const recipes::LockTable> table, LeaseTerms terms);
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();

  const LeaseTerms& terms() const { return terms_; }
  const std::string& key() const { return terms_.key; }
  int permits() const { return terms_.permits; }

  void start_threads();  // once
  // One more handle, where the asker may have one.
  bool share(Reentry reentry);
  // What one who shares the lease asks of it: its length left, and its renewal.
  Result<void> satisfy(const AcquireOptions& options, const std::stop_token& stop);

  std::chrono::nanoseconds remaining() const;
  std::stop_token lost() const { return lost_source_.get_token(); }
  Result<void> renew(const std::stop_token& stop);
  // Of one handle; the last one's gives the permit back.
  Result<void> release();
  Result<TransactWriteItemsResult> commit(TransactWriteItemsRequest transaction);

 private:
  Result<void> give_back();
  Result<WriteResult> send_beat();
  std::chrono::milliseconds length() const;
  bool is_live() const { return !released_ && !lost_ && !over_; }  // under mutex_
  // Unless a release is under way: that one tells.
  void end(bool& how);
  void keep(const std::stop_token& stop);   // the renewing thread
  void watch(const std::stop_token& stop);  // the thread that watches the end
  // Whether the item as it is now tells that this lease was given back, not taken.
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
  bool over_ = false;  // given up by the thread that watches
  bool lost_ = false;  // known to be another's

  std::once_flag threads_;
  std::jthread keeper_;
  std::jthread watcher_;
};

}  // namespace stator
