// SPDX-License-Identifier: Apache-2.0
// The item of a lock: parsing and updates.
//
// Holders and waiters are entries. Each entry has two attributes of the item, named by the entry's
// random id: a map, and a number drawn from the counter `fence`. Maps nested in one map would need
// an additional request to create the outer map.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/call_limits.h"
#include "stator/recipes/semaphore.h"

namespace stator::recipes {

inline constexpr int kMaxPermits = 1000;
inline constexpr std::size_t kMaxWaiters = 500;  // an item has at most 400 KB
inline constexpr std::chrono::milliseconds kMinLease{100};
inline constexpr std::chrono::milliseconds kMaxLease = std::chrono::hours(24);

// An attempt is repeated after a third of the lease: two more attempts then fit into it, and most
// of the lease remains after a success. An attempt with less than 100 ms would rarely succeed.
inline CallLimits::Bounds lock_bounds(std::chrono::nanoseconds lease,
                                      std::chrono::nanoseconds total,
                                      const std::stop_token& stop = {}) {
  return {.attempt = std::max<std::chrono::nanoseconds>(lease / 3, kMinLease),
          .total = total,
          .stop = stop};
}
// Bounds of requests that return a permit or a queue entry. If they fail, the entry expires.
inline CallLimits::Bounds bounds_of_giving_back(std::chrono::nanoseconds lease) {
  return lock_bounds(lease, std::min<std::chrono::nanoseconds>(lease, kMaxGivingBack));
}

struct LockTable {
  Client& client;
  SemaphoreOptions options;
  TimeSource& time;

  std::string key_of(std::string_view name) const;
  std::optional<std::string> name_of(std::string_view key) const;
  Item item_key(const std::string& key) const;
};

// The entries of holders, or of queued waiters.
struct EntryKind {
  const char* map;     // prefixes of the attributes' names
  const char* number;  // of a holder its fencing token, of a waiter its queue position
  const char* count;   // the attribute that counts them
  // Compares text, because equal literals can have different addresses.
  bool operator==(const EntryKind& other) const { return std::string_view(map) == other.map; }
};
inline constexpr EntryKind kHolder{"holder:", "fence:", "held"};
inline constexpr EntryKind kWaiter{"waiter:", "place:", "waiting"};

struct LockEntry {
  LockHolder who;    // `fence` is the entry's number
  int64_t beat = 0;  // increases with each heartbeat
};

struct StoredLock {
  int64_t permits = 0;
  int64_t fence = 0;
  std::vector<LockEntry> holders;   // by number
  std::vector<LockEntry> waiters;   // by number
  std::optional<int64_t> released;  // fencing token of the last released lease
  std::optional<int64_t> broken;    // fencing token drawn by the last break_lock()

  const LockEntry* holder(std::string_view id) const;
  const LockEntry* waiter(std::string_view id) const;
};

// Absent if the item is not a lock.
std::optional<StoredLock> parse_lock(const Item& item);
LockState lock_state(std::string name, StoredLock lock);

// Reads a lock; absent if it was never held. Errors: kConflict if the item is not a lock.
Result<std::optional<StoredLock>> read_lock(const LockTable& table, const std::string& key);
// The item on which a condition failed: from the error if it contains it, otherwise read now.
Result<std::optional<Item>> item_of_refusal(const LockTable& table, const std::string& key,
                                            const Error& error);
Failure no_lock();

// Builds an UpdateItem request for a lock's item, clause by clause.
class LockUpdate {
 public:
  LockUpdate(const LockTable& table, std::string key) : table_(table), key_(std::move(key)) {}

  // Return placeholders for an attribute's name and for a value.
  std::string name(const std::string& attribute);
  std::string value(AttributeValue value);

  void set(const std::string& clause) { append(sets_, ", ", clause); }
  void remove(const std::string& path) { append(removes_, ", ", path); }
  void require(const std::string& condition) { append(conditions_, " AND ", condition); }
  // The condition also holds if the item does not exist.
  void or_absent() { or_absent_ = true; }

  // Adds an entry with a new number.
  void enter(const EntryKind& kind, const std::string& id, const AcquireOptions& options);
  // Removes the entry, on condition that it still has its number.
  void leave(const EntryKind& kind, const std::string& id, int64_t number);
  // Sends a heartbeat of the entry: a larger `beat`, and the time of day for display.
  void beat(const EntryKind& kind, const std::string& id, int64_t number, int64_t beat,
            std::chrono::milliseconds lease);
  // Requires that the entry had no heartbeat since `beat`.
  void require_beat(const EntryKind& kind, const std::string& id, int64_t beat);
  void require_permits(int permits);

  UpdateItemRequest request(ReturnValues return_values);

 private:
  static void append(std::string& list, const char* separator, const std::string& clause);
  void count(const EntryKind& kind, int delta);

  const LockTable& table_;
  std::string key_;
  std::string sets_;
  std::string removes_;
  std::string conditions_;
  bool or_absent_ = false;
  int held_delta_ = 0;
  int waiting_delta_ = 0;
  Names names_;
  Values values_;
};

// ---- Waking in this process

// LockBell: a waiter for a lock in this process, from construction to destruction. A release in the
// process wakes one of them: the next in the queue, or the one that has waited longest.
// Thread safety: ring() from any thread; the other methods from the waiter's own thread.
class LockBell {
 public:
  LockBell(const LockTable& table, const std::string& key);
  LockBell(const LockBell&) = delete;
  LockBell& operator=(const LockBell&) = delete;
  ~LockBell();  // passes an unanswered ring to another waiter

  enum class Woken { kByTime, kByRing, kByStop };
  Woken wait(TimeSource& time, std::chrono::nanoseconds duration, const std::stop_token& stop);
  // Call after the attempt that a ring caused.
  void answered() { owed_ = false; }
  void set_place(int64_t place);

  static void ring(const LockTable& table, const std::string& key);

 private:
  friend struct Bells;
  std::string name_;
  bool owed_ = false;
  // Guarded by the mutex of all bells:
  int64_t place_ = INT64_MAX;
  uint64_t order_ = 0;
  bool rung_ = false;
  bool asleep_ = false;
  std::stop_source wake_;
};

}  // namespace stator::recipes
