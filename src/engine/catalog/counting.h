// SPDX-License-Identifier: Apache-2.0
// Counts the rows of a table's spaces while writes continue.
//
// Exact on a store with LocalViews: the writes after the sequence of a numbered view are added to
// its rows. On other stores the result is approximate: each step reads the current rows,
// so a concurrent write can be missing or counted twice.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/background/job_runner.h"
#include "engine/catalog/table.h"
#include "storage/transact_store.h"

namespace stator {

// Counts some of a table's spaces in steps of at most 16 MB, and sets their counters.
// Lifetime: borrows the store. Thread safety: one thread at a time. Errors: the store's; then the
// same step can be repeated.
class Recount {
 public:
  Recount(TransactStore& store, std::vector<Table::Counted> spaces)
      : store_(store), spaces_(std::move(spaces)) {}

  Result<JobState> step();  // kDone after the last step
  // Releases the view. The next step starts from the beginning.
  void reset() {
    view_.reset();
    has_begun_ = false;
  }

 private:
  Result<void> begin();
  Result<void> scan(const RangeRead& range, RowVisitor visit);

  TransactStore& store_;
  std::vector<Table::Counted> spaces_;
  std::vector<uint64_t> counts_;  // Counters::begin_count(), of each
  bool has_begun_ = false;
  std::unique_ptr<ReadView> view_;  // null: each step reads the current rows
  std::size_t at_ = 0;              // in spaces_
  std::string after_;               // the last counted row of that space
  Counters::Totals counted_;
};

// Starts a job that counts a table, if Table::needs_count() and none is in progress.
void start_count(JobRunner& jobs, TransactStore& store, const Table& table);

}  // namespace stator
