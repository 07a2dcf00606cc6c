// SPDX-License-Identifier: Apache-2.0
// JobEngine: the parts of the engine that backups, restores, imports, exports and bulk puts need.
#pragma once

#include "engine/catalog/records.h"
#include "engine/schema/schema_engine.h"

namespace stator {

struct JobEngine : SchemaEngine {
  using SchemaEngine::SchemaEngine;
};

// Whether no engine is working on a job, according to the last JobLeases::look().
inline bool is_free(const JobEngine& engine, RecordKind kind, std::string_view name) {
  return engine.leases.is_free(lease_key(record_key(kind, name)));
}

}  // namespace stator
