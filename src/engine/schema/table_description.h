// SPDX-License-Identifier: Apache-2.0
// What DescribeTable says of a table.
#pragma once

#include "engine/core/engine_core.h"

namespace stator {

// UPDATING while an index is being built, ACTIVE otherwise.
TableDescription describe(const EngineCore& engine, const Table& table);
// With that status, of its global indexes too: a table that is being created or deleted.
TableDescription describe(const EngineCore& engine, const Table& table, TableStatus status);

}  // namespace stator
