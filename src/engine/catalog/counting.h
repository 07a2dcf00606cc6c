// SPDX-License-Identifier: Apache-2.0
// Counting what spaces hold, exactly, while writes go on.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/background/job_runner.h"
#include "engine/catalog/table.h"
#include "storage/store.h"

namespace stator {

// A count of some of a table's spaces, in steps.
// Errors: the store's; after one, the same step can be repeated.
class Recount {
 public:
  Recount(Store& store, std::vector<Table::Counted> spaces)
      : store_(store), spaces_(std::move(spaces)) {}

  Result<JobState> step();
  // Releases the view; the next step starts again.
  void reset() { view_.reset(); }

 private:
  Result<void> begin();

  Store& store_;
  std::vector<Table::Counted> spaces_;
  std::vector<uint64_t> counts_;    // Counters::begin_count(), of each
  std::unique_ptr<ReadView> view_;  // null: to be taken
  std::size_t at_ = 0;              // in spaces_
  std::string after_;               // the last row of it that was counted
  Counters::Totals counted_;
};

// Starts to count a table that needs it, unless that is under way.
void start_count(JobRunner& jobs, Store& store, const Table& table);

}  // namespace stator
