// SPDX-License-Identifier: Apache-2.0
// Catalog changes that include a record: spaces of backups, and tables that are being restored.
#include <algorithm>
#include <array>

#include "api/admin/document.h"
#include "engine/catalog/catalog.h"
#include "engine/catalog/catalog_change.h"
#include "engine/catalog/catalog_codec.h"
#include "engine/catalog/catalog_rows.h"
#include "engine/catalog/catalog_spaces.h"
#include "engine/catalog/records.h"
#include "engine/errors/admin_messages.h"
#include "engine/errors/messages.h"

namespace stator {

namespace {

// A record that must exist because of the catalog's version or a lease.
Result<Item> present_record(const std::optional<std::string>& row) {
  STATOR_ASSIGN_OR_RETURN(Item record, record_in(row));
  if (record.empty()) {
    return fail(Code::kCorruption, "a backup or a table that is being restored has no record");
  }
  return record;
}

Result<void> change_in(Batch& batch, const RecordChange& change,
                       const std::optional<std::string>& row) {
  STATOR_ASSIGN_OR_RETURN(Item record, record_in(row));
  if (record.empty()) return {};
  STATOR_RETURN_IF_ERROR(change.change(record));
  put_record(batch, change.key, record);
  return {};
}

}  // namespace

Result<SpaceId> Catalog::take_space(const std::string& record_key,
                                    FunctionRef<Item(SpaceId)> record) {
  const std::array<std::string, 1> keys = {catalog_row_key(CatalogRow::kNextSpace)};
  return commit_change(store_, keys, [&](GuardedRows rows, Batch& batch) -> Result<SpaceId> {
    Spaces spaces(rows[0]);
    const SpaceId space = spaces.take();
    STATOR_RETURN_IF_ERROR(spaces.save(batch));
    put_record(batch, record_key, record(space));
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
    STATOR_ASSIGN_OR_RETURN(Item record, present_record(rows[0]));
    Spaces spaces(rows[1]);
    const Exchanged exchanged{.before = static_cast<SpaceId>(integer_of(record, "Space")),
                              .after = spaces.take()};
    STATOR_RETURN_IF_ERROR(spaces.save(batch));
    record["Space"] = exchanged.after;
    put_record(batch, record_key, record);
    batch.put(catalog_row_key(CatalogRow::kDropped, exchanged.before), "");
    return exchanged;
  };
  STATOR_ASSIGN_OR_RETURN(const Exchanged exchanged, lease.commit(keys, exchange));
  erase_later(exchanged.before);
  return exchanged.after;
}

Result<bool> Catalog::release_space(const std::string& record_key, JobLease* lease) {
  STATOR_ASSIGN_OR_RETURN(const Item known, Records(store_).get(record_key));
  if (known.empty()) return true;
  const auto space = static_cast<SpaceId>(integer_of(known, "Space"));
  const std::array<std::string, 2> keys = {record_key, pins_key(space)};
  const auto release = [&](GuardedRows rows, Batch& batch) -> Result<bool> {
    STATOR_ASSIGN_OR_RETURN(const Item record, record_in(rows[0]));
    if (record.empty()) return true;
    if (integer_of(record, "Space") != space) return fail(Code::kThrottling, messages::kTooBusy);
    STATOR_ASSIGN_OR_RETURN(const Pins pins, decode_pins(rows[1]));
    if (pins.is_pinned()) return false;
    batch.erase(record_key);
    batch.put(catalog_row_key(CatalogRow::kDropped, space), "");
    if (lease != nullptr) lease->end_in(batch);
    return true;
  };
  STATOR_ASSIGN_OR_RETURN(const bool is_released, commit_change_by(lease, store_, keys, release));
  if (is_released) erase_later(space);
  return is_released;
}

Result<TablePtr> Catalog::begin_restore(TableDefinition definition, Item record,
                                        const PinRequest* pin, std::optional<NamedRecord> import,
                                        Check check) {
  return on_current([&] { return begin_restore_once(definition, record, pin, import, check); });
}

Result<TablePtr> Catalog::begin_restore_once(const TableDefinition& wanted, const Item& record,
                                             const PinRequest* pin,
                                             const std::optional<NamedRecord>& import,
                                             Check check) {
  const std::string& name = wanted.settings.table;
  CatalogSnapshot next = *snapshot();
  STATOR_RETURN_IF_ERROR(check());
  if (next.tables.contains(name)) {
    return fail(Code::kTableAlreadyExists, messages::table_exists(name));
  }
  if (next.restoring.contains(name)) {
    return fail(Code::kTableInUse, messages::table_being_created(name));
  }
  const bool is_of_backup = pin != nullptr && !pin->backup_key.empty();
  if (pin != nullptr && !is_of_backup) STATOR_RETURN_IF_ERROR(check_source(*pin->source));
  const std::string key = record_key(RecordKind::kRestore, name);
  const RecordPins pins(key, pin != nullptr ? history_of(record) : std::nullopt);
  std::vector<std::string> keys = pins.keys();
  const std::size_t at = keys.size();
  keys.push_back(catalog_row_key(CatalogRow::kNextSpace));
  if (is_of_backup) keys.push_back(pin->backup_key);
  const auto plan = [&](GuardedRows rows, Batch& batch) -> Result<TableDefinition> {
    if (is_of_backup && !rows[at + 1]) {
      return fail(Code::kBackupNotFound, messages::backup_not_found(text_of(record, "Backup")));
    }
    if (pin != nullptr) STATOR_RETURN_IF_ERROR(pins.begin(rows, pin->oldest_ms, batch));
    Spaces spaces(rows[at]);
    TableDefinition definition = wanted;
    const CreateTableRequest& settings = definition.settings;
    const auto count = [](const auto& indexes) { return indexes ? indexes->size() : 0; };
    definition.space = spaces.take();
    definition.local_spaces = spaces.take(count(settings.local_indexes));
    definition.global_spaces = spaces.take(count(settings.global_indexes));
    definition.vector_spaces = spaces.take(count(settings.vector_indexes));
    STATOR_RETURN_IF_ERROR(spaces.save(batch));
    STATOR_RETURN_IF_ERROR(Table::make(definition, secret_));  // it can be used
    Item kept = record;
    kept["Definition"] = Binary{encode_table(definition)};
    put_record(batch, key, kept);
    if (import) put_record(batch, import->key, import->record);
    batch.put_schema_version(version_key(definition.space), next.version + 1);
    return definition;
  };
  STATOR_ASSIGN_OR_RETURN(TableDefinition definition,
                          commit_catalog(store_, next.version, std::move(keys), plan));
  STATOR_ASSIGN_OR_RETURN(TablePtr table,
                          make_table(std::move(definition), next.version + 1, nullptr));
  next.restoring.emplace(name, table);
  publish_change(std::move(next));
  return table;
}

Result<void> Catalog::finish_restore(const std::string& name, JobLease* lease,
                                     const RecordChange* import) {
  return on_current([&] { return finish_restore_once(name, lease, import); });
}

Result<void> Catalog::finish_restore_once(const std::string& name, JobLease* lease,
                                          const RecordChange* import) {
  CatalogSnapshot next = *snapshot();
  const auto found = next.restoring.find(name);
  if (found == next.restoring.end()) return {};
  const std::string key = record_key(RecordKind::kRestore, name);
  STATOR_ASSIGN_OR_RETURN(const RecordPins pins, RecordPins::of(store_, key));
  std::vector<std::string> keys = pins.keys();
  const std::size_t at = keys.size();
  keys.push_back(key);
  if (import != nullptr) keys.push_back(import->key);
  const auto plan = [&](GuardedRows rows, Batch& batch) -> Result<void> {
    STATOR_ASSIGN_OR_RETURN(const Item record, present_record(rows[at]));
    STATOR_ASSIGN_OR_RETURN(const TableDefinition definition, table_in(record));
    batch.put(catalog_row_key(CatalogRow::kTable, name), encode_table(definition));
    batch.erase(key);
    if (import != nullptr) STATOR_RETURN_IF_ERROR(change_in(batch, *import, rows[at + 1]));
    if (lease != nullptr) lease->end_in(batch);
    return pins.change(rows, std::nullopt, batch);
  };
  STATOR_RETURN_IF_ERROR(commit_catalog(store_, next.version, std::move(keys), plan, lease));
  if (pins.history()) erase_if_dropped(pins.history()->space);
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
  const std::string key = record_key(RecordKind::kRestore, name);
  STATOR_ASSIGN_OR_RETURN(const RecordPins pins, RecordPins::of(store_, key));
  std::vector<std::string> keys = pins.keys();
  keys.push_back(key);
  const auto plan = [&](GuardedRows rows, Batch& batch) -> Result<std::vector<SpaceId>> {
    STATOR_ASSIGN_OR_RETURN(const Item record, present_record(rows.back()));
    STATOR_ASSIGN_OR_RETURN(const TableDefinition definition, table_in(record));
    batch.erase(key);
    if (lease != nullptr) lease->end_in(batch);
    batch.put_schema_version(version_key(definition.space), 0);
    STATOR_RETURN_IF_ERROR(pins.change(rows, std::nullopt, batch));
    std::vector<SpaceId> dropped = definition.all_spaces();
    for (const SpaceId space : dropped) batch.put(catalog_row_key(CatalogRow::kDropped, space), "");
    return dropped;
  };
  STATOR_ASSIGN_OR_RETURN(const std::vector<SpaceId> dropped,
                          commit_catalog(store_, next.version, std::move(keys), plan, lease));
  if (pins.history()) erase_if_dropped(pins.history()->space);
  next.restoring.erase(found);
  publish_change(std::move(next));
  erase_later(dropped);
  return {};
}

}  // namespace stator
