// SPDX-License-Identifier: Apache-2.0
// Waiting in acquire(), and shared leases. lock_acquisition.cc sends the requests.
#include "stator/recipes/semaphore.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "recipes/common/keys.h"
#include "recipes/common/requests.h"
#include "recipes/semaphore/lock_acquisition.h"
#include "recipes/semaphore/lock_lease.h"
#include "recipes/semaphore/lock_semaphore.h"

namespace stator {

using namespace recipes;

namespace {

using std::chrono::nanoseconds;
using LockOutcome = Acquisition::Outcome;

constexpr std::size_t kMaxUserBytes = 100;

Result<void> check_options(const AcquireOptions& options) {
  STATOR_RETURN_IF_ERROR(check_permits(options.permits));
  if (options.lease < kMinLease || options.lease > kMaxLease) {
    return invalid("lease", "must be 100 ms to 24 hours");
  }
  if (options.wait.count() < 0) return invalid("wait", "must not be negative");
  if (!options.user.empty())
    STATOR_RETURN_IF_ERROR(check_text("user", options.user, kMaxUserBytes));
  return {};
}

// How acquire's loop waits between steps, and when it ends.
class Patience {
 public:
  Patience(const LockTable& table, nanoseconds wait)
      : time_(table.time), retry_(table.options.retry), waits_(wait.count() > 0) {
    const nanoseconds start = time_.since_boot();
    deadline_ = wait > nanoseconds::max() - start ? nanoseconds::max() : start + wait;
  }

  // Whether to take another step after `outcome`. A caller that does not wait still repeats
  // requests that were rejected as busy or got no response.
  bool goes_on(LockOutcome outcome) {
    if (outcome == LockOutcome::kOnward) return left().count() > 0;
    if (outcome == LockOutcome::kChanged && at_once()) return ++changes_, true;
    if (waits_) return left().count() > 0;
    if (outcome == LockOutcome::kHeld || outcome == LockOutcome::kChanged) return false;
    const int most = outcome == LockOutcome::kUnknown
                         ? std::min(retry_.max_attempts, kMaxUnknownAttempts)
                         : retry_.max_attempts;
    return ++repeats_ < most;
  }
  bool at_once() const { return changes_ < kMaxChanges; }
  void calm_down() { changes_ = 0; }
  bool waits() const { return waits_; }
  // Time limit for the requests of one step. A step that takes longer than the lease would return
  // one that has ended. The last step before the deadline gets the time of one attempt.
  nanoseconds for_a_step(nanoseconds lease) const { return std::clamp(left(), lease / 3, lease); }
  nanoseconds left() const { return waits_ ? deadline_ - time_.since_boot() : nanoseconds::max(); }

 private:
  static constexpr int kMaxChanges = 3;  // in a row

  TimeSource& time_;
  const RetryPolicy& retry_;
  bool waits_;
  nanoseconds deadline_;
  int repeats_ = 0;
  int changes_ = 0;
};

// Why acquire ends without a permit.
Failure refusal(const Acquisition& acquisition, const LockName& name, LockOutcome outcome,
                bool waited) {
  if (outcome == LockOutcome::kHeld) {
    return waited ? acquisition.held(Code::kTimeout, "is still held")
                  : acquisition.held(Code::kHeld, "is held");
  }
  if (waited) return fail(Code::kTimeout, "timed out waiting for lock '" + name.text + "'");
  if (outcome == LockOutcome::kChanged)
    return fail(Code::kHeld, name.text + " changes hands too fast");
  return Failure(final_error(acquisition.error()));
}

}  // namespace

namespace recipes {

Result<void> check_permits(int permits) {
  if (permits >= 1 && permits <= kMaxPermits) return {};
  return invalid("permits", fmt::format("is {}, must be 1 to {}", permits, kMaxPermits));
}

Result<void> check_lock(const LockTable& table, const LockName& name) {
  STATOR_RETURN_IF_ERROR(check_lock_table(table));
  STATOR_RETURN_IF_ERROR(check_text("name", name.text, kMaxPartitionKeyBytes));
  return check_key("name", table.key_of(name.text), kMaxPartitionKeyBytes);
}

Result<void> check_lock_table(const LockTable& table) {
  const SemaphoreOptions& options = table.options;
  STATOR_RETURN_IF_ERROR(check_table(options.table));
  STATOR_RETURN_IF_ERROR(check_text("partition_key", options.partition_key, kMaxNameBytes));
  if (!options.sort_key.empty()) {
    STATOR_RETURN_IF_ERROR(check_text("sort_key", options.sort_key, kMaxNameBytes));
    if (options.sort_key == options.partition_key) {
      return invalid("sort_key", "is the partition key's");
    }
  }
  if (options.prefix.empty()) return {};
  return check_text("prefix", options.prefix, kMaxPartitionKeyBytes);
}

}  // namespace recipes

Semaphore::Semaphore(Client& client, const SemaphoreOptions& options)
    : state_(std::make_shared<State>(client, options)) {}

std::optional<Lease> Semaphore::State::reenter(const std::string& key, Reentry reentry) {
  if (reentry == Reentry::kNone) return std::nullopt;
  const std::scoped_lock lock(mutex);
  const auto [begin, end] = shared.equal_range(key);
  for (auto at = begin; at != end;) {
    const std::shared_ptr<Lease::State> state = at->second.lock();
    if (!state) {
      at = shared.erase(at);
      continue;
    }
    if (state->share(reentry)) return Lease(state);
    ++at;
  }
  return std::nullopt;
}

void Semaphore::State::remember(const std::shared_ptr<Lease::State>& state) {
  const std::scoped_lock lock(mutex);
  std::erase_if(shared, [](const auto& one) { return one.second.expired(); });
  shared.emplace(state->key(), state);
}

Lease Semaphore::State::make_lease(const Acquisition& acquisition, const LockName& name,
                                   const AcquireOptions& options) {
  auto lease =
      std::make_shared<Lease::State>(table, LeaseTerms{.name = name.text,
                                                       .key = acquisition.key(),
                                                       .id = acquisition.owner(),
                                                       .fence = acquisition.fence(),
                                                       .permits = options.permits,
                                                       .length = options.lease,
                                                       .counted_from = acquisition.counted_from(),
                                                       .reentry = options.reentry});
  if (options.renewal == Renewal::kBackground) lease->start_threads();
  if (options.reentry != Reentry::kNone) remember(lease);
  return Lease(std::move(lease));
}

Result<Lease> Semaphore::acquire(const LockName& name, const AcquireOptions& options,
                                 const std::stop_token& stop) {
  const LockTable& table = *state_->table;
  STATOR_RETURN_IF_ERROR(check_lock(table, name));
  STATOR_RETURN_IF_ERROR(check_options(options));
  if (auto shared = state_->reenter(table.key_of(name.text), options.reentry)) {
    if (shared->state_->permits() != options.permits) {
      return fail(Code::kLimitsDisagree, "lock '" + name.text + "' has another number of permits");
    }
    const auto satisfied = shared->state_->satisfy(options, stop);
    if (satisfied) return std::move(*shared);
    if (satisfied.error().code != Code::kLost) return Failure(satisfied.error());
  }
  Acquisition acquisition(table, state_->sightings, name, options);
  Patience patience(table, options.wait);
  LockBell bell(table, acquisition.key());
  const auto give_up = [&](Failure failure) {
    if (acquisition.give_up()) LockBell::ring(table, acquisition.key());
    return failure;
  };

  bool eager = true;
  for (int waits = 0;; ++waits) {
    if (stop.stop_requested()) return give_up(fail(Code::kCancelled, "stopped while waiting"));
    const CallLimits limits(lock_bounds(options.lease, patience.for_a_step(options.lease), stop));
    const auto stepped = acquisition.step(eager);
    bell.answered();
    if (stepped && *stepped == LockOutcome::kTaken) {
      return state_->make_lease(acquisition, name, options);
    }
    if (stop.stop_requested()) continue;
    if (!stepped) return give_up(Failure(stepped.error()));
    if (acquisition.place()) bell.set_place(*acquisition.place());

    const bool at_once = *stepped == LockOutcome::kOnward ||
                         (*stepped == LockOutcome::kChanged && patience.at_once());
    if (!patience.goes_on(*stepped)) {
      return give_up(refusal(acquisition, name, *stepped, patience.waits()));
    }
    if (at_once) continue;
    patience.calm_down();
    const nanoseconds pause =
        std::min({jittered(table.options.backoff_base, table.options.backoff_max, waits),
                  state_->sightings.until_next(acquisition.key()), acquisition.until_sign_of_life(),
                  std::max(nanoseconds(0), patience.left())});
    const LockBell::Woken woken = bell.wait(table.time, pause, stop);
    if (woken == LockBell::Woken::kByStop) {
      return give_up(fail(Code::kCancelled, "stopped while waiting for " + name.text));
    }
    eager = woken == LockBell::Woken::kByRing;
  }
}

CreateTableRequest Semaphore::table_definition(const SemaphoreOptions& options) {
  CreateTableRequest table{.table = options.table,
                           .attributes = {{options.partition_key, ScalarType::kS}},
                           .key_schema = {{options.partition_key, KeyType::kHash}},
                           .billing_mode = BillingMode::kPayPerRequest};
  if (!options.sort_key.empty()) {
    table.attributes.push_back({options.sort_key, ScalarType::kS});
    table.key_schema.push_back({options.sort_key, KeyType::kRange});
  }
  return table;
}

}  // namespace stator
