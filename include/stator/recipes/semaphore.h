// SPDX-License-Identifier: Apache-2.0
// Semaphore: only one at a time touches some shared thing, among any number of processes and
// machines. One item a lock, one round trip (1 WCU) to acquire, renew, take over or release.
//
// Guarantees: the fences handed out for a name strictly increase. A lease is taken over only by
// one who saw it unchanged for the whole of its length on a clock of its own that nobody can set
// (wall clocks never matter). Lease::commit applies only while the lease is the current one, so
// that a holder that was paused past its lease can not write late.
// A lease is one holder: locks are not re-entrant, and a second acquire of a held name waits or
// answers kHeld, also in the same process and for the same user.
// Thread safety: Semaphore's methods from any thread at once; a Lease from one thread at a time.
// Lifetime: leases borrow the client and the time source, not the Semaphore.
// Errors: kInvalidArgument, kHeld, kTimeout, kCancelled, kLost, kConflict (the item is no lock),
// and the client's. Layout: docs/formats/recipes.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

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

struct SemaphoreOptions {
  std::string table;
  RetryPolicy retry = {};
  // While waiting, an attempt follows a random wait between zero and
  // min(backoff_max, backoff_base * 2^n).
  std::chrono::milliseconds backoff_base{20};
  std::chrono::milliseconds backoff_max{1'000};
  TimeSource* time = nullptr;  // null: system_time()
};

// How long acquire waits for another holder.
inline constexpr std::chrono::nanoseconds kNoWait{0};
inline constexpr std::chrono::nanoseconds kWaitForEver = std::chrono::nanoseconds::max();

struct AcquireOptions {
  int permits = 1;  // holders at most; 1 is all there is so far
  std::chrono::milliseconds lease = std::chrono::seconds(20);  // 100 ms to 24 hours
  std::chrono::nanoseconds wait = kNoWait;
  std::string user = {};  // who it is, for people; decides nothing
};

// Who has a lock, as stored. Whether the holder is alive, only time can tell.
struct LockHolder {
  std::string owner;  // random, new for each lease
  std::string user;   // as given, possibly empty
  Fence fence = Fence{0};
  std::chrono::milliseconds lease{0};
  Time acquired_at;  // by the holder's wall clock: for people
};

// The right to go on. Movable; destruction releases it (owner-checked, errors are dropped).
class Lease {
 public:
  Lease(Lease&&) noexcept;
  Lease& operator=(Lease&&) noexcept;  // releases what it held
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease();

  Fence fence() const;  // neither is for a lease that was moved from
  const std::string& name() const;

  // How long nobody can have taken it over yet: the lease's length since before the request that
  // acquired or renewed it was sent. Zero when it is over, released or known to be lost.
  std::chrono::nanoseconds remaining() const;
  bool held() const { return remaining() > std::chrono::nanoseconds(0); }

  // Begins the lease's length anew. kLost when another has taken it over; any other error leaves
  // remaining() as it was.
  Result<void> renew();

  // Gives it back. kLost when another had taken it over before; finding that an earlier attempt
  // has released it is success, and so is a second call.
  Result<void> release();

  // The transaction, with the condition that this lease is the current one added as its last
  // action (so 99 actions at most). kLost when it is not, and nothing is written; otherwise the
  // transaction's own result. Conflicts, with waiting others among them, are retried.
  Result<TransactWriteItemsResult> commit(TransactWriteItemsRequest transaction) const;

 private:
  friend class Semaphore;
  struct State;
  explicit Lease(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

class Semaphore {
 public:
  Semaphore(Client& client, SemaphoreOptions options);

  // The lease of `name`. kNoWait: kHeld at once when another has it. A wait that runs out:
  // kTimeout; kCancelled as soon as `stop` asks for it. holder_in() tells who has it.
  // A holder that stopped renewing is replaced once this object has seen it unchanged for its
  // whole lease, over one waiting call or several short ones.
  Result<Lease> acquire(const LockName& name, const AcquireOptions& options = {},
                        const std::stop_token& stop = {});

  // Who has it; absent: free.
  Result<std::optional<LockHolder>> holder(const LockName& name);

  // The holder that a kHeld or kTimeout names.
  static std::optional<LockHolder> holder_in(const Error& error);

  // The table that the options need: on demand, partition key `pk`.
  static CreateTableRequest table_definition(const SemaphoreOptions& options);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace stator
