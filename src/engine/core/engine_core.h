// SPDX-License-Identifier: Apache-2.0
// EngineCore: what every operation works on.
//
// Those that do more than read get a struct that adds what their folder needs, each built on the
// one below: ItemEngine, SchemaEngine, JobEngine. Engine holds the last and hands it down.
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

// Runs once: when the outcome of a write is durable, or when a read is complete. It must not block.
template <class T>
using Done = std::move_only_function<void(Result<T>)>;

struct EngineCore {
  EngineCore(std::unique_ptr<TransactStore> the_store, const EngineOptions& the_options)
      : store(std::move(the_store)),
        is_shared(store->capabilities().several_processes),
        options(the_options),
        vector_cache(is_shared ? nullptr : make_vector_cache(*store, options.vector_cache)),
        leases(*store),
        jobs(options.report, options.retry_delay) {}

  // In the order in which they need each other: the store goes last.
  std::unique_ptr<TransactStore> store;
  const bool is_shared;  // by several processes: then reads can complete on other threads
  EngineOptions options;
  std::unique_ptr<VectorCache> vector_cache;  // null on a shared store
  JobLeases leases;
  JobRunner jobs;  // whatever takes long: copies, imports, exports, index fills, counts
  std::unique_ptr<Catalog> catalog;
  InFlightOperations in_flight;  // those that can outlive the call that began them
  Worker blocking;               // of a shared store: what waits for it, such as a newer catalog
  ReadLag* lag = nullptr;        // read_lag.h; null unless in test mode

  int64_t now_ms() const { return options.clock->unix_ms(); }
};

}  // namespace stator
