// SPDX-License-Identifier: Apache-2.0
#include "cli/table_scan.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>

#include "cli/patience.h"
#include "stator/call_limits.h"

namespace stator::cli {
namespace {

constexpr std::chrono::milliseconds kAdvancedEvery{100};
constexpr std::chrono::hours kNoTimeLimit{24 * 365 * 10};

Failure stopped_scan() {
  return fail(Code::kCancelled, "stopped");
}

class SegmentedScan {
 public:
  SegmentedScan(const TableScan& scan, ScanPositions positions)
      : scan_(scan),
        positions_(std::move(positions)),
        stop_(scan.stop, [this] { give_up_.request_stop(); }) {}

  Result<void> run() {
    std::vector<std::jthread> threads;
    threads.reserve(positions_.size());
    std::unique_lock lock(mutex_);
    for (std::size_t i = 0; i < positions_.size(); ++i) {
      if (positions_[i].ended) continue;
      ++running_;
      threads.emplace_back([this, i, start = positions_[i]] { read_segment(i, start); });
    }
    for (bool last = false; !last;) {
      last = ended_.wait_for(lock, kAdvancedEvery, [this] { return running_ == 0; });
      const ScanPositions now = positions_;
      lock.unlock();
      auto advanced = scan_.advanced(now);
      lock.lock();
      if (!advanced) give_up(std::move(advanced).error());
    }
    return failure_ ? Result<void>(Failure(*failure_)) : Result<void>();
  }

 private:
  // Call it with mutex_ locked. Keeps the first failure, which causes the others.
  void give_up(Error error) {
    if (!failure_) failure_ = std::move(error);
    give_up_.request_stop();
  }

  void read_segment(std::size_t segment, SegmentPosition position) {
    const CallLimits limits(
        {.attempt = kNoTimeLimit, .total = kNoTimeLimit, .stop = give_up_.get_token()});
    Result<void> read;
    while (read && !position.ended) {
      read = read_page(segment, position);
      if (!read) break;
      const std::scoped_lock lock(mutex_);
      positions_[segment] = position;
    }
    const std::scoped_lock lock(mutex_);
    // A stopped request fails with another error.
    if (!read) give_up(scan_.stop.stop_requested() ? stopped_scan().error() : read.error());
    --running_;
    ended_.notify_all();
  }

  Result<void> read_page(std::size_t segment, SegmentPosition& position) {
    const std::stop_token stop = give_up_.get_token();
    if (stop.stop_requested()) return stopped_scan();
    const auto segments = static_cast<int64_t>(positions_.size());
    ScanRequest request{.table = scan_.table,
                        .segment = static_cast<int64_t>(segment),
                        .total_segments = segments,
                        .consistent_read = true,
                        .exclusive_start_key = position.after};
    const int64_t rate = scan_.pace == nullptr ? 0 : scan_.pace->per_second();
    if (rate > 0) request.limit = std::max<int64_t>(1, rate / segments);  // one page per second
    STATOR_ASSIGN_OR_RETURN(PageResult page, with_patience(system_time(), stop, [&] {
                              return scan_.client.scan(request);
                            }));
    const std::size_t count = page.items.size();
    if (scan_.pace != nullptr && !scan_.pace->admit(count, stop)) return stopped_scan();
    if (count > 0) STATOR_RETURN_IF_ERROR(scan_.visit(std::move(page.items), stop));
    position.items += static_cast<int64_t>(count);
    position.after = std::move(page.last_evaluated_key);
    position.ended = !position.after;
    return {};
  }

  const TableScan& scan_;
  std::mutex mutex_;  // guards the members up to failure_; the number of positions is constant
  std::condition_variable ended_;
  ScanPositions positions_;
  std::size_t running_ = 0;
  std::optional<Error> failure_;
  std::stop_source give_up_;
  std::stop_callback<std::function<void()>> stop_;
};

}  // namespace

int64_t items_in(const ScanPositions& positions) {
  return std::accumulate(
      positions.begin(), positions.end(), int64_t{0},
      [](int64_t sum, const SegmentPosition& segment) { return sum + segment.items; });
}

Result<void> scan_table(const TableScan& scan, ScanPositions positions) {
  return SegmentedScan(scan, std::move(positions)).run();
}

}  // namespace stator::cli
