// SPDX-License-Identifier: Apache-2.0
// Common parts of administrative operations: tables by name and ARN, and their settings.
#pragma once

#include <string>
#include <string_view>

#include "engine/admin/administration.h"
#include "engine/catalog/records.h"
#include "engine/jobs/job_engine.h"

namespace stator::admin {

// Both find a table by its name or ARN. Errors: kResourceNotFound, and kTableNotFound respectively.
Result<TablePtr> find_resource(const JobEngine& engine, std::string_view table);
Result<TablePtr> find_table_named(const JobEngine& engine, std::string_view table);

// "2026-10-09T00:41:50Z"
std::string time_text(int64_t unix_ms);
// The earliest time to which a table with point-in-time recovery can be restored.
int64_t earliest_restorable_ms(const TableDefinition& table, int64_t now_ms);

Result<Item> settings_of(const JobEngine& engine, const Table& table);
Result<void> change_settings(const JobEngine& engine, const Table& table, Records::Change change);

}  // namespace stator::admin
