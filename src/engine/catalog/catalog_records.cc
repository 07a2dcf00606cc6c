// SPDX-License-Identifier: Apache-2.0
// Changes of the catalog that go with a record: spaces of backups, tables that are being
// restored.
#include <algorithm>
#include <array>

#include "api/admin/document.h"

#include "engine/catalog/catalog.h"
#include "engine/catalog/catalog_codec.h"
#include "engine/catalog/catalog_commit.h"
#include "engine/catalog/catalog_rows.h"
#include "engine/catalog/catalog_spaces.h"
#include "engine/catalog/records.h"
#include "engine/errors/messages.h"

namespace stator {

std::optional<HeldHistory> history_of(const Item& record) {
  if (!record.contains("Log")) return std::nullopt;
  return HeldHistory{.space = static_cast<SpaceId>(integer_of(record, "From")),
                     .log = static_cast<SpaceId>(integer_of(record, "Log")),
                     .commit_version = static_cast<uint64_t>(integer_of(record, "Stamp"))};
}

void Catalog::hold(const HeldHistory& history) {
  const std::lock_guard lock(held_mutex_);
  held_.insert(history);
}

void Catalog::release(const HeldHistory& history) {
  {
    const std::lock_guard lock(held_mutex_);
    if (const auto found = held_.find(history); found != held_.end()) held_.erase(found);
  }
  const SpaceId space = history.space;
  if (is_held(space)) return;
  // The table may have been dropped in the meantime.
  jobs_.add("release of space " + std::to_string(space), [this, space]() -> Result<void> {
    STATOR_ASSIGN_OR_RETURN(
        const bool dropped,
        read_value(store_, catalog_row_key(CatalogRow::kDropped, space), [](std::string_view) {}));
    if (!dropped) return {};
    return erase_rows(space);
  });
}

bool Catalog::is_held(SpaceId space_or_log) const {
  const std::lock_guard lock(held_mutex_);
  return std::ranges::any_of(held_, [&](const HeldHistory& history) {
    return history.space == space_or_log || history.log == space_or_log;
  });
}

uint64_t Catalog::held_from(SpaceId log) const {
  const std::lock_guard lock(held_mutex_);
  uint64_t from = UINT64_MAX;
  for (const HeldHistory& history : held_) {
    if (history.log == log) from = std::min(from, history.commit_version);
  }
  return from;
}

Result<SpaceId> Catalog::take_space(const std::string& record_key,
                                    FunctionRef<Item(SpaceId)> record) {
  const std::lock_guard lock(changes_);
  const std::array<std::string, 1> keys = {catalog_row_key(CatalogRow::kNextSpace)};
  return commit_change(store_, keys, [&](GuardedRows rows, Batch& batch) -> Result<SpaceId> {
    Spaces spaces(rows[0]);
    const SpaceId space = spaces.take();
    STATOR_RETURN_IF_ERROR(spaces.save(batch));
    batch.put(record_key, encode_item(record(space)));
    return space;
  });
}

Result<void> Catalog::release_space(const std::string& record_key, SpaceId space) {
  Batch batch;
  batch.erase(record_key);
  batch.put(catalog_row_key(CatalogRow::kDropped, space), "");
  STATOR_RETURN_IF_ERROR(write_or_fail(store_, std::move(batch)));
  erase_later(space);
  return {};
}

Result<TablePtr> Catalog::begin_restore(TableDefinition definition, Item record) {
  const std::lock_guard lock(changes_);
  const std::string name = definition.settings.table;
  CatalogSnapshot next = *snapshot();
  if (next.tables.contains(name)) {
    return fail(Code::kTableAlreadyExists, messages::table_exists(name));
  }
  if (next.restoring.contains(name)) {
    return fail(Code::kTableInUse, messages::table_being_created(name));
  }
  const std::array<std::string, 1> keys = {catalog_row_key(CatalogRow::kNextSpace)};
  const auto change = [&](GuardedRows rows, Batch& batch) -> Result<TablePtr> {
    Spaces spaces(rows[0]);
    const CreateTableRequest& settings = definition.settings;
    const auto count = [](const auto& indexes) { return indexes ? indexes->size() : 0; };
    definition.space = spaces.take();
    definition.local_spaces = spaces.take(count(settings.local_indexes));
    definition.global_spaces = spaces.take(count(settings.global_indexes));
    STATOR_RETURN_IF_ERROR(spaces.save(batch));
    STATOR_ASSIGN_OR_RETURN(TablePtr made, Table::make(definition, secret_));
    record["Definition"] = Binary{encode_table(definition)};
    batch.put(record_key(RecordKind::kRestore, name), encode_item(record));
    return made;
  };
  STATOR_ASSIGN_OR_RETURN(TablePtr table, commit_change(store_, keys, change));
  next.restoring.emplace(name, table);
  publish(std::move(next));
  return table;
}

Result<void> Catalog::load_record(std::string_view rest, std::string_view value,
                                  CatalogSnapshot& loaded) {
  const auto is_of = [&](RecordKind kind) {
    return rest.starts_with(record_key(kind, {}).substr(kPartitionBytes));
  };
  if (is_of(RecordKind::kSettings)) return {};
  const Item kept = decode_item(ItemView(value));
  if (const auto history = history_of(kept)) hold(*history);
  if (!is_of(RecordKind::kRestore)) return {};
  STATOR_ASSIGN_OR_RETURN(TableDefinition decoded, table_in(kept));
  STATOR_ASSIGN_OR_RETURN(TablePtr table, Table::make(std::move(decoded), secret_));
  loaded.restoring.emplace(table->name(), std::move(table));
  return {};
}

Result<void> Catalog::finish_restore(const std::string& name) {
  const std::lock_guard lock(changes_);
  CatalogSnapshot next = *snapshot();
  const auto found = next.restoring.find(name);
  if (found == next.restoring.end()) return {};
  const TablePtr table = found->second;
  STATOR_ASSIGN_OR_RETURN(const Item record,
                          Records(store_).get(record_key(RecordKind::kRestore, name)));
  Batch batch;
  batch.put(catalog_row_key(CatalogRow::kTable, name), encode_table(table->definition()));
  batch.erase(record_key(RecordKind::kRestore, name));
  STATOR_RETURN_IF_ERROR(write_or_fail(store_, std::move(batch)));
  if (const auto history = history_of(record)) release(*history);
  table->count_state()->is_needed = true;
  next.restoring.erase(found);
  next.tables.emplace(name, table);
  publish(std::move(next));
  return {};
}

Result<void> Catalog::cancel_restore(const std::string& name) {
  const std::lock_guard lock(changes_);
  CatalogSnapshot next = *snapshot();
  const auto found = next.restoring.find(name);
  if (found == next.restoring.end()) return {};
  const std::vector<SpaceId> spaces = found->second->all_spaces();
  STATOR_ASSIGN_OR_RETURN(const Item record,
                          Records(store_).get(record_key(RecordKind::kRestore, name)));
  Batch batch;
  batch.erase(record_key(RecordKind::kRestore, name));
  for (const SpaceId space : spaces) {
    batch.put(catalog_row_key(CatalogRow::kDropped, space), "");
  }
  STATOR_RETURN_IF_ERROR(write_or_fail(store_, std::move(batch)));
  if (const auto history = history_of(record)) release(*history);
  next.restoring.erase(found);
  publish(std::move(next));
  erase_later(spaces);
  return {};
}

}  // namespace stator
