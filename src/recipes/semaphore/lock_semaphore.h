// SPDX-License-Identifier: Apache-2.0
// The state of a Semaphore, and the checks that its methods share.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "recipes/semaphore/lock_acquisition.h"
#include "recipes/semaphore/lock_lease.h"
#include "recipes/semaphore/lock_sightings.h"

namespace stator {

namespace recipes {

Result<void> check_permits(int permits);
Result<void> check_lock_table(const LockTable& table);
Result<void> check_lock(const LockTable& table, const LockName& name);

}  // namespace recipes

struct Semaphore::State {
  State(Client& client, const SemaphoreOptions& options)
      : table(std::make_shared<const recipes::LockTable>(
            recipes::LockTable{.client = client,
                               .options = options,
                               .time = options.time != nullptr ? *options.time : system_time()})),
        sightings(table->time) {}

  // The lease of the name that the caller can share, if any.
  std::optional<Lease> reenter(const std::string& key, Reentry reentry);
  void remember(const std::shared_ptr<Lease::State>& state);
  Lease make_lease(const recipes::Acquisition& acquisition, const LockName& name,
                   const AcquireOptions& options);

  std::shared_ptr<const recipes::LockTable> table;
  recipes::Sightings sightings;

  std::mutex mutex;
  std::multimap<std::string, std::weak_ptr<Lease::State>> shared;  // by key; guarded by mutex
};

}  // namespace stator
