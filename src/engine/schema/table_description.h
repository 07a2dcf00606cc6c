// SPDX-License-Identifier: Apache-2.0
// The description of a table, as DescribeTable returns it.
#pragma once

#include "engine/core/engine_core.h"

namespace stator {

// With the status UPDATING during the backfill of an index, otherwise ACTIVE.
TableDescription describe(const EngineCore& engine, const Table& table);
// With this status for the table and its global indexes, for a table that is being created or
// deleted.
TableDescription describe(const EngineCore& engine, const Table& table, TableStatus status);

}  // namespace stator
