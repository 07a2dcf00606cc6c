// SPDX-License-Identifier: Apache-2.0
// Semaphore: limits concurrent holders of a named lock, by default to one, across any number of
// processes and machines. Each name is one item. Acquiring, renewing, taking over and releasing
// each take one round trip.
//
// Guarantees, independent of wall clocks:
// - The fencing tokens of a name strictly increase.
// - Lease::commit sends a transaction only while the lease has time remaining(), and it takes
//   effect only while the permit is stored as this lease's: neither taken over nor released nor
//   revoked. So a holder that was paused past the end of its lease sends nothing, and a transaction
//   that it sent before has no effect after a takeover. For a pause or a suspended machine during
//   the call, only the second condition holds: what was about to be sent is sent afterwards.
// - At most `permits` leases of a name have time remaining(), apart from those that break_lock()
//   has revoked or set_permits() has made surplus. This requires that boot clocks
//   (TimeSource::since_boot) keep a bound: while the holder's clock advances by the lease, an
//   observer's clock advances by at most takeover_after(lease). Clocks within 999 ppm of true time,
//   with sudden corrections of up to 10 ms in total, keep it. A virtual machine that is paused or
//   restored from a snapshot does not, and neither does a clock that is slewed faster. A lease is
//   taken over only by an observer that saw it unchanged for takeover_after(lease).
// - A waiter in the queue (Order::kFifo) acquires before all later ones and before all waiters
//   outside the queue. A queued waiter that stops renewing is removed like an expired holder.
// Delayed requests: a copy of an acquire that arrives after the permit was released occupies a
// permit for one lease, without a holder.
// Threads: a lease with Renewal::kBackground owns two threads until it is released. Nothing else
// starts threads.
// Thread safety: any thread can call Semaphore's methods and Lease::lost; the other methods of a
// Lease must be called from one thread at a time.
// Lifetime: leases borrow the client and the time source, not the Semaphore.
// Errors: kInvalidArgument, kHeld, kTimeout, kCancelled, kLost, kNotFound (for operators),
// kLimitsDisagree (the name has a different number of permits), kConflict (the item is not a lock),
// and the client's.
// Layout: docs/formats/recipes.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "stator/recipes/common.h"

namespace stator {

struct LockName {
  std::string text;  // 1 to about 2,000 bytes of UTF-8; may contain `#`
  LockName(std::string name) : text(std::move(name)) {}  // NOLINT(google-explicit-constructor)
  LockName(const char* name) : text(name) {}             // NOLINT(google-explicit-constructor)
};

// A fencing token. It increases by at least one with each acquisition of a name. Pass it to the
// resource that the lock protects; the resource must reject tokens lower than the highest it saw.
enum class Fence : int64_t {};
constexpr int64_t to_int64(Fence fence) {
  return static_cast<int64_t>(fence);
}

// All users of a name must use the same table, key attributes and prefix.
struct SemaphoreOptions {
  std::string table;
  std::string partition_key = "pk";  // the attribute's name; type S
  std::string sort_key = {};         // if the table has one, of type S; its value is "LOCK"
  std::string prefix = "LOCK#";      // of the partition key's values; may be empty
  RetryPolicy retry = {};
  // Waiting for a permit: attempts are separated by random pauses between zero and
  // min(backoff_max, backoff_base * 2^n). A release in this process ends a pause at once.
  std::chrono::milliseconds backoff_base{20};
  std::chrono::milliseconds backoff_max{1'000};
  TimeSource* time = nullptr;  // null: system_time()
};

// Values for AcquireOptions::wait.
inline constexpr std::chrono::nanoseconds kNoWait{0};
inline constexpr std::chrono::nanoseconds kWaitForEver = std::chrono::nanoseconds::max();

// Time limit for returning a permit: in release(), in a lease's destructor, and when acquire()
// fails. A shorter lease is itself the limit.
inline constexpr std::chrono::seconds kMaxGivingBack{5};

enum class Order {
  kAny,   // the first attempt after a permit becomes free acquires it
  kFifo,  // waiters queue in the item; joining the queue takes one more round trip
};
enum class Renewal {
  kByCaller,    // the caller calls renew()
  kBackground,  // the lease owns a thread that renews it and a thread that watches for its end
};
// Whether an acquire shares a lease that is already held. At least the requested lease then
// remains: if less is left, one request renews the lease for all who share it. The first acquire
// determines the user.
enum class Reentry {
  kNone,    // never: acquiring a held name waits or fails with kHeld
  kThread,  // an acquire by the thread that acquired the lease shares it, if both use kThread
  kObject,  // an acquire through the same Semaphore shares it, if both use kObject
};

struct AcquireOptions {
  int permits = 1;  // maximum number of holders, 1 to 1,000; must be the same for all users
  std::chrono::milliseconds lease = std::chrono::seconds(20);  // 100 ms to 24 hours
  std::chrono::nanoseconds wait = kNoWait;
  std::string user = {};  // display name of the holder, up to 100 bytes
  Order order = Order::kAny;
  Renewal renewal = Renewal::kByCaller;
  Reentry reentry = Reentry::kNone;
};

// How long an observer must see an entry unchanged before it removes it: the lease plus a margin of
// 0.2% and 10 ms, because clocks run at different rates.
constexpr std::chrono::nanoseconds takeover_after(std::chrono::milliseconds lease) {
  return lease + std::chrono::nanoseconds(lease) / 500 + std::chrono::milliseconds(10);
}

// A stored holder or queued waiter. It can have stopped; only observing it over time shows that.
struct LockHolder {
  std::string owner;       // random, new for each acquisition
  std::string user;        // as passed to acquire(), possibly empty
  Fence fence = Fence{0};  // of a waiter: its queue position, lowest first
  std::chrono::milliseconds lease{0};
  Time acquired_at;  // by the holder's wall clock, for display
  // Last renewal by the holder's wall clock, for display; absent if it is not stored.
  std::optional<Time> renewed_at;
  // How long this Semaphore has observed the entry without a renewal; zero when first seen.
  std::chrono::nanoseconds unchanged{0};

  // Proven by observation: this Semaphore may take the permit over.
  bool expired() const { return unchanged >= takeover_after(lease); }
  // A hint without observation: the lease has run out if the holder's wall clock agrees with `now`.
  bool overdue(Time now) const { return renewed_at && now >= *renewed_at + lease; }
};

struct LockState {
  std::string name;
  int permits = 0;
  Fence fence = Fence{0};           // the highest so far
  std::vector<LockHolder> holders;  // ordered by fencing token
  std::vector<LockHolder> waiters;  // queued, the next one first
};

// Selects the locks that list() returns. By default: all locks with holders or waiters. Each
// condition removes holders, and locks without a remaining holder.
struct LockFilter {
  std::optional<std::string> user = {};  // only holders with this user
  bool expired = false;                  // only holders that this object knows to have expired
  bool overdue = false;                  // only holders that are overdue() by the local wall clock
};

// A held permit. Movable. The destructor releases it (after checking the owner) and ignores errors.
// Time limits of requests (CallLimits): an attempt takes at most a third of the lease, or 100 ms if
// that is longer. renew() takes at most the remaining lease, or a third of the lease if that is
// longer. commit() takes at most the remaining lease, and limits that the caller has set for the
// thread also apply to it. Returning the permit takes at most kMaxGivingBack.
class Lease {
 public:
  Lease(Lease&&) noexcept;
  Lease& operator=(Lease&&) noexcept;  // releases the previous lease
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease();

  // Do not call fence() or name() on a lease that was moved from.
  Fence fence() const;
  const std::string& name() const;

  // How long nobody else can take the permit over, by this machine's boot clock. The time counts
  // from before the last successful acquire or renew request was sent. Zero if the lease is over,
  // released or known to be lost.
  std::chrono::nanoseconds remaining() const;
  bool held() const { return remaining() > std::chrono::nanoseconds(0); }

  // A token that is stopped when the lease is lost. With Renewal::kBackground: when its time is
  // over (in a suspended process: when it resumes). Otherwise: when a call detects the loss. A
  // release does not stop it. A stop_callback runs on the thread that detected the loss and must
  // not destroy the lease.
  std::stop_token lost() const;

  // Restarts the lease's time. Errors: kLost if the permit was taken over; any other error leaves
  // remaining() unchanged.
  Result<void> renew();

  // Returns the permit. A shared lease (Reentry) is released by its last user. A repeated call, or
  // finding that an earlier attempt has released it, is a success.
  // Errors: kLost if the permit was taken over.
  Result<void> release();

  // Executes a transaction with a condition that the permit is stored as this lease's, added as its
  // last action; so at most 99 actions are allowed. Each attempt requires time remaining().
  // Conflicts, including those with waiters, are retried.
  // Errors: kLost, with nothing written, if the lease has ended (renew() can restart its time,
  // unless lost() is stopped) or if the permit was taken over; those of the transaction, such as
  // kOutcomeUnknown if the lease ended after an attempt without a response.
  Result<TransactWriteItemsResult> commit(TransactWriteItemsRequest transaction) const;

 private:
  friend class Semaphore;
  struct State;
  explicit Lease(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
  bool released_ = false;
};

class Semaphore {
 public:
  Semaphore(Client& client, const SemaphoreOptions& options);

  // Acquires a permit of `name`. A holder that stopped renewing is replaced once this object has
  // seen it unchanged for takeover_after() its lease, during one waiting call or several short
  // ones. `stop` ends a call within about a second, plus up to kMaxGivingBack to return a permit
  // that was acquired in the meantime.
  // Errors: kHeld with kNoWait if no permit is free; kTimeout after `wait`; kCancelled. state_in()
  // returns the current holders.
  Result<Lease> acquire(const LockName& name, const AcquireOptions& options = {},
                        const std::stop_token& stop = {});

  // Returns the holders and queued waiters. A name that was never held has 0 permits.
  Result<LockState> state(const LockName& name);

  // Returns locks with holders or waiters, unordered. This scans the table, so it costs as much as
  // the table is large. A holder is known to have expired if list() or state() of this object
  // showed the same entry at least takeover_after() its lease ago. An object remembers 10,000
  // locks; it cannot report expired holders of further ones.
  Result<Page<LockState>> list(const LockFilter& filter = {}, const PageOptions& page = {});

  // For operators: revokes all permits, or only that of one owner, without waiting. Holders notice
  // when they renew, commit or release. Returns the new highest fencing token; pass it to the
  // resource that the lock protects, so that it rejects the previous holders.
  // `owner` is a LockHolder::owner. Errors: kNotFound if the name was never held, or `owner` does
  // not hold it; kTransactionConflict, which is retryable(), if others keep changing the lock.
  Result<Fence> break_lock(const LockName& name, const std::optional<std::string>& owner = {});

  // For operators: changes the number of permits of a name. An acquire with the old number then
  // fails with kLimitsDisagree. Surplus holders stay until they release.
  // `permits`: 1 to 1,000. Errors: kNotFound if the name was never held.
  Result<void> set_permits(const LockName& name, int permits);

  // The state contained in a kHeld, kTimeout or kLimitsDisagree error.
  static std::optional<LockState> state_in(const Error& error);

  // The table definition for these options: on demand, the partition key, the sort key if any.
  static CreateTableRequest table_definition(const SemaphoreOptions& options);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace stator
