// SPDX-License-Identifier: Apache-2.0
// JobEngine: what backups, restores, imports and exports need.
#pragma once

#include <mutex>

#include "engine/schema/schema_engine.h"

namespace stator {

struct JobEngine : SchemaEngine {
  using SchemaEngine::SchemaEngine;

  std::mutex backups;  // held while one is deleted, or begins to be restored
};

}  // namespace stator
