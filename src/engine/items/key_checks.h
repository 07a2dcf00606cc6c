// SPDX-License-Identifier: Apache-2.0
// Checks the key attributes of requests and items, of the table and of its indexes: they are
// present, of the declared type, not empty and not too long. Also checks the vectors of vector
// indexes. item_limits.h has the limits of items.
//
// Errors: kValidation with DynamoDB's message.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/catalog/table.h"
#include "expression/expression.h"

namespace stator {

// Checks the key of a request, which has exactly the key attributes of the table.
Result<void> check_key(const KeyShape& table, const Item& key);
// Checks an item to put: the table's key attributes, and those key attributes of indexes that the
// item has.
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
// Checks the index keys and vectors that an update has changed. `before` is absent if the item is
// new.
Result<void> check_updated_index_keys(const Table& table, const std::optional<ItemView>& before,
                                      ItemView item);

}  // namespace stator
