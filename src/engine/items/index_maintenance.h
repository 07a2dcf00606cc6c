// SPDX-License-Identifier: Apache-2.0
// What a change of an item means for its entries in the table's indexes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/catalog/table.h"
#include "storage/transact_store.h"

namespace stator {

struct IndexChange {
  std::size_t index = 0;  // in Table::indexes(); behind them, in Table::vector_indexes()
  std::optional<std::string> erased_key = {};  // the old entry, where it goes or moves
  std::optional<std::string> put_key = {};
  std::string entry = {};   // at put_key: an item, or a VectorRow's value
  int64_t entry_bytes = 0;  // as the index's size counts the entry
  double write_units = 0;
  double vector_bytes = 0;  // of a vector index, instead of units
  int64_t items_delta = 0;
  int64_t bytes_delta = 0;
};

// Changes of the entries when an item goes from `before` to `after`, each absent where there is no
// such item. Indexes whose view of the item stays the same are not mentioned.
// A moved entry costs the erasure and the put; a changed one its larger image. That of a vector
// index costs the bytes that it has, or had, and at least 1 KB.
std::vector<IndexChange> index_changes(const Table& table, const std::optional<ItemView>& before,
                                       const std::optional<ItemView>& after);

void apply_index_changes(const std::vector<IndexChange>& changes, Batch& batch);

}  // namespace stator
