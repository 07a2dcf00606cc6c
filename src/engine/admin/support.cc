// SPDX-License-Identifier: Apache-2.0
#include "engine/admin/support.h"

#include <algorithm>
#include <vector>

#include "engine/catalog/records.h"
#include "engine/core/arns.h"
#include "engine/errors/admin_messages.h"
#include "engine/errors/messages.h"

namespace stator::admin {
Result<TablePtr> find_resource(const JobEngine& engine, std::string_view table) {
  STATOR_ASSIGN_OR_RETURN(const auto snapshot, engine.catalog->newest_snapshot());
  const TablePtr* found = snapshot->find(table);
  if (found == nullptr) return fail(Code::kResourceNotFound, messages::table_not_found(table));
  return *found;
}

Result<TablePtr> find_table_named(const JobEngine& engine, std::string_view table) {
  STATOR_ASSIGN_OR_RETURN(const auto snapshot, engine.catalog->newest_snapshot());
  const TablePtr* found = snapshot->find(table);
  if (found == nullptr) return fail(Code::kTableNotFound, messages::no_such_table(table));
  return *found;
}

std::string time_text(int64_t unix_ms) {
  return stream_label(unix_ms).substr(0, std::string_view("2026-10-09T00:41:50").size()) + "Z";
}

int64_t earliest_restorable_ms(const TableDefinition& table, int64_t now_ms) {
  return std::max(table.recovery_since_ms, now_ms - table.recovery_ms);
}

Result<Item> settings_of(const JobEngine& engine, const Table& table) {
  return Records(*engine.store).get(settings_key(table.definition().space));
}

Result<void> change_settings(const JobEngine& engine, const Table& table, Records::Change change) {
  return Records(*engine.store).change_settings(table, change);
}

}  // namespace stator::admin
