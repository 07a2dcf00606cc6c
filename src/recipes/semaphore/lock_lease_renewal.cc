// SPDX-License-Identifier: Apache-2.0
// When and how a lease is renewed: with Renewal::kBackground once a third of it has passed, and
// after a failure each tenth; otherwise by Lease::renew().
//
// A holder counts its lease from before the request that started it; an observer counts from after
// the response that showed it. So the lease ends for its holder before it ends for any observer.
// Each renewal has a larger beat and fails if the stored beat is larger. So a delayed copy of an
// old renewal cannot restore a state that an observer has seen before.
#include <algorithm>

#include "recipes/common/requests.h"
#include "recipes/semaphore/lock_lease.h"

namespace stator {

using namespace recipes;

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

}  // namespace

void Lease::State::keep(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const nanoseconds whole = length();
    const nanoseconds slice = whole / 10;
    const nanoseconds left = remaining();
    if (left.count() == 0) return;  // watch() reports it
    const nanoseconds due = left - whole * 2 / 3;
    if (due.count() > 0) {
      table_->time.sleep(std::min(due, slice), stop);
    } else if (const auto renewed = renew(stop); !renewed) {
      if (renewed.error().code == Code::kLost) return;
      table_->time.sleep(slice, stop);
    }
  }
}

Result<void> Lease::State::renew(const std::stop_token& stop) {
  {
    const std::scoped_lock lock(mutex_);
    if (!is_live()) return lost_error(terms_.name);
  }
  const CallLimits limits(bounds_of_renewal(stop));
  auto renewed =
      with_retries(table_->options.retry, table_->time, stop, [&] { return send_beat(); });
  if (renewed) return {};
  if (renewed.error().code != Code::kConditionalCheckFailed) return failure_of(std::move(renewed));
  end(lost_);
  return lost_error(terms_.name);
}

// A renewal shortly before the end still gets the time of one attempt.
CallLimits::Bounds Lease::State::bounds_of_renewal(const std::stop_token& stop) const {
  const nanoseconds whole = length();
  return lock_bounds(whole, std::max(remaining(), whole / 3), stop);
}

Result<WriteResult> Lease::State::send_beat() {
  LockUpdate update(*table_, terms_.key);
  nanoseconds sent_at{0};
  int64_t beat = 0;
  milliseconds length{0};  // a larger beat never has a shorter length
  {
    const std::scoped_lock lock(mutex_);
    sent_at = table_->time.since_boot();
    beat = ++beat_;
    length = length_;
  }
  update.beat(kHolder, terms_.id, to_int64(terms_.fence), beat, length);
  auto written = table_->client.update_item(update.request(ReturnValues::kNone));
  if (!written) {
    if (written.error().code != Code::kConditionalCheckFailed) return written;
    STATOR_ASSIGN_OR_RETURN(const auto item, item_of_refusal(*table_, terms_.key, written.error()));
    const auto lock = item ? parse_lock(*item) : std::nullopt;
    const LockEntry* mine = lock ? lock->holder(terms_.id) : nullptr;
    // A repeated request finds its own beat, or a larger one of this lease.
    if (mine == nullptr || mine->who.fence != terms_.fence || mine->beat < beat) return written;
  }
  const std::scoped_lock lock(mutex_);
  ends_at_ = std::max(ends_at_, sent_at + length);
  return WriteResult();
}

}  // namespace stator
