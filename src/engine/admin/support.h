// SPDX-License-Identifier: Apache-2.0
// What administrative operations share: tables by name and ARN, their settings.
#pragma once

#include <string>
#include <string_view>

#include "engine/admin/administration.h"
#include "engine/catalog/records.h"
#include "engine/jobs/job_engine.h"

namespace stator::admin {

// kResourceNotFound, kTableNotFound.
Result<TablePtr> find_resource(const JobEngine& engine, std::string_view table);
Result<TablePtr> find_table_named(const JobEngine& engine, std::string_view table);

// "2026-10-09T00:41:50Z"
std::string time_text(int64_t unix_ms);
// Since when a table's changes are kept, where they are.
int64_t earliest_restorable_ms(const TableDefinition& table, int64_t now_ms);

Result<Item> settings_of(const JobEngine& engine, const Table& table);
Result<void> change_settings(const JobEngine& engine, const Table& table, Records::Change change);

}  // namespace stator::admin
