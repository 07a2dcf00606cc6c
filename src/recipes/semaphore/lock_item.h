// SPDX-License-Identifier: Apache-2.0
// The item of a lock: how it is read, and how its updates are put together.
//
// Holders and waiters are entries: a map of the entry's own and a number drawn from the counter
// `fence`, each an attribute of the item by the entry's random id. Maps within a map would need a
// request of their own to make the outer one.
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
inline constexpr std::size_t kMaxWaiters = 500;  // an item has 400 KB
inline constexpr std::chrono::milliseconds kMinLease{100};
inline constexpr std::chrono::milliseconds kMaxLease = std::chrono::hours(24);

// An attempt that takes longer than a third of the lease is better repeated: most of the lease
// would be over, and two more attempts have the time. Below 100 ms it would seldom succeed.
inline CallLimits::Bounds lock_bounds(std::chrono::nanoseconds lease,
                                      std::chrono::nanoseconds total,
                                      const std::stop_token& stop = {}) {
  return {.attempt = std::max<std::chrono::nanoseconds>(lease / 3, kMinLease),
          .total = total,
          .stop = stop};
}
// Of requests that give something back. What they fail to give back expires.
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

// Owners' entries, and those of who waits in line.
struct EntryKind {
  const char* map;     // prefixes of the attributes' names
  const char* number;  // of a holder its fence, of a waiter its place
  const char* count;   // the attribute that counts them
  // By what the names say: equal literals may have several addresses.
  bool operator==(const EntryKind& other) const { return std::string_view(map) == other.map; }
};
inline constexpr EntryKind kHolder{"holder:", "fence:", "held"};
inline constexpr EntryKind kWaiter{"waiter:", "place:", "waiting"};

struct LockEntry {
  LockHolder who;    // `fence` is the entry's number
  int64_t beat = 0;  // grows with each sign of life
};

struct StoredLock {
  int64_t permits = 0;
  int64_t fence = 0;
  std::vector<LockEntry> holders;   // by number
  std::vector<LockEntry> waiters;   // by number
  std::optional<int64_t> released;  // the last fence given back
  std::optional<int64_t> broken;    // the fence that the last break-lock drew

  const LockEntry* holder(std::string_view id) const;
  const LockEntry* waiter(std::string_view id) const;
};

// Absent for an item that is no lock's.
std::optional<StoredLock> parse_lock(const Item& item);
LockState lock_state(std::string name, StoredLock lock);

// Reads it; absent: never held. kConflict for an item that is no lock.
Result<std::optional<StoredLock>> read_lock(const LockTable& table, const std::string& key);
// As it was when a condition failed, from the error where it carries it, else by reading.
Result<std::optional<Item>> item_of_refusal(const LockTable& table, const std::string& key,
                                            const Error& error);
Failure no_lock();

// An UpdateItem of a lock's item, clause by clause.
class LockUpdate {
 public:
  LockUpdate(const LockTable& table, std::string key) : table_(table), key_(std::move(key)) {}

  // Placeholders for an attribute's name and for a value.
  std::string name(const std::string& attribute);
  std::string value(AttributeValue value);

  void set(const std::string& clause) { append(sets_, ", ", clause); }
  void remove(const std::string& path) { append(removes_, ", ", path); }
  void require(const std::string& condition) { append(conditions_, " AND ", condition); }
  // Passes also where there is no item yet.
  void or_absent() { or_absent_ = true; }

  // A new entry, with a number of its own.
  void enter(const EntryKind& kind, const std::string& id, const AcquireOptions& options);
  // The entry goes, where it still has its number.
  void leave(const EntryKind& kind, const std::string& id, int64_t number);
  // The entry gives a sign of life: a larger beat, and the time of day for people.
  void beat(const EntryKind& kind, const std::string& id, int64_t number, int64_t beat,
            std::chrono::milliseconds lease);
  // The entry has given no sign of life since.
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

// One who waits for a lock in this process, from construction to destruction: a release in the
// process wakes one of them, who is next in line or waits the longest.
// Thread safety: ring() from any thread; the others from the waiter's own.
class LockBell {
 public:
  LockBell(const LockTable& table, const std::string& key);
  LockBell(const LockBell&) = delete;
  LockBell& operator=(const LockBell&) = delete;
  ~LockBell();  // hands on a ring that was not answered

  enum class Woken { kByTime, kByRing, kByStop };
  Woken wait(TimeSource& time, std::chrono::nanoseconds duration, const std::stop_token& stop);
  // What the ring told about has been tried.
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
