// SPDX-License-Identifier: Apache-2.0
// A lock is one item: pk, fence, and while it is held owner, nonce, lease_ms, user, acquired_at.
// It is never deleted, or fences would begin again.
//
// Acquire takes it if there is no owner. Where that fails, the answer carries the item: ours, if
// an earlier attempt's reply was lost; otherwise (fence, nonce) is noted with the time of our own
// boot clock, and when both are still the same a whole lease later, the holder has not renewed, and
// the lock is taken on condition that they are the same even then. Every request that waits is
// such an attempt, so each path is one round trip.
#include "stator/recipes/semaphore.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "base/random.h"
#include "recipes/keys.h"
#include "recipes/lock_item.h"
#include "recipes/requests.h"

namespace stator {

using namespace recipes;

namespace {

using std::chrono::nanoseconds;

constexpr std::chrono::milliseconds kMinLease{100};
constexpr std::chrono::hours kMaxLease{24};
constexpr std::size_t kMaxUserBytes = 1024;
constexpr std::size_t kMaxSightings = 10'000;  // names; beyond it any one is forgotten

// What was seen of a lock that another holds, and since when.
struct Sighting {
  Fence fence = Fence{0};
  std::string nonce;
  nanoseconds since{0};  // since_boot, after the reply that showed it first
  nanoseconds lease{0};

  nanoseconds due() const { return since + lease; }
};

struct Attempt {
  enum class Kind { kTaken, kHeld, kFree, kBusy, kUnknown } kind = Kind::kBusy;
  Fence fence = Fence{0};
  Item holder = {};  // kHeld
  Error error = {};  // kBusy, kUnknown
};

Failure held_by(Code code, const LockName& name, Item item, std::string_view what) {
  const auto lock = parse_lock(item);
  std::string message = fmt::format("{} {}", name.text, what);
  if (lock) {
    message += fmt::format(" by {} (fence {}, lease of {} ms)",
                           lock->holder.user.empty() ? lock->holder.owner : lock->holder.user,
                           to_int64(lock->holder.fence), lock->holder.lease.count());
  }
  auto detail = std::make_shared<ErrorDetail>();
  detail->item = std::move(item);
  return Failure(Error{.code = code, .message = std::move(message), .detail = std::move(detail)});
}

Result<void> check_arguments(const LockName& name, const AcquireOptions& options) {
  STATOR_CHECK_OK(check_text("name", name.text, kMaxPartitionKeyBytes));
  STATOR_CHECK_OK(check_key("name", lock_key(name.text), kMaxPartitionKeyBytes));
  if (options.permits != 1) return invalid("permits", "this version has locks of one permit");
  if (options.lease < kMinLease || options.lease > kMaxLease) {
    return invalid("lease", "must be 100 ms to 24 hours");
  }
  if (options.wait.count() < 0) return invalid("wait", "must not be negative");
  if (!options.user.empty()) STATOR_CHECK_OK(check_text("user", options.user, kMaxUserBytes));
  return {};
}

}  // namespace

struct Semaphore::State {
  std::shared_ptr<const LockTable> table;
  nanoseconds backoff_base;
  nanoseconds backoff_max;

  std::mutex mutex;
  std::map<std::string, Sighting> sightings;  // by key; guarded by mutex

  std::optional<Sighting> sighting(const std::string& key) {
    const std::scoped_lock lock(mutex);
    const auto found = sightings.find(key);
    return found == sightings.end() ? std::nullopt : std::optional(found->second);
  }

  // Called after the reply that shows the item: a clock read before it would count time in which
  // nobody had looked.
  Sighting note(const std::string& key, const StoredLock& seen) {
    const nanoseconds now = table->time.since_boot();
    const std::scoped_lock lock(mutex);
    if (sightings.size() >= kMaxSightings && !sightings.contains(key)) {
      sightings.erase(sightings.begin());
    }
    Sighting& sighting = sightings[key];
    if (sighting.nonce != seen.nonce || sighting.fence != seen.holder.fence) {
      sighting = {.fence = seen.holder.fence,
                  .nonce = seen.nonce,
                  .since = now,
                  .lease = seen.holder.lease};
    }
    return sighting;
  }

  void forget(const std::string& key) {
    const std::scoped_lock lock(mutex);
    sightings.erase(key);
  }
};

namespace {

// One acquire call: its identity, and what it knows.
class Acquisition {
 public:
  Acquisition(const LockTable& table, const LockName& name, const AcquireOptions& options)
      : table_(table),
        key_(lock_key(name.text)),
        options_(options),
        owner_(random_uuid()),
        nonce_(random_uuid()) {}

  const std::string& key() const { return key_; }
  const std::string& owner() const { return owner_; }
  const std::string& nonce() const { return nonce_; }
  // Since when the lease counts: before the first request that may have taken the lock.
  nanoseconds counted_from() const { return maybe_taken_since_.value_or(sent_at_); }
  bool maybe_taken() const { return maybe_taken_since_.has_value(); }

  Result<Attempt> attempt(const std::optional<Sighting>& to_take_over) {
    sent_at_ = table_.time.since_boot();
    auto written = table_.client.update_item(request(to_take_over));
    if (written) {
      const auto fence =
          written->attributes ? int64_in(*written->attributes, "fence") : std::nullopt;
      if (!fence) return fail(Code::kConflict, "the lock's item has no fence");
      return Attempt{.kind = Attempt::Kind::kTaken, .fence = Fence{*fence}};
    }
    const Error& error = written.error();
    if (error.code == Code::kConditionalCheckFailed) return judge(item_in(error));
    switch (trouble_of(error)) {
      case Trouble::kNone:
        return failure_of(std::move(written));
      case Trouble::kUnknown:
        if (!maybe_taken_since_) maybe_taken_since_ = sent_at_;
        return Attempt{.kind = Attempt::Kind::kUnknown, .error = error};
      case Trouble::kConflict:
      case Trouble::kThrottle:
        break;
    }
    return Attempt{.kind = Attempt::Kind::kBusy, .error = error};
  }

 private:
  UpdateItemRequest request(const std::optional<Sighting>& to_take_over) const {
    UpdateItemRequest request{
        .table = table_.options.table,
        .key = {{"pk", key_}},
        .update =
            "SET #owner = :owner, nonce = :nonce, lease_ms = :lease, acquired_at = :now, "
            "fence = if_not_exists(fence, :zero) + :one",
        .condition = "attribute_not_exists(#owner)",
        .names = Names{{"#owner", "owner"}, {"#user", "user"}},
        .values = Values{{":owner", owner_},
                         {":nonce", nonce_},
                         {":lease", options_.lease.count()},
                         {":now", table_.time.now().text()},
                         {":zero", 0},
                         {":one", 1}},
        .return_values = ReturnValues::kUpdatedNew,
        .on_condition_failure = ReturnValuesOnConditionCheckFailure::kAllOld};
    if (options_.user.empty()) {
      *request.update += " REMOVE #user";
    } else {
      *request.update += ", #user = :user";
      request.values->emplace(":user", options_.user);
    }
    if (to_take_over) {
      request.condition = "fence = :fence AND nonce = :seen";
      request.values->emplace(":fence", to_int64(to_take_over->fence));
      request.values->emplace(":seen", to_take_over->nonce);
    }
    return request;
  }

  Result<Attempt> judge(const Item* item) const {
    std::optional<Item> read;
    if (item == nullptr) {  // an endpoint that does not send it along
      auto found = table_.client.get_item(
          {.table = table_.options.table, .key = {{"pk", key_}}, .consistent_read = true});
      if (!found) return Attempt{.kind = Attempt::Kind::kBusy, .error = std::move(found).error()};
      read = std::move(found->item);
      item = read ? &*read : nullptr;
    }
    if (item == nullptr || !item->contains("owner")) return Attempt{.kind = Attempt::Kind::kFree};
    const auto lock = parse_lock(*item);
    if (!lock) return fail(Code::kConflict, "the table holds an item here that is no lock");
    if (lock->holder.owner == owner_ && lock->nonce == nonce_) {
      return Attempt{.kind = Attempt::Kind::kTaken, .fence = lock->holder.fence};
    }
    return Attempt{.kind = Attempt::Kind::kHeld, .holder = *item};
  }

  const LockTable& table_;
  std::string key_;
  const AcquireOptions& options_;
  std::string owner_;
  std::string nonce_;
  nanoseconds sent_at_{0};
  std::optional<nanoseconds> maybe_taken_since_;
};

// How acquire's loop waits between attempts, and when it ends.
class Patience {
 public:
  Patience(TimeSource& time, const RetryPolicy& retry, nanoseconds wait)
      : time_(time), retry_(retry), waits_(wait.count() > 0) {
    const nanoseconds start = time_.since_boot();
    deadline_ = wait > nanoseconds::max() - start ? nanoseconds::max() : start + wait;
  }

  // Whether to try again after `attempt`. One who does not wait still repeats what had no answer.
  bool goes_on(const Attempt& attempt) {
    if (attempt.kind == Attempt::Kind::kFree && at_once()) return ++surprises_, true;
    if (waits_) return in_time();
    if (attempt.kind == Attempt::Kind::kHeld || attempt.kind == Attempt::Kind::kFree) return false;
    const int most = attempt.kind == Attempt::Kind::kUnknown
                         ? std::min(retry_.max_attempts, kMaxUnknownAttempts)
                         : retry_.max_attempts;
    return ++repeats_ < most;
  }
  // Finding the lock free after a failed takeover calls for another attempt at once.
  bool at_once() const { return surprises_ < kMaxSurprises; }
  bool waits() const { return waits_; }
  nanoseconds left() const { return waits_ ? deadline_ - time_.since_boot() : nanoseconds::max(); }

 private:
  static constexpr int kMaxSurprises = 3;

  bool in_time() const { return waits_ && left().count() > 0; }

  TimeSource& time_;
  const RetryPolicy& retry_;
  bool waits_;
  nanoseconds deadline_;
  int repeats_ = 0;
  int surprises_ = 0;
};

// Why acquire ends without the lock.
Failure refusal(const LockName& name, Attempt attempt, bool waited) {
  if (attempt.kind == Attempt::Kind::kHeld) {
    return waited ? held_by(Code::kTimeout, name, std::move(attempt.holder), "is still held")
                  : held_by(Code::kHeld, name, std::move(attempt.holder), "is held");
  }
  if (waited) return fail(Code::kTimeout, name.text + " was not to be had in time");
  if (attempt.kind == Attempt::Kind::kFree) {
    return fail(Code::kHeld, name.text + " changes hands too fast");
  }
  return Failure(final_error(std::move(attempt.error)));
}

}  // namespace

Semaphore::Semaphore(Client& client, SemaphoreOptions options) : state_(std::make_shared<State>()) {
  state_->backoff_base = options.backoff_base;
  state_->backoff_max = options.backoff_max;
  TimeSource& time = options.time != nullptr ? *options.time : system_time();
  state_->table = std::make_shared<const LockTable>(
      LockTable{.client = client, .options = std::move(options), .time = time});
}

Result<Lease> Semaphore::acquire(const LockName& name, const AcquireOptions& options,
                                 const std::stop_token& stop) {
  const LockTable& table = *state_->table;
  STATOR_CHECK_OK(check_table(table.options.table));
  STATOR_CHECK_OK(check_arguments(name, options));
  Acquisition acquisition(table, name, options);
  Patience patience(table.time, table.options.retry, options.wait);
  // What may have been taken by a request without an answer must not stay taken.
  const auto give_up = [&](Failure failure) {
    if (acquisition.maybe_taken()) abandon_lock(table, acquisition.key(), acquisition.owner());
    return failure;
  };

  for (int waits = 0;; ++waits) {
    if (stop.stop_requested()) return give_up(fail(Code::kCancelled, "stopped while waiting"));
    auto sighting = state_->sighting(acquisition.key());
    const bool due = sighting && table.time.since_boot() >= sighting->due();
    auto attempted = acquisition.attempt(due ? sighting : std::nullopt);
    if (!attempted) return give_up(Failure(std::move(attempted).error()));
    Attempt& attempt = *attempted;

    if (attempt.kind == Attempt::Kind::kTaken) {
      state_->forget(acquisition.key());
      return Lease(
          std::make_unique<Lease::State>(Lease::State{.table = state_->table,
                                                      .name = name.text,
                                                      .key = acquisition.key(),
                                                      .owner = acquisition.owner(),
                                                      .fence = attempt.fence,
                                                      .length = options.lease,
                                                      .counted_from = acquisition.counted_from()}));
    }
    nanoseconds pause = jittered(state_->backoff_base, state_->backoff_max, waits);
    if (attempt.kind == Attempt::Kind::kHeld) {
      sighting = state_->note(acquisition.key(), *parse_lock(attempt.holder));
      pause = std::min(pause, std::max(nanoseconds(0), sighting->due() - table.time.since_boot()));
    } else if (attempt.kind == Attempt::Kind::kFree) {
      state_->forget(acquisition.key());
      if (patience.at_once()) pause = nanoseconds(0);
    }
    if (!patience.goes_on(attempt)) {
      return give_up(refusal(name, std::move(attempt), patience.waits()));
    }
    pause = std::max(nanoseconds(0), std::min(pause, patience.left()));
    if (!table.time.sleep(pause, stop)) {
      return give_up(fail(Code::kCancelled, "stopped while waiting for " + name.text));
    }
  }
}

Result<std::optional<LockHolder>> Semaphore::holder(const LockName& name) {
  const LockTable& table = *state_->table;
  STATOR_CHECK_OK(check_table(table.options.table));
  STATOR_CHECK_OK(check_arguments(name, {}));
  const GetItemRequest get{
      .table = table.options.table, .key = {{"pk", lock_key(name.text)}}, .consistent_read = true};
  STATOR_TRY(const GetItemResult found, with_retries(table.options.retry, table.time,
                                                     [&] { return table.client.get_item(get); }));
  if (!found.item || !found.item->contains("owner")) return std::optional<LockHolder>();
  auto lock = parse_lock(*found.item);
  if (!lock) return fail(Code::kConflict, "the table holds an item here that is no lock");
  return std::optional<LockHolder>(std::move(lock->holder));
}

std::optional<LockHolder> Semaphore::holder_in(const Error& error) {
  if (error.code != Code::kHeld && error.code != Code::kTimeout) return std::nullopt;
  const Item* item = item_in(error);
  if (item == nullptr) return std::nullopt;
  auto lock = parse_lock(*item);
  return lock ? std::optional<LockHolder>(std::move(lock->holder)) : std::nullopt;
}

CreateTableRequest Semaphore::table_definition(const SemaphoreOptions& options) {
  return {.table = options.table,
          .attributes = {{"pk", ScalarType::kS}},
          .key_schema = {{"pk", KeyType::kHash}},
          .billing_mode = BillingMode::kPayPerRequest};
}

}  // namespace stator
