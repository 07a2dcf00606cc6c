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

#include "engine/background/job_runner.h"
#include "engine/catalog/catalog.h"
#include "engine/catalog/job_leases.h"
#include "engine/core/engine_options.h"
#include "storage/transact_store.h"

namespace stator {

// Runs once, when the outcome of a write is durable. It must not block.
template <class T>
using Done = std::move_only_function<void(Result<T>)>;

struct EngineCore {
  EngineCore(std::unique_ptr<TransactStore> the_store, const EngineOptions& the_options)
      : store(std::move(the_store)),
        options(the_options),
        leases(*store),
        jobs(options.report, options.retry_delay) {}

  // In the order in which they need each other: the store goes last.
  std::unique_ptr<TransactStore> store;
  EngineOptions options;
  JobLeases leases;
  JobRunner jobs;  // whatever takes long: copies, imports, exports, index fills, counts
  std::unique_ptr<Catalog> catalog;

  int64_t now_ms() const { return options.clock->unix_ms(); }
};

}  // namespace stator
