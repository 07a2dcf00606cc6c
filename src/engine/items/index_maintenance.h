// SPDX-License-Identifier: Apache-2.0
// Computes the changes of index entries that follow from a change of an item.
// key_checks.h has the checks of index keys, which run before.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/catalog/table.h"
#include "storage/transact_store.h"

namespace stator {

struct IndexChange {
  std::size_t index = 0;  // position in Table::indexes(), then in Table::vector_indexes()
  std::optional<std::string> erased_key = {};  // the old entry, if it is deleted or moves
  std::optional<std::string> put_key = {};
  std::string entry = {};   // at put_key: an item, or a VectorRow's value
  int64_t entry_bytes = 0;  // as the index's size counts the entry
  double write_units = 0;
  double vector_bytes = 0;  // of a vector index, instead of units
  int64_t items_delta = 0;
  int64_t bytes_delta = 0;
};

// Returns the changes of the entries when an item changes from `before` to `after`; absent: no
// item. Indexes whose entry does not change are omitted.
// Capacity: a moved entry costs the deletion and the put, a changed one its larger image. An entry
// of a vector index costs its bytes (before a deletion, or after a put), at least 1 KB.
std::vector<IndexChange> index_changes(const Table& table, const std::optional<ItemView>& before,
                                       const std::optional<ItemView>& after);

// Moves the keys and entries into the batch.
void apply_index_changes(std::vector<IndexChange>& changes, Batch& batch);

}  // namespace stator
