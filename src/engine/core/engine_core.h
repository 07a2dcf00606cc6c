// SPDX-License-Identifier: Apache-2.0
// EngineCore: the parts of the engine that every operation needs.
//
// ItemEngine, SchemaEngine and JobEngine extend it, each the one before it, with the parts that
// their folders need. Engine owns a JobEngine and passes it to the operations.
// Thread safety: that of each part. `catalog` and `lag` are set before operations start.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "engine/background/in_flight_operations.h"
#include "engine/background/job_runner.h"
#include "engine/background/worker.h"
#include "engine/catalog/catalog.h"
#include "engine/catalog/job_leases.h"
#include "engine/core/engine_options.h"
#include "engine/vectors/vector_cache.h"
#include "storage/transact_store.h"

namespace stator {

class ReadLag;

// Runs once, when the outcome of a write is durable or a read is complete. It must not block.
template <class T>
using Done = std::move_only_function<void(Result<T>)>;

struct EngineCore {
  EngineCore(std::unique_ptr<TransactStore> the_store, const EngineOptions& the_options)
      : store(std::move(the_store)),
        is_shared(store->capabilities().several_processes),
        options(the_options),
        vector_cache(is_shared ? nullptr : make_vector_cache(*store, options.vector_cache)),
        leases(*store),
        jobs(options.report, options.retry_delay, options.job_threads) {}

  // Each member can use those above it, and is destroyed before them.
  std::unique_ptr<TransactStore> store;
  const bool is_shared;  // several processes use the store; reads complete on other threads
  EngineOptions options;
  std::unique_ptr<VectorCache> vector_cache;  // null on a shared store
  JobLeases leases;
  JobRunner jobs;  // copies, imports, exports, bulk puts, backfills, counts
  std::unique_ptr<Catalog> catalog;
  InFlightOperations in_flight;  // operations that can outlive the call that started them
  Worker blocking;               // waits for a shared store, for example for a newer catalog
  ReadLag* lag = nullptr;        // read_lag.h; null unless in test mode

  int64_t now_ms() const { return options.clock->unix_ms(); }
};

}  // namespace stator
