// SPDX-License-Identifier: Apache-2.0
// What the engine's operation families share.
#pragma once

#include <memory>
#include <mutex>

#include "engine/background/in_flight_operations.h"
#include "engine/background/job_ids.h"
#include "engine/background/job_runner.h"
#include "engine/background/ticker.h"
#include "engine/background/worker.h"
#include "engine/catalog/catalog.h"
#include "engine/catalog/resource_policies.h"
#include "engine/engine.h"
#include "engine/items/token_sweep.h"

namespace stator {

struct Engine::Impl {
  Impl(std::unique_ptr<Store> the_store, const EngineOptions& the_options)
      : store(std::move(the_store)),
        options(the_options),
        resource_policies(*store),
        jobs(options.report, options.retry_delay) {}

  // In the order in which they need each other: the store goes last.
  std::unique_ptr<Store> store;
  EngineOptions options;
  ResourcePolicies resource_policies;
  Worker housekeeping;  // Engine::run_maintenance() without being told
  Worker retries;       // writes that met a conflict
  TokenSweepState token_sweep;
  JobRunner jobs;             // whatever takes long: copies, imports, exports, index fills, counts
  JobIds job_ids;             // of backups, imports and exports
  std::mutex backups;         // held while one is deleted, or begins to be restored
  InFlightOperations writes;  // those under way
  std::unique_ptr<Catalog> catalog;
  Ticker sweeper;  // deletes what has expired
  Ticker ticker;   // what time asks for

  int64_t now_ms() const { return options.clock->unix_ms(); }
};

}  // namespace stator
