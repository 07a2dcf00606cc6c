// SPDX-License-Identifier: Apache-2.0
// Changes of the catalog that go with a record: spaces of backups, tables that are being
// restored.
#include <algorithm>
#include <array>

#include "api/admin/document.h"

#include "engine/catalog/catalog.h"
#include "engine/catalog/catalog_change.h"
#include "engine/catalog/catalog_codec.h"
#include "engine/catalog/catalog_rows.h"
#include "engine/catalog/catalog_spaces.h"
#include "engine/catalog/records.h"
#include "engine/errors/messages.h"

namespace stator {

namespace {

// A record that must be there: the catalog's version says so, or a lease.
Result<Item> record_in(const std::optional<std::string>& row) {
  if (!row || !validate_item(*row)) {
    return fail(Code::kCorruption, "the record of a backup or a restored table is damaged");
  }
  return decode_item(ItemView(*row));
}

}  // namespace

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
  const std::array<std::string, 1> keys = {catalog_row_key(CatalogRow::kNextSpace)};
  return commit_change(store_, keys, [&](GuardedRows rows, Batch& batch) -> Result<SpaceId> {
    Spaces spaces(rows[0]);
    const SpaceId space = spaces.take();
    STATOR_RETURN_IF_ERROR(spaces.save(batch));
    batch.put(record_key, encode_item(record(space)));
    return space;
  });
}

Result<SpaceId> Catalog::exchange_space(const std::string& record_key, JobLease& lease) {
  const std::array<std::string, 2> keys = {record_key, catalog_row_key(CatalogRow::kNextSpace)};
  struct Exchanged {
    SpaceId before = 0;
    SpaceId after = 0;
  };
  const auto exchange = [&](GuardedRows rows, Batch& batch) -> Result<Exchanged> {
    STATOR_ASSIGN_OR_RETURN(Item record, record_in(rows[0]));
    Spaces spaces(rows[1]);
    const Exchanged exchanged{.before = static_cast<SpaceId>(integer_of(record, "Space")),
                              .after = spaces.take()};
    STATOR_RETURN_IF_ERROR(spaces.save(batch));
    record["Space"] = exchanged.after;
    batch.put(record_key, encode_item(record));
    batch.put(catalog_row_key(CatalogRow::kDropped, exchanged.before), "");
    return exchanged;
  };
  STATOR_ASSIGN_OR_RETURN(const Exchanged exchanged, lease.commit(keys, exchange));
  erase_later(exchanged.before);
  return exchanged.after;
}

Result<void> Catalog::release_space(const std::string& record_key, JobLease* lease) {
  const std::array<std::string, 1> keys = {record_key};
  const auto release = [&](GuardedRows rows, Batch& batch) -> Result<SpaceId> {
    if (!rows[0]) return SpaceId{0};
    STATOR_ASSIGN_OR_RETURN(const Item record, record_in(rows[0]));
    const auto space = static_cast<SpaceId>(integer_of(record, "Space"));
    batch.erase(record_key);
    batch.put(catalog_row_key(CatalogRow::kDropped, space), "");
    if (lease != nullptr) lease->end_in(batch);
    return space;
  };
  STATOR_ASSIGN_OR_RETURN(const SpaceId space, lease != nullptr
                                                   ? lease->commit(keys, release)
                                                   : commit_change(store_, keys, release));
  if (space != 0) erase_later(space);
  return {};
}

Result<TablePtr> Catalog::begin_restore(TableDefinition definition, Item record,
                                        std::optional<NamedRecord> import) {
  return on_current([&] { return begin_restore_once(definition, record, import); });
}

Result<TablePtr> Catalog::begin_restore_once(const TableDefinition& wanted, const Item& record,
                                             const std::optional<NamedRecord>& import) {
  const std::string& name = wanted.settings.table;
  CatalogSnapshot next = *snapshot();
  if (next.tables.contains(name)) {
    return fail(Code::kTableAlreadyExists, messages::table_exists(name));
  }
  if (next.restoring.contains(name)) {
    return fail(Code::kTableInUse, messages::table_being_created(name));
  }
  const auto plan = [&](GuardedRows rows, Batch& batch) -> Result<TableDefinition> {
    Spaces spaces(rows[0]);
    TableDefinition definition = wanted;
    const CreateTableRequest& settings = definition.settings;
    const auto count = [](const auto& indexes) { return indexes ? indexes->size() : 0; };
    definition.space = spaces.take();
    definition.local_spaces = spaces.take(count(settings.local_indexes));
    definition.global_spaces = spaces.take(count(settings.global_indexes));
    STATOR_RETURN_IF_ERROR(spaces.save(batch));
    STATOR_RETURN_IF_ERROR(Table::make(definition, secret_));  // it can be used
    Item kept = record;
    kept["Definition"] = Binary{encode_table(definition)};
    batch.put(record_key(RecordKind::kRestore, name), encode_item(kept));
    if (import) batch.put(import->key, encode_item(import->record));
    batch.put_schema_version(version_key(definition.space), next.version + 1);
    return definition;
  };
  STATOR_ASSIGN_OR_RETURN(
      TableDefinition definition,
      commit_catalog(store_, next.version, {catalog_row_key(CatalogRow::kNextSpace)}, plan));
  STATOR_ASSIGN_OR_RETURN(TablePtr table,
                          make_table(std::move(definition), next.version + 1, nullptr));
  next.restoring.emplace(name, table);
  publish_change(std::move(next));
  return table;
}

Result<void> Catalog::finish_restore(const std::string& name, JobLease* lease) {
  return on_current([&] { return finish_restore_once(name, lease); });
}

Result<void> Catalog::finish_restore_once(const std::string& name, JobLease* lease) {
  CatalogSnapshot next = *snapshot();
  const auto found = next.restoring.find(name);
  if (found == next.restoring.end()) return {};
  const std::string key = record_key(RecordKind::kRestore, name);
  const auto plan = [&](GuardedRows rows, Batch& batch) -> Result<std::optional<HeldHistory>> {
    STATOR_ASSIGN_OR_RETURN(const Item record, record_in(rows[0]));
    STATOR_ASSIGN_OR_RETURN(const TableDefinition definition, table_in(record));
    batch.put(catalog_row_key(CatalogRow::kTable, name), encode_table(definition));
    batch.erase(key);
    if (lease != nullptr && !record.contains("Import")) lease->end_in(batch);
    return history_of(record);
  };
  STATOR_ASSIGN_OR_RETURN(const auto history,
                          commit_catalog(store_, next.version, {key}, plan, lease));
  if (history) release(*history);
  const TablePtr table = found->second;
  table->count_state()->is_needed = true;
  next.restoring.erase(found);
  next.tables.emplace(name, table);
  publish_change(std::move(next));
  return {};
}

Result<void> Catalog::cancel_restore(const std::string& name, JobLease* lease) {
  return on_current([&] { return cancel_restore_once(name, lease); });
}

Result<void> Catalog::cancel_restore_once(const std::string& name, JobLease* lease) {
  CatalogSnapshot next = *snapshot();
  const auto found = next.restoring.find(name);
  if (found == next.restoring.end()) return {};
  struct Cancelled {
    std::vector<SpaceId> spaces;
    std::optional<HeldHistory> history;
  };
  const std::string key = record_key(RecordKind::kRestore, name);
  const auto plan = [&](GuardedRows rows, Batch& batch) -> Result<Cancelled> {
    STATOR_ASSIGN_OR_RETURN(const Item record, record_in(rows[0]));
    STATOR_ASSIGN_OR_RETURN(const TableDefinition definition, table_in(record));
    batch.erase(key);
    if (lease != nullptr) lease->end_in(batch);
    batch.put_schema_version(version_key(definition.space), 0);
    Cancelled cancelled{.spaces = definition.all_spaces(), .history = history_of(record)};
    for (const SpaceId space : cancelled.spaces) {
      batch.put(catalog_row_key(CatalogRow::kDropped, space), "");
    }
    return cancelled;
  };
  STATOR_ASSIGN_OR_RETURN(const Cancelled cancelled,
                          commit_catalog(store_, next.version, {key}, plan, lease));
  if (cancelled.history) release(*cancelled.history);
  next.restoring.erase(found);
  publish_change(std::move(next));
  erase_later(cancelled.spaces);
  return {};
}

}  // namespace stator
