// SPDX-License-Identifier: Apache-2.0
// Semaphore: at most so many at a time touch some shared thing, one unless told otherwise, among
// any number of processes and machines. One item a name, one round trip to acquire, renew, take
// over or release.
//
// Guarantees, whatever wall clocks say:
// - The fences handed out for a name strictly increase.
// - Lease::commit applies only while the lease is a current one, so that a holder that was paused
//   past its lease can not write late.
// - At most `permits` leases of a name have time remaining(), provided that boot clocks
//   (TimeSource::since_boot) keep to this bound: while the holder's clock advances by the lease,
//   an observer's advances by at most takeover_after(lease). Clocks within 999 ppm of true time do,
//   with sudden corrections of up to 10 ms in all; a virtual machine that is paused or restored
//   from a snapshot does not, and neither does a clock that is slewed by more. A lease is taken
//   over only by somebody who saw it unchanged for takeover_after(lease).
// - Whoever waits in line (Order::kFifo) goes before all who came later, and before all who wait
//   without a place. One who dies in line is stepped over like a holder.
// Threads: none, but the two that a lease with Renewal::kBackground owns until it is released.
// Thread safety: Semaphore's methods and Lease::lost from any thread at once; a Lease's others from
// one thread at a time.
// Lifetime: leases borrow the client and the time source, not the Semaphore.
// Errors: kInvalidArgument, kHeld, kTimeout, kCancelled, kLost, kLimitsDisagree (the name has other
// permits), kConflict (the item is no lock), and the client's. Layout: docs/formats/recipes.md.
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
  std::string text;  // 1 to about 2,000 bytes of UTF-8, `#` included
  LockName(std::string name) : text(std::move(name)) {}  // NOLINT(google-explicit-constructor)
  LockName(const char* name) : text(name) {}             // NOLINT(google-explicit-constructor)
};

// Grows by at least one with each acquisition of a name: give it to whatever the lock protects,
// and let that refuse smaller ones.
enum class Fence : int64_t {};
constexpr int64_t to_int64(Fence fence) {
  return static_cast<int64_t>(fence);
}

// All who share a name must agree on the table, its keys and the prefix.
struct SemaphoreOptions {
  std::string table;
  std::string partition_key = "pk";  // its attribute's name; type S
  std::string sort_key = {};         // for tables that have one, of type S: its value is "LOCK"
  std::string prefix = "LOCK#";      // of the partition key's values; may be empty
  RetryPolicy retry = {};
  // While waiting, an attempt follows a random wait between zero and
  // min(backoff_max, backoff_base * 2^n), or at once a release in this process.
  std::chrono::milliseconds backoff_base{20};
  std::chrono::milliseconds backoff_max{1'000};
  TimeSource* time = nullptr;  // null: system_time()
};

// How long acquire waits for another holder.
inline constexpr std::chrono::nanoseconds kNoWait{0};
inline constexpr std::chrono::nanoseconds kWaitForEver = std::chrono::nanoseconds::max();

// How long giving a permit back may take, or the lease if it is shorter: in release(), when a lease
// is destroyed, and when acquire ends without one.
inline constexpr std::chrono::seconds kMaxGivingBack{5};

enum class Order {
  kAny,   // whoever comes when a permit is free
  kFifo,  // who must wait takes a place in line, kept in the item: one more round trip to enter
};
enum class Renewal {
  kByCaller,    // renew() is the caller's
  kBackground,  // the lease owns a thread that renews it and one that watches its end
};
// Who shares a lease has at least the lease asked for left, and its renewal: a longer one lengthens
// the lease for all who share it, one request if there is less left. The user stays the first
// one's.
enum class Reentry {
  kNone,    // an acquire of a name that is held waits or answers kHeld, whoever asks
  kThread,  // one by the thread that acquired it shares the lease; both must say kThread
  kObject,  // one through this Semaphore shares the lease; both must say kObject
};

struct AcquireOptions {
  int permits = 1;  // holders at most, 1 to 1,000; the same for all who use the name
  std::chrono::milliseconds lease = std::chrono::seconds(20);  // 100 ms to 24 hours
  std::chrono::nanoseconds wait = kNoWait;
  std::string user = {};  // who it is, for people, up to 100 bytes; decides nothing
  Order order = Order::kAny;
  Renewal renewal = Renewal::kByCaller;
  Reentry reentry = Reentry::kNone;
};

// How long an observer must see an entry unchanged before it removes it: the lease, and a margin of
// 0.2% and 10 ms for clocks that run at other rates.
constexpr std::chrono::nanoseconds takeover_after(std::chrono::milliseconds lease) {
  return lease + std::chrono::nanoseconds(lease) / 500 + std::chrono::milliseconds(10);
}

// Who has a permit or waits in line, as stored. Whether it is alive, only time can tell.
struct LockHolder {
  std::string owner;       // random, new for each acquisition
  std::string user;        // as given, possibly empty
  Fence fence = Fence{0};  // in line: the place, smaller goes first
  std::chrono::milliseconds lease{0};
  Time acquired_at;  // by the holder's wall clock: for people
  // Its last sign of life by its wall clock: for people; absent if it stored none.
  std::optional<Time> renewed_at;
  // For how long this Semaphore has seen it without a sign of life; zero at the first look.
  std::chrono::nanoseconds unchanged{0};

  // Proven by observation: this Semaphore may take it over.
  bool expired() const { return unchanged >= takeover_after(lease); }
  // A hint, at once: its lease has run out if its wall clock and the one that shows `now` agree.
  bool overdue(Time now) const { return renewed_at && now >= *renewed_at + lease; }
};

struct LockState {
  std::string name;
  int permits = 0;
  Fence fence = Fence{0};           // the highest so far
  std::vector<LockHolder> holders;  // by fence
  std::vector<LockHolder> waiters;  // in line, the next one first
};

// Which locks list() answers: those held or waited for; each condition narrows it.
struct LockFilter {
  std::optional<std::string> user = {};  // the holders of this user, and locks that have any
  bool expired = false;                  // the holders of which this object knows it
  bool overdue = false;                  // the holders that are, by this machine's wall clock
};

// The right to go on. Movable; destruction releases it (owner-checked, errors are dropped).
// Requests of a lease are bounded (CallLimits): an attempt by a third of the lease or 100 ms,
// renew() by what is left of it, giving back by kMaxGivingBack.
class Lease {
 public:
  Lease(Lease&&) noexcept;
  Lease& operator=(Lease&&) noexcept;  // releases what it held
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease();

  Fence fence() const;  // neither is for a lease that was moved from
  const std::string& name() const;

  // How long nobody can have taken it over yet, by this machine's boot clock: the lease's length
  // since before the request that acquired or renewed it was sent. Zero when it is over, released
  // or known to be lost.
  std::chrono::nanoseconds remaining() const;
  bool held() const { return remaining() > std::chrono::nanoseconds(0); }

  // Stops when the lease is lost: with Renewal::kBackground when its time is over (a suspended or
  // stopped process notices as it goes on), without when a call finds out. Never by a release.
  // A stop_callback runs in the thread that found out, and must not destroy the lease.
  std::stop_token lost() const;

  // Begins the lease's length anew. kLost when another has taken it over; any other error leaves
  // remaining() as it was.
  Result<void> renew();

  // Gives it back; of a shared lease (Reentry) the last one does. kLost when another had taken it
  // over before; finding that an earlier attempt has released it is success, and so is a second
  // call.
  Result<void> release();

  // The transaction, with the condition that this lease is a current one added as its last
  // action (so 99 actions at most). kLost when it is not, and nothing is written; otherwise the
  // transaction's own result. Conflicts, with waiting others among them, are retried.
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

  // A lease of `name`. kNoWait: kHeld at once when there is no permit. A wait that runs out:
  // kTimeout; kCancelled when `stop` asks for it, within about a second also during a request,
  // and kMaxGivingBack for what that may have taken. state_in() tells who is in the way.
  // A holder that stopped renewing is replaced once this object has seen it unchanged for
  // takeover_after() its lease, over one waiting call or several short ones.
  Result<Lease> acquire(const LockName& name, const AcquireOptions& options = {},
                        const std::stop_token& stop = {});

  // Who has it and who waits in line; a name that was never held has no permits.
  Result<LockState> state(const LockName& name);

  // Locks held or waited for, in no order: a scan, and so as dear as the table is large. A holder
  // counts as expired if a list or state of this object takeover_after() its lease ago has shown it
  // the same. An object remembers 10,000 locks; list() does not know what has expired beyond them.
  Result<Page<LockState>> list(const LockFilter& filter = {}, const PageOptions& page = {});

  // For operators: takes the permits from who has them, or from one owner alone, without waiting.
  // They find out as they renew, commit or release. Answers the fence that is now the highest;
  // what the lock protects should be shown it, so that it refuses them too.
  Result<Fence> break_lock(const LockName& name, const std::optional<std::string>& owner = {});

  // For operators: other permits for a name. Who asks with the old ones gets kLimitsDisagree;
  // holders too many stay until they release. kNotFound for a name that was never held.
  Result<void> set_permits(const LockName& name, int permits);

  // The state that a kHeld, kTimeout or kLimitsDisagree carries.
  static std::optional<LockState> state_in(const Error& error);

  // The table that the options need: on demand, the partition key, and the sort key if any.
  static CreateTableRequest table_definition(const SemaphoreOptions& options);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace stator
