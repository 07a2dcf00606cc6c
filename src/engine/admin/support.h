// SPDX-License-Identifier: Apache-2.0
// What administrative operations share: tables by name and ARN, their settings.
#pragma once

#include <string>
#include <string_view>

#include "engine/admin/administration.h"
#include "engine/engine_impl.h"
#include "engine/catalog/records.h"

namespace stator::admin {

// kResourceNotFound, kTableNotFound.
Result<TablePtr> find_resource(const Engine::Impl& engine, std::string_view table);
Result<TablePtr> find_table_named(const Engine::Impl& engine, std::string_view table);

// What a table's ARN names: the table and what follows its name ("/stream/…"), if that is allowed.
// kValidation, kAccessDenied, as the service answers ARNs that are none or another's.
struct ArnParts {
  std::string table;
  std::string rest;
};
Result<ArnParts> parse_table_arn(const Engine::Impl& engine, const std::string& arn);

// "2026-10-09T00:41:50Z"
std::string time_text(int64_t unix_ms);
// Since when a table's changes are kept, where they are.
int64_t earliest_restorable_ms(const TableDefinition& table, int64_t now_ms);

// A resource policy's text, of any table.
Result<void> check_policy(const std::string& policy);
// "01489602797149-73d8d5bc": in the order of their creation, those of one millisecond too.
std::string new_job_id(Engine::Impl& engine);

Result<Item> settings_of(const Engine::Impl& engine, const Table& table);
Result<void> change_settings(const Engine::Impl& engine, const Table& table,
                             Records::Change change);

}  // namespace stator::admin
