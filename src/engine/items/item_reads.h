// SPDX-License-Identifier: Apache-2.0
// Reading one item: what GetItem, BatchGetItem and TransactGetItems have in common.
#pragma once

#include <optional>
#include <string>

#include "engine/catalog/table.h"
#include "expression/expression.h"

namespace stator {

struct FoundItem {
  std::optional<EncodedItem> item;
  std::size_t bytes = 0;  // of the whole item where asked for, 0 where it is absent
};

// Reads through `source`: a Store or a ReadView. The key has been checked.
template <class Source>
Result<FoundItem> read_item(Source& source, const Table& table, const Item& key,
                            const std::optional<ProjectionExpression>& projection,
                            bool wants_size) {
  FoundItem found;
  const std::string row_key = item_row_key(table.secret(), table.key(), key);
  STATOR_CHECK_OK(source.get(row_key, [&](std::string_view value) {
    const ItemView item(value);
    if (!has_partition(item, table.key(), key)) return;
    if (wants_size) found.bytes = item_size_bytes(item);
    found.item = projection ? projection->apply(item) : EncodedItem(value);
  }));
  return found;
}

}  // namespace stator
