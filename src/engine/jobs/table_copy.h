// SPDX-License-Identifier: Apache-2.0
// RowCopy: copies a table's items from one keyspace to another, for backups and restored tables.
//
// The keys of an item and its copy differ only in the keyspace, which is their first four bytes.
// The value is copied without decoding it.
// Thread safety: one thread at a time. Blocking: waits for the store.
// Errors: the store's; after one, the same step can be repeated.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/jobs/job_engine.h"
#include "engine/streams/point_in_time.h"

namespace stator {

struct CopyPlan {
  // If it has a change log, the items are copied as they were just before `commit_version`.
  // Otherwise, the current items are copied.
  TableHistory from;
  uint64_t commit_version = 0;
  SpaceId to = 0;
  const Table* indexed = nullptr;  // if set, the copy also writes the entries of its indexes
  std::string after = {};          // resumes after this source key
};

class RowCopy {
 public:
  // `state`: the view to copy if the plan has no log; null: the current items. After the lease is
  // lost, nothing is written.
  RowCopy(JobLease& lease, const CopyPlan& plan, std::unique_ptr<ReadView> state = nullptr);

  // Called for each transaction of the copy; `last` is the last source key in it.
  using Progress = FunctionRef<void(Batch& batch, const std::string& last)>;
  // Copies the next items. kDone: no items were left.
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
