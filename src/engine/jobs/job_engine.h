// SPDX-License-Identifier: Apache-2.0
// JobEngine: what backups, restores, imports, exports and bulk puts need.
#pragma once

#include "engine/catalog/records.h"
#include "engine/schema/schema_engine.h"

namespace stator {

struct JobEngine : SchemaEngine {
  using SchemaEngine::SchemaEngine;
};

// Whether no engine works on a job, by what JobLeases::look() saw.
inline bool is_free(const JobEngine& engine, RecordKind kind, std::string_view name) {
  return engine.leases.is_free(lease_key(record_key(kind, name)));
}

}  // namespace stator
