// SPDX-License-Identifier: Apache-2.0
// Counting what spaces hold, while writes go on.
//
// Exact on a store with LocalViews: a numbered view tells which writes it lacks, and they are
// added. On another one each step reads what is there by then, and what is written behind a count's
// back can be in it twice: no process knows of the writes of the others anyway.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/background/job_runner.h"
#include "engine/catalog/table.h"
#include "storage/transact_store.h"

namespace stator {

// A count of some of a table's spaces, in steps.
// Errors: the store's; after one, the same step can be repeated.
class Recount {
 public:
  Recount(TransactStore& store, std::vector<Table::Counted> spaces)
      : store_(store), spaces_(std::move(spaces)) {}

  Result<JobState> step();
  // Releases the view; the next step starts again.
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
  std::unique_ptr<ReadView> view_;  // null: each step reads what is there
  std::size_t at_ = 0;              // in spaces_
  std::string after_;               // the last row of it that was counted
  Counters::Totals counted_;
};

// Starts to count a table that needs it, unless that is under way.
void start_count(JobRunner& jobs, TransactStore& store, const Table& table);

}  // namespace stator
