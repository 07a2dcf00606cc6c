// SPDX-License-Identifier: Apache-2.0
// Encodes and decodes definitions of tables and change logs. docs/formats/catalog.md.
#pragma once

#include <string>
#include <string_view>

#include "engine/catalog/table.h"
#include "engine/change_log/change_log.h"

namespace stator {

std::string encode_table(const TableDefinition& definition);
// Errors: kCorruption for malformed bytes and unknown members.
Result<TableDefinition> decode_table(std::string_view bytes);
// Decodes the member Definition of a record. Errors: as above, also if the member is absent.
Result<TableDefinition> table_in(const Item& record);

std::string encode_log(const LogDefinition& log);
Result<LogDefinition> decode_log(std::string_view bytes);  // errors as decode_table()

}  // namespace stator
