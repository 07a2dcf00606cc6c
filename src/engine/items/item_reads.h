// SPDX-License-Identifier: Apache-2.0
// Reading one item: what GetItem, BatchGetItem and TransactGetItems have in common.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/current_tables.h"
#include "expression/expression.h"

namespace stator {

struct FoundItem {
  std::optional<EncodedItem> item;
  std::size_t bytes = 0;  // of the whole item where asked for, 0 where it is absent
};

// Shows the item of a key that `value`, its row, holds.
inline void show_row(std::string_view value, const Table& table, const Item& key,
                     const std::optional<ProjectionExpression>& projection, bool wants_size,
                     FoundItem& found) {
  const ItemView item(value);
  if (!has_partition(item, table.key(), key)) return;
  if (wants_size) found.bytes = item_size_bytes(item);
  found.item = projection ? projection->apply(item) : EncodedItem(value);
}

// The key has been checked. kBehind: see read_tables().
inline Result<FoundItem> read_item(const EngineCore& engine, const Table& table, const Item& key,
                                   const std::optional<ProjectionExpression>& projection,
                                   bool wants_size) {
  FoundItem found;
  const std::string row_key = item_row_key(table.secret(), table.key(), key);
  const Table* const of[] = {&table};
  STATOR_RETURN_IF_ERROR(read_tables(engine, of, {.keys = {&row_key, 1}},
                                     [&](std::size_t, std::string_view, std::string_view value) {
                                       show_row(value, table, key, projection, wants_size, found);
                                       return true;
                                     }));
  return found;
}

// Reads rows of items in one state. Bounded by their number: a row has the size of an item.
// kBehind: see read_tables().
inline Result<std::vector<std::optional<std::string>>> read_together(
    const EngineCore& engine, TablesRead tables, std::span<const std::string> row_keys) {
  std::vector<std::optional<std::string>> rows(row_keys.size());
  STATOR_RETURN_IF_ERROR(
      read_tables(engine, tables, {.keys = row_keys, .one_state = true},
                  [&](std::size_t part, std::string_view, std::string_view value) {
                    rows[part] = value;
                    return true;
                  }));
  return rows;
}

}  // namespace stator
