// SPDX-License-Identifier: Apache-2.0
// JobLeases: the leases that an engine holds, and what it has seen of those of other engines.
//
// Thread safety: every method may be called from any thread at once. Those that return a Result,
// beat() and release() block; not for callbacks of the store.
// Lifetime: the store must outlive it, and it must outlive the jobs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/catalog/job_lease.h"

namespace stator {

class JobLeases {
 public:
  explicit JobLeases(TransactStore& store)
      : store_(store), is_shared_(store.capabilities().several_processes) {}
  JobLeases(const JobLeases&) = delete;
  JobLeases& operator=(const JobLeases&) = delete;

  // Reads all leases. `now_ms`: the clock of this engine. The time since the last look counts as
  // kLeaseLookMs at most: if this engine could not look, as during an outage of the store, others
  // could not send heartbeats.
  Result<void> look(int64_t now_ms);
  // Whether this engine should start the job: it does not work on it, and at the last look()
  // nobody held the lease or the lease had run out.
  bool is_free(const std::string& key) const;

  // For a job that starts. Its first step takes the lease.
  std::shared_ptr<JobLease> begin(LeasedWork work);
  // The job has ended.
  void end(const JobLease& lease);

  // Keeps the leases that this engine holds. What fails is tried again with the next call.
  void beat();
  // Once all jobs have stopped: lets other engines resume those that have not ended.
  void release();

 private:
  struct Seen {
    std::string row;
    int64_t unchanged_ms = 0;  // how long it was seen like that
  };
  std::vector<std::shared_ptr<JobLease>> held() const;

  TransactStore& store_;
  const bool is_shared_;
  mutable std::mutex mutex_;
  std::map<std::string, Seen> seen_;  // guarded by mutex_
  int64_t looked_ms_ = 0;             // guarded by mutex_
  // Guarded by mutex_. Of the jobs of this engine, by their keys. If a job was started twice, both
  // are here until one of them finds that the other has taken the lease.
  std::multimap<std::string, std::shared_ptr<JobLease>> own_;
};

}  // namespace stator
