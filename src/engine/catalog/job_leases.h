// SPDX-License-Identifier: Apache-2.0
// JobLeases: the leases that an engine holds, and its observations of those of other engines.
//
// Thread safety: any thread. look(), send_heartbeats() and release() wait for the store; do not
// call them from callbacks of the store.
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

  // Reads all leases. `now_ms`: the time of this engine's clock. The time since the last call
  // counts as at most kLeaseLookMs: if this engine could not read the leases, for example during an
  // outage of the store, other engines could not send heartbeats.
  Result<void> look(int64_t now_ms);
  // Whether this engine should start the job: it does not run it, and at the last look() the lease
  // was free or expired.
  bool is_free(const std::string& key) const;

  // Returns the lease of a job that starts. The first step of the job must acquire it.
  std::shared_ptr<JobLease> begin(LeasedWork work);
  // Forgets the lease of a job that has ended.
  void end(const JobLease& lease);

  // Sends heartbeats for the leases that this engine holds. Failures are retried by the next call.
  void send_heartbeats();
  // Frees all leases, so that other engines can resume the jobs. Call it after all jobs stopped, or
  // if none may continue: the next commit of a job fails.
  void release();

 private:
  struct Seen {
    std::string row;
    int64_t unchanged_ms = 0;  // for how long it has been seen unchanged
  };
  std::vector<std::shared_ptr<JobLease>> held() const;

  TransactStore& store_;
  const bool is_shared_;
  mutable std::mutex mutex_;
  std::map<std::string, Seen> seen_;  // guarded by mutex_
  int64_t looked_ms_ = 0;             // guarded by mutex_
  // Guarded by mutex_. The leases of this engine's jobs, by their keys. If a job was started twice,
  // both are here until one of them detects that the other has acquired the lease.
  std::multimap<std::string, std::shared_ptr<JobLease>> own_;
};

}  // namespace stator
