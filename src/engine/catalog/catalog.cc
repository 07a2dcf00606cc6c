// SPDX-License-Identifier: Apache-2.0
#include "engine/catalog/catalog.h"

#include <algorithm>
#include <utility>

#include "api/model/table_name.h"
#include "base/random.h"
#include "engine/catalog/catalog_change.h"
#include "engine/catalog/catalog_codec.h"
#include "engine/catalog/catalog_rows.h"
#include "engine/catalog/catalog_spaces.h"
#include "engine/catalog/records.h"
#include "engine/errors/messages.h"

namespace stator {
namespace {

// The spaces of `before` that `after` does not have.
std::vector<SpaceId> lost_spaces(const TableDefinition& before, const TableDefinition& after) {
  std::vector<SpaceId> lost = before.all_spaces();
  const std::vector<SpaceId> kept = after.all_spaces();
  std::erase_if(lost, [&](SpaceId space) { return std::ranges::count(kept, space) > 0; });
  return lost;
}

Failure no_such_table(std::string_view name) {
  return fail(Code::kResourceNotFound, messages::table_not_found(name));
}

std::string erasure_of(SpaceId space) {
  return "erasure of space " + std::to_string(space);
}

// `row` is the row of a table in memory. The catalog's version implies that the row exists.
Result<TableDefinition> definition_in(const std::optional<std::string>& row) {
  if (!row) return fail(Code::kCorruption, "a table has no row in the catalog");
  return decode_table(*row);
}

}  // namespace

const TablePtr* CatalogSnapshot::find(std::string_view name) const {
  const auto found = tables.find(table_name_in(name));
  return found == tables.end() ? nullptr : &found->second;
}

Result<TablePtr> Catalog::create(const CreateTableRequest& settings, int64_t now_ms) {
  return on_current([&] { return create_once(settings, now_ms); });
}

Result<TablePtr> Catalog::create_once(const CreateTableRequest& settings, int64_t now_ms) {
  CatalogSnapshot next = *snapshot();
  if (next.restoring.contains(settings.table)) {
    return fail(Code::kResourceInUse, messages::table_exists(settings.table));
  }
  STATOR_ASSIGN_OR_RETURN(Written written, insert(settings, now_ms));
  STATOR_ASSIGN_OR_RETURN(TablePtr table,
                          make_table(std::move(written.definition), next.version + 1, nullptr));
  note_recording(table);
  counters_begun(*table, table->spaces());
  next.tables.emplace(table->name(), table);
  if (written.log) next.logs.insert_or_assign(written.log->space, written.log);
  publish_change(std::move(next));
  return table;
}

Result<Catalog::Written> Catalog::insert(const CreateTableRequest& settings, int64_t now_ms) const {
  const uint64_t version = snapshot()->version;
  const std::string key = catalog_row_key(CatalogRow::kTable, settings.table);
  const auto plan = [&](GuardedRows rows, Batch& batch) -> Result<Written> {
    if (rows[0]) return fail(Code::kResourceInUse, messages::table_exists(settings.table));
    Spaces spaces(rows[1]);
    TableDefinition definition{.settings = settings, .id = random_uuid(), .created_ms = now_ms};
    definition.space = spaces.take();
    definition.local_spaces =
        spaces.take(settings.local_indexes ? settings.local_indexes->size() : 0);
    definition.global_spaces =
        spaces.take(settings.global_indexes ? settings.global_indexes->size() : 0);
    definition.vector_spaces =
        spaces.take(settings.vector_indexes ? settings.vector_indexes->size() : 0);
    const auto new_space = [&] { return spaces.take(); };
    STATOR_ASSIGN_OR_RETURN(LogPtr log,
                            plan_log(nullptr, definition, {}, new_space, now_ms, batch));
    STATOR_RETURN_IF_ERROR(spaces.save(batch));

    // Checked before it is stored: every stored definition must be usable.
    auto usable = Table::make(definition, secret_);
    if (!usable) return fail(Code::kValidation, std::move(usable).error().message);

    batch.put(key, encode_table(definition));
    batch.put_schema_version(version_key(definition.space), version + 1);
    begin_counters(definition.all_spaces(), batch);
    return Written{.definition = std::move(definition), .log = std::move(log)};
  };
  return commit_catalog(store_, version, {key, catalog_row_key(CatalogRow::kNextSpace)}, plan);
}

Result<TableVersions> Catalog::update(std::string_view name, int64_t now_ms, Change change,
                                      Fill fill, JobLease* lease) {
  return on_current([&] { return update_once(name, now_ms, change, fill, lease); });
}

Result<TableVersions> Catalog::update_once(std::string_view name, int64_t now_ms, Change change,
                                           Fill& fill, JobLease* lease) {
  CatalogSnapshot next = *snapshot();
  const TablePtr* found = next.find(name);
  if (found == nullptr) return no_such_table(name);
  TableVersions versions{.before = *found, .after = {}};
  STATOR_ASSIGN_OR_RETURN(Written written, replace(*versions.before, now_ms, change, lease));
  STATOR_ASSIGN_OR_RETURN(versions.after, make_table(std::move(written.definition),
                                                     next.version + 1, versions.before.get()));
  note_recording(versions.after);
  if (written.log) next.logs.insert_or_assign(written.log->space, written.log);
  const TableDefinition& before = versions.before->definition();
  const TableDefinition& after = versions.after->definition();
  versions.before->replaced_by(*versions.after);
  versions.before->when_unused([this, lost = lost_spaces(before, after)] { erase_later(lost); });
  const std::vector<SpaceId> new_spaces = lost_spaces(after, before);
  counters_begun(*versions.after, new_spaces);
  next.tables.find(versions.after->name())->second = versions.after;
  publish_change(std::move(next));
  // From here on, the store rejects writes that use the previous definition.
  for (const SpaceId space : new_spaces) fill(versions.after->name(), space);
  return versions;
}

// Applies `change` to the table's definition, and writes the result.
Result<Catalog::Written> Catalog::replace(const Table& table, int64_t now_ms, Change change,
                                          JobLease* lease) const {
  const uint64_t version = snapshot()->version;
  const std::string key = catalog_row_key(CatalogRow::kTable, table.name());
  std::vector<std::string> keys = {key, catalog_row_key(CatalogRow::kNextSpace)};
  const auto log = log_of(table);
  if (log) keys.insert(keys.end(), {catalog_row_key(CatalogRow::kLog, *log), pins_key(*log)});
  const auto plan = [&](GuardedRows rows, Batch& batch) -> Result<Written> {
    STATOR_ASSIGN_OR_RETURN(const TableDefinition before, definition_in(rows[0]));
    TableDefinition definition = before;
    STATOR_RETURN_IF_ERROR(change(definition));
    Spaces spaces(rows[1]);
    const auto take_space = [&](SpaceId& space) {
      if (space != 0) return;
      space = spaces.take();
      definition.unfinished.push_back(space);
    };
    for (SpaceId& space : definition.global_spaces) take_space(space);
    for (SpaceId& space : definition.vector_spaces) take_space(space);
    if (definition.expiry) take_space(definition.expiry->space);
    const auto new_space = [&] { return spaces.take(); };
    const LogRows log_rows = log ? LogRows{.log = rows[2], .pins = rows[3]} : LogRows();
    STATOR_ASSIGN_OR_RETURN(LogPtr changed,
                            plan_log(&before, definition, log_rows, new_space, now_ms, batch));
    STATOR_RETURN_IF_ERROR(spaces.save(batch));
    auto usable = Table::make(definition, secret_);
    if (!usable) return fail(Code::kValidation, std::move(usable).error().message);
    const std::vector<SpaceId> lost = lost_spaces(before, definition);
    std::erase_if(definition.unfinished,
                  [&](SpaceId space) { return std::ranges::count(lost, space) > 0; });

    for (const SpaceId space : lost) {
      batch.put(catalog_row_key(CatalogRow::kDropped, space), "");
      batch.erase(catalog_row_key(CatalogRow::kCounters, space));
    }
    std::vector<SpaceId> counted = lost_spaces(definition, before);
    if (definition.expiry) std::erase(counted, definition.expiry->space);
    begin_counters(counted, batch);
    for (const SpaceId space : before.unfinished) {
      if (definition.is_unfinished(space)) continue;
      erase_backfill(space, batch);
    }
    batch.put(key, encode_table(definition));
    batch.put_schema_version(version_key(definition.space), version + 1);
    return Written{.definition = std::move(definition), .log = std::move(changed)};
  };
  return commit_catalog(store_, version, std::move(keys), plan, lease);
}

// Erases the position and the lease of a backfill that will not continue.
void Catalog::erase_backfill(SpaceId space, Batch& batch) const {
  const std::string key = catalog_row_key(CatalogRow::kBackfill, space);
  batch.erase(key);
  if (is_shared_) batch.erase(lease_key(key));
}

Result<TablePtr> Catalog::drop(std::string_view name, int64_t now_ms, LastBackup last_backup) {
  return on_current([&] { return drop_once(name, now_ms, last_backup); });
}

Result<TablePtr> Catalog::drop_once(std::string_view name, int64_t now_ms, LastBackup last_backup) {
  CatalogSnapshot next = *snapshot();
  const TablePtr* found = next.find(name);
  if (found == nullptr && next.restoring.contains(name)) {
    return fail(Code::kResourceInUse, messages::table_being_created(name));
  }
  if (found == nullptr) return no_such_table(name);
  TablePtr table = *found;
  STATOR_ASSIGN_OR_RETURN(Erased erased, erase(*table, last_backup, now_ms));
  next.tables.erase(table->name());
  table->when_unused([this, spaces = std::move(erased.spaces)] { erase_later(spaces); });
  if (erased.log) next.logs.insert_or_assign(erased.log->space, erased.log);
  publish_change(std::move(next));
  return table;
}

Result<Catalog::Erased> Catalog::erase(const Table& table, LastBackup last_backup,
                                       int64_t now_ms) const {
  const std::string key = catalog_row_key(CatalogRow::kTable, table.name());
  std::vector<std::string> keys = {key};
  const auto log = log_of(table);
  if (log) keys.push_back(catalog_row_key(CatalogRow::kLog, *log));
  keys.push_back(version_key(table.definition().space));  // changes of settings read it
  const auto plan = [&](GuardedRows rows, Batch& batch) -> Result<Erased> {
    STATOR_ASSIGN_OR_RETURN(TableDefinition definition, definition_in(rows[0]));
    if (definition.settings.deletion_protection.value_or(false)) {
      return fail(Code::kValidation, messages::kDeletionProtected);
    }
    STATOR_ASSIGN_OR_RETURN(const TablePtr stored,
                            Table::make(std::move(definition), secret_, &table));
    const TableDefinition& dropped = stored->definition();
    Erased erased{.spaces = dropped.all_spaces(), .log = {}};
    if (const auto backup = last_backup(*stored)) {
      std::erase(erased.spaces, dropped.space);
      put_record(batch, backup->key, backup->record);
    }
    batch.erase(key);
    batch.put_schema_version(version_key(dropped.space), 0);
    batch.erase(settings_key(dropped.space));
    for (const SpaceId space : dropped.all_spaces()) {
      batch.erase(catalog_row_key(CatalogRow::kCounters, space));
    }
    for (const SpaceId space : erased.spaces) {
      batch.put(catalog_row_key(CatalogRow::kDropped, space), "");
    }
    for (const SpaceId space : dropped.unfinished) erase_backfill(space, batch);
    if (log) {
      STATOR_ASSIGN_OR_RETURN(erased.log, end_log(rows[1], now_ms, batch));
    }
    return erased;
  };
  return commit_catalog(store_, snapshot()->version, std::move(keys), plan);
}

void Catalog::erase_later(const std::vector<SpaceId>& spaces) {
  for (const SpaceId space : spaces) erase_later(space);
}

void Catalog::erase_later(SpaceId space) {
  jobs_.add(erasure_of(space), [this, space] { return erase_rows(space); });
}

void Catalog::erase_dropped() {
  if (!is_shared_) return;
  const std::string begin = catalog_row_key(CatalogRow::kDropped);
  std::set<SpaceId> dropped;
  const auto read =
      read_range(store_, {.range = {.begin = begin, .end = prefix_end(begin)}},
                 [&](std::string_view key, std::string_view) {
                   dropped.insert(static_cast<SpaceId>(read_big_endian(key.substr(begin.size()))));
                   return true;
                 });
  if (!read) return;
  const std::lock_guard lock(changes_);
  for (const SpaceId space : dropped) {
    if (dropped_.contains(space) && !jobs_.has(erasure_of(space))) erase_later(space);
  }
  dropped_ = std::move(dropped);
}

Result<void> Catalog::erase_rows(SpaceId space) const {
  STATOR_ASSIGN_OR_RETURN(const bool pinned, is_pinned(space));
  if (pinned) return {};  // the job that reads the space erases it when it ends
  STATOR_RETURN_IF_ERROR(store_.drop_range(space_range(space)));
  Batch batch;
  batch.erase(catalog_row_key(CatalogRow::kDropped, space));
  return write_or_fail(store_, std::move(batch));
}

void Catalog::note_recording(const TablePtr& table) {
  if (table->log_space() != 0) recording_[table->log_space()] = table;
}

void Catalog::publish(CatalogSnapshot next) {
  snapshot_.set(std::make_shared<const CatalogSnapshot>(std::move(next)));
}

void Catalog::publish_change(CatalogSnapshot next) {
  ++next.version;
  publish(std::move(next));
}

Result<TablePtr> find_table(const CatalogSnapshot& snapshot, std::string_view name) {
  const TablePtr* table = snapshot.find(name);
  if (table == nullptr) return fail(Code::kResourceNotFound, messages::kResourceNotFound);
  return *table;
}

}  // namespace stator
