// SPDX-License-Identifier: Apache-2.0
// SchemaEngine: the parts of the engine that operations on tables need.
#pragma once

#include <memory>
#include <utility>

#include "engine/background/job_ids.h"
#include "engine/background/ticker.h"
#include "engine/catalog/resource_policies.h"
#include "engine/items/item_engine.h"

namespace stator {

struct SchemaEngine : ItemEngine {
  SchemaEngine(std::unique_ptr<TransactStore> the_store, const EngineOptions& the_options)
      : ItemEngine(std::move(the_store), the_options), resource_policies(*store) {}

  ResourcePolicies resource_policies;
  JobIds job_ids;  // of backups, imports, exports and bulk puts
  Ticker sweeper;  // deletes expired items
};

}  // namespace stator
