// SPDX-License-Identifier: Apache-2.0
// Table definitions as bytes. docs/formats/catalogue.md.
#pragma once

#include <string>
#include <string_view>

#include "engine/table.h"

namespace stator {

std::string encode_table(const TableDefinition& definition);
// kCorruption for bytes that are no definition, or one of a version that is not known here.
Result<TableDefinition> decode_table(std::string_view bytes);

}  // namespace stator
