// SPDX-License-Identifier: Apache-2.0
// Checks keys and items against a table: key attributes are present, of the declared type, not
// empty and not too long; updated items have at most 400 KB and 31 levels.
//
// Errors: kValidation with DynamoDB's message.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/catalog/table.h"
#include "expression/expression.h"

namespace stator {

inline constexpr std::size_t kItemBytesMax = 400UL * 1024;
inline constexpr int kNestingMax = 31;  // lists and maps around a value

// Checks the key of a request, which has exactly the key attributes of the table.
Result<void> check_key(const KeyShape& table, const Item& key);
// Checks an item to put: the table's key attributes, and those key attributes of indexes that the
// item has. The size of the item is not checked here.
Result<void> check_item(const Table& table, const Item& item);
// Checks values that an update assigns to key attributes of indexes, if they do not depend on the
// stored item (`SET a = :v`).
Result<void> check_assigned_index_keys(const Table& table, const Update& update);
// Reject empty values of key attributes only. A transaction with such a value is invalid as a
// whole, so these run before any of its actions is evaluated.
Result<void> check_no_empty_key(const KeyShape& table, const Item& item);
Result<void> check_no_empty_index_key(const Table& table, const Item& item);
Result<void> check_no_empty_index_key(const Table& table, const Update& update);
// Rejects document paths that lead into key attributes of the table or an index, because these are
// scalars. `opened`: the first names of such paths in the request's expressions.
Result<void> check_keys_unopened(const Table& table, const std::vector<std::string>& opened);
// Checks the result of an update: size, nesting and changed index keys. Skips the table's key,
// which an update cannot change. `before` is absent if the item is new; `size_bytes` is the size of
// `item` as DynamoDB counts it.
Result<void> check_updated_item(const Table& table, const std::optional<ItemView>& before,
                                ItemView item, std::size_t size_bytes);

}  // namespace stator
