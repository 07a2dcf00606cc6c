// SPDX-License-Identifier: Apache-2.0
// Definitions of tables and of change logs as bytes. docs/formats/catalog.md.
#pragma once

#include <string>
#include <string_view>

#include "engine/catalog/table.h"
#include "engine/change_log/change_log.h"

namespace stator {

std::string encode_table(const TableDefinition& definition);
// kCorruption for bytes that are no definition, or one of a version that is not known here.
Result<TableDefinition> decode_table(std::string_view bytes);
// The member Definition of a record; kCorruption as above, or where there is none.
Result<TableDefinition> table_in(const Item& record);

std::string encode_log(const LogDefinition& log);
Result<LogDefinition> decode_log(std::string_view bytes);  // fails as decode_table

}  // namespace stator
