// SPDX-License-Identifier: Apache-2.0
// Shared parts of the commands on any table: finding and describing tables, keys and indexes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cli/endpoint.h"
#include "stator/client.h"

namespace stator::cli {

// Runs `action` with the description of an existing table; its result is the exit status.
int with_table(const EndpointFlags& where, const std::string& table,
               const std::function<int(Client&, const TableDescription&)>& action);

// Calls `visit` with the name of each table.
Result<void> for_each_table(Client& client, const std::function<void(const std::string&)>& visit);

// The key of an index, or of the table if `index` is empty.
// Errors: kInvalidArgument if the index does not exist.
Result<KeySchema> key_schema_of(const TableDescription& table, const std::string& index);

// "12.3 MB".
std::string size_text(int64_t bytes);
// The attributes of an item that the schema names.
Item key_of(const KeySchema& schema, const Item& item);

// Lines about a table's keys, size, indexes and settings, for people.
std::string table_text(const TableDescription& table);

}  // namespace stator::cli
