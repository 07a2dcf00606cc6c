// SPDX-License-Identifier: Apache-2.0
// What a table demands of keys and items: presence, types and lengths of key attributes, item size.
//
// Errors: kValidation with the service's text.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/catalog/table.h"
#include "expression/expression.h"

namespace stator {

inline constexpr std::size_t kItemBytesMax = 400UL * 1024;
inline constexpr int kNestingMax = 31;  // lists and maps around a value

// A key given alone: exactly the table's key attributes.
Result<void> check_key(const KeyShape& table, const Item& key);
// The key attributes of an item to put, and those of every index.
Result<void> check_item(const Table& table, const Item& item);
// The values that an update gives key attributes of indexes whatever the item.
Result<void> check_assigned_index_keys(const Table& table, const Update& update);
// An empty value for a key attribute, which transactions refuse as a whole.
Result<void> check_no_empty_key(const KeyShape& table, const Item& item);
Result<void> check_no_empty_index_key(const Table& table, const Item& item);
Result<void> check_no_empty_index_key(const Table& table, const Update& update);
// Key attributes of the table and its indexes are scalars: no expression can look into them.
Result<void> check_keys_unopened(const Table& table, const std::vector<std::string>& opened);
// The item that an update made: size, depth, index keys. The table's key has not changed; index
// keys that have not are left as they are.
Result<void> check_updated_item(const Table& table, const std::optional<ItemView>& before,
                                ItemView item, std::size_t size_bytes);

}  // namespace stator
