// SPDX-License-Identifier: Apache-2.0
// RowCopy: copies a table's items from one space to another, for backups and restored tables.
//
// Row keys differ only in their space, so rows move as they are.
// Errors: the store's; after one, the same step can be repeated.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/jobs/job_engine.h"
#include "engine/streams/point_in_time.h"

namespace stator {

struct CopyPlan {
  TableHistory from;            // without a log: the items as they are
  uint64_t commit_version = 0;  // otherwise as they were before it
  SpaceId to = 0;
  const Table* indexed = nullptr;  // whose index entries are written too; null: none
  std::string after = {};          // the source's key that an earlier copy reached
};

class RowCopy {
 public:
  // `state` may be given if the plan has no log: then the items are those that it has. Nothing is
  // written once the lease is lost.
  RowCopy(JobLease& lease, const CopyPlan& plan, std::unique_ptr<ReadView> state = nullptr);

  // Called in each transaction of the copy; `last` is the source's key that it reaches.
  using Progress = FunctionRef<void(Batch& batch, const std::string& last)>;
  // Copies the next items. kDone: there were none left.
  Result<JobState> step(Progress progress);

  int64_t items() const { return items_; }
  int64_t bytes() const { return bytes_; }  // as DynamoDB sizes items

 private:
  Result<void> write(Progress progress) const;

  JobLease& lease_;
  std::unique_ptr<ReadView> state_;
  CopyPlan plan_;
  PastItems source_;
  std::vector<PastItem> batch_;  // read and not yet written
  int64_t items_ = 0;
  int64_t bytes_ = 0;
};

}  // namespace stator
