// SPDX-License-Identifier: Apache-2.0
// The item of a lock, and what a Semaphore shares with the leases that it gave out.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "stator/recipes/semaphore.h"

namespace stator {

namespace recipes {

struct LockTable {
  Client& client;
  SemaphoreOptions options;
  TimeSource& time;
};

// A lock that has an owner.
struct StoredLock {
  LockHolder holder;
  std::string nonce;  // new with each acquisition and renewal
};

std::string lock_key(std::string_view name);
// Absent for an item without an owner, and for one that is no lock's.
std::optional<StoredLock> parse_lock(const Item& item);

// Frees the lock if `owner` has it, whatever its fence. Best effort.
void abandon_lock(const LockTable& table, const std::string& key, const std::string& owner);

}  // namespace recipes

struct Lease::State {
  std::shared_ptr<const recipes::LockTable> table;
  std::string name;
  std::string key;
  std::string owner;
  Fence fence = Fence{0};
  std::chrono::nanoseconds length{0};
  std::chrono::nanoseconds counted_from{0};  // since_boot
  bool released = false;
  bool lost = false;  // known to be another's

  Values identity() const;  // :owner and :fence, of kIsCurrent
};

}  // namespace stator
