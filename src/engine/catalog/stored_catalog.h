// SPDX-License-Identifier: Apache-2.0
// StoredCatalog: the contents of the catalog's rows, from one snapshot of the store.
// Blocking: only read_catalog() waits for the store.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/catalog/table.h"
#include "engine/change_log/change_log.h"
#include "storage/transact_store.h"

namespace stator {

struct StoredCatalog {
  uint64_t version = 0;                     // grows with each change; 0: never written
  std::map<SpaceId, uint64_t> versions;     // of tables, by their spaces
  std::vector<TableDefinition> tables;      // in the order of their names
  std::vector<TableDefinition> restoring;   // the same
  std::map<SpaceId, LogPtr> logs;           // by their spaces
  std::vector<SpaceId> dropped;             // spaces whose rows are not erased yet
  std::map<SpaceId, std::string> counters;  // as stored
};

// Reads every row of the catalog, from one snapshot. Errors: the store's; kCorruption for unknown
// or damaged rows.
Result<StoredCatalog> read_catalog(TransactStore& store);

// Decodes a row of CatalogRow::kVersion; 0 if it is absent. Errors: kCorruption.
Result<uint64_t> read_version(const std::optional<std::string>& row);

}  // namespace stator
