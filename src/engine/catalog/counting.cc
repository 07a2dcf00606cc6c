// SPDX-License-Identifier: Apache-2.0
#include "engine/catalog/counting.h"

#include <utility>

namespace stator {
namespace {

constexpr std::size_t kRowsAtOnce = 16'384;
constexpr std::size_t kBytesAtOnce = 16UL << 20;

class CountJob final : public Job {
 public:
  CountJob(TransactStore& store, const Table& table)
      : state_(table.count_state()), recount_(store, table.counted()) {}
  CountJob(const CountJob&) = delete;
  CountJob& operator=(const CountJob&) = delete;
  ~CountJob() override { state_->is_running = false; }

  Result<JobState> step() override {
    STATOR_ASSIGN_OR_RETURN(const JobState step, recount_.step());
    if (step == JobState::kDone) state_->is_needed = false;
    return step;
  }
  void rest() override { recount_.reset(); }
  // The next DescribeTable starts another count.
  Result<void> abandon(const Error&) override { return {}; }

 private:
  std::shared_ptr<Table::CountState> state_;
  Recount recount_;
};

}  // namespace

Result<void> Recount::begin() {
  counts_.clear();
  for (const Table::Counted& space : spaces_) counts_.push_back(space.counters->begin_count());
  NumberedView numbered;
  if (LocalViews* const views = store_.local_views()) {
    STATOR_ASSIGN_OR_RETURN(numbered, views->numbered_view());
  }
  for (std::size_t i = 0; i < spaces_.size(); ++i) {
    spaces_[i].counters->set_base(counts_[i], numbered.sequence);
  }
  view_ = std::move(numbered.view);
  has_begun_ = true;
  at_ = 0;
  after_.clear();
  counted_ = {};
  return {};
}

Result<void> Recount::scan(const RangeRead& range, RowVisitor visit) {
  return view_ ? view_->scan(range, visit) : read_range(store_, range, visit);
}

Result<JobState> Recount::step() {
  if (!has_begun_) STATOR_RETURN_IF_ERROR(begin());
  KeyRange range = spaces_[at_].range;
  if (!after_.empty()) range.begin = after_ + '\0';
  Counters::Totals counted = counted_;
  std::string last;
  std::size_t rows = 0;
  std::size_t bytes = 0;
  bool full = false;
  STATOR_RETURN_IF_ERROR(scan({.range = std::move(range), .expected_rows = kRowsAtOnce},
                              [&](std::string_view key, std::string_view value) {
                                counted += {.items = 1, .bytes = spaces_[at_].bytes_of(value)};
                                bytes += value.size();
                                full = ++rows == kRowsAtOnce || bytes >= kBytesAtOnce;
                                if (full) last = key;
                                return !full;
                              }));
  counted_ = counted;
  after_ = std::move(last);
  if (full) return JobState::kMore;
  spaces_[at_].counters->finish_count(counts_[at_], counted_);
  counted_ = {};
  if (++at_ < spaces_.size()) return JobState::kMore;
  reset();
  return JobState::kDone;
}

void start_count(JobRunner& jobs, TransactStore& store, const Table& table) {
  if (!table.needs_count() || table.count_state()->is_running.exchange(true)) return;
  jobs.add("count of table '" + table.name() + "'", std::make_unique<CountJob>(store, table));
}

}  // namespace stator
