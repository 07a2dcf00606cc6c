// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "base/random.h"
#include "recipes/common/keys.h"
#include "recipes/common/requests.h"
#include "recipes/common/stop_limit.h"
#include "recipes/semaphore/lock_lease.h"

namespace stator {

using namespace recipes;

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr std::size_t kMaxActions = 100;

Failure ended_error(const std::string& name) {
  return fail(Code::kLost, "the lease of " + name + " has ended");
}

}  // namespace

Failure recipes::lost_error(const std::string& lock) {
  return fail(Code::kLost, "the lease of " + lock + " was lost");
}

// ---- The state

Lease::State::State(std::shared_ptr<const LockTable> table, LeaseTerms terms)
    : table_(std::move(table)),
      terms_(std::move(terms)),
      length_(terms_.length),
      ends_at_(terms_.counted_from + terms_.length) {}

Lease::State::~State() {
  keeper_.request_stop();
  watcher_.request_stop();
}

void Lease::State::start_threads() {
  std::call_once(threads_, [this] {
    keeper_ = std::jthread([this](const std::stop_token& stop) { keep(stop); });
    watcher_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
  });
}

bool Lease::State::share(Reentry reentry) {
  if (reentry != terms_.reentry) return false;
  if (reentry == Reentry::kThread && std::this_thread::get_id() != thread_) return false;
  if (remaining().count() == 0) return false;
  const std::scoped_lock lock(mutex_);
  if (handles_ == 0) return false;
  ++handles_;
  return true;
}

Result<void> Lease::State::satisfy(const AcquireOptions& options, const std::stop_token& stop) {
  if (options.renewal == Renewal::kBackground) start_threads();
  {
    const std::scoped_lock lock(mutex_);
    length_ = std::max(length_, options.lease);
  }
  return remaining() >= options.lease ? Result<void>() : renew(stop);
}

milliseconds Lease::State::length() const {
  const std::scoped_lock lock(mutex_);
  return length_;
}

nanoseconds Lease::State::remaining() const {
  const std::scoped_lock lock(mutex_);
  if (!is_live()) return nanoseconds(0);
  return std::max(nanoseconds(0), ends_at_ - table_->time.since_boot());
}

void Lease::State::end(bool& how) {
  {
    const std::scoped_lock lock(mutex_);
    if (released_ || handles_ == 0) return;
    how = true;
  }
  lost_source_.request_stop();
}

// Sleeps in short steps: the clock of a sleep stops while the machine is suspended, the clock of
// the lease does not.
void Lease::State::watch(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const nanoseconds left = remaining();
    if (left.count() == 0) return end(over_);
    table_->time.sleep(std::min<nanoseconds>(left, length() / 10), stop);
  }
}

// A client repeats requests by itself, so the time of a commit ends with the lease. Limits that the
// caller has set for the thread still apply.
CallLimits::Bounds Lease::State::bounds_of_commit() const {
  const CallLimits::Bounds own = lock_bounds(length(), remaining());
  CallLimits::Bounds bounds = current_bounds();
  bounds.attempt = std::min(bounds.attempt, own.attempt);
  bounds.total = std::min(bounds.total, own.total);
  return bounds;
}

bool Lease::State::was_released(const StoredLock& lock) const {
  const int64_t fence = to_int64(terms_.fence);
  if (lock.released == fence) return true;
  // Otherwise an earlier attempt might have released the lease, with its response lost, and others
  // have released the lock since. Before its end, only an operator can take a lease.
  return remaining().count() > 0 && lock.broken.value_or(0) < fence;
}

Result<void> Lease::State::give_back() {
  keeper_.request_stop();
  watcher_.request_stop();
  const CallLimits limits(bounds_of_giving_back(length()));
  LockUpdate update(*table_, terms_.key);
  update.leave(kHolder, terms_.id, to_int64(terms_.fence));
  update.set("released = " + update.value(to_int64(terms_.fence)));
  const UpdateItemRequest request = update.request(ReturnValues::kNone);
  auto written = with_retries(table_->options.retry, table_->time,
                              [&] { return table_->client.update_item(request); });
  if (!written) {
    if (written.error().code != Code::kConditionalCheckFailed) {
      return failure_of(std::move(written));
    }
    STATOR_ASSIGN_OR_RETURN(const auto item, item_of_refusal(*table_, terms_.key, written.error()));
    const auto lock = item ? parse_lock(*item) : std::nullopt;
    if (!lock || !was_released(*lock)) {
      {
        const std::scoped_lock guard(mutex_);
        lost_ = true;
      }
      lost_source_.request_stop();
      return lost_error(terms_.name);
    }
  }
  {
    const std::scoped_lock guard(mutex_);
    released_ = true;
  }
  LockBell::ring(*table_, terms_.key);
  return {};
}

Result<void> Lease::State::release() {
  {
    const std::scoped_lock lock(mutex_);
    if (handles_ > 1) return --handles_, Result<void>();
    handles_ = 0;
    if (lost_) return lost_error(terms_.name);
  }
  return give_back();
}

Result<TransactWriteItemsResult> Lease::State::commit(TransactWriteItemsRequest transaction) {
  if (transaction.items.size() >= kMaxActions) {
    return invalid("transaction", "has more than 99 actions");
  }
  {
    const std::scoped_lock lock(mutex_);
    if (!is_live()) return lost_error(terms_.name);
  }
  const std::size_t check = transaction.items.size();
  transaction.items.push_back({.action = TransactAction::kConditionCheck,
                               .table = table_->options.table,
                               .item = table_->item_key(terms_.key),
                               .condition = "#fence = :fence",
                               .names = Names{{"#fence", kHolder.number + terms_.id}},
                               .values = Values{{":fence", to_int64(terms_.fence)}}});
  // The token identifies a repetition after a lost response. A rejected attempt had no effect, and
  // some endpoints do not accept its token again. But if an earlier one had no response, that one
  // can still take effect, so all later ones keep its token.
  const bool own_token = !transaction.client_request_token;
  if (own_token) transaction.client_request_token = random_uuid();
  bool is_unresolved = false;
  Failure at_end = ended_error(terms_.name);
  const CallLimits limits(bounds_of_commit());
  auto written =
      with_retries(table_->options.retry, table_->time, [&]() -> Result<TransactWriteItemsResult> {
        if (remaining().count() == 0) return at_end;
        auto result = table_->client.transact_write_items(transaction);
        if (result) return result;
        if (trouble_of(result.error()) == Trouble::kUnknown) {
          is_unresolved = true;
          at_end = Failure(result.error());  // kLost would say that nothing was written
        } else if (own_token && !is_unresolved &&
                   result.error().code == Code::kTransactionCanceled) {
          transaction.client_request_token = random_uuid();
        }
        return result;
      });
  if (!written && condition_failed_at(written.error(), check)) {
    end(lost_);
    return lost_error(terms_.name);
  }
  return written;
}

// ---- The handle

Lease::Lease(std::shared_ptr<State> state) : state_(std::move(state)) {}
Lease::Lease(Lease&& other) noexcept
    : state_(std::move(other.state_)), released_(std::exchange(other.released_, false)) {}

Lease& Lease::operator=(Lease&& other) noexcept {
  if (this != &other) {
    if (state_) (void)release();
    state_ = std::move(other.state_);
    released_ = std::exchange(other.released_, false);
  }
  return *this;
}

Lease::~Lease() {
  if (state_) (void)release();
}

Fence Lease::fence() const {
  return state_->terms().fence;
}
const std::string& Lease::name() const {
  return state_->terms().name;
}

nanoseconds Lease::remaining() const {
  return state_ && !released_ ? state_->remaining() : nanoseconds(0);
}

std::stop_token Lease::lost() const {
  return state_ ? state_->lost() : std::stop_token();
}

Result<void> Lease::renew() {
  if (!state_) return invalid("lease", "was moved from");
  if (released_) return lost_error(name());
  return state_->renew({});
}

Result<void> Lease::release() {
  if (!state_ || released_) return {};
  const auto done = state_->release();
  if (done) released_ = true;
  return done;
}

Result<TransactWriteItemsResult> Lease::commit(TransactWriteItemsRequest transaction) const {
  if (!state_) return invalid("lease", "was moved from");
  if (released_) return lost_error(name());
  return state_->commit(std::move(transaction));
}

}  // namespace stator
