// SPDX-License-Identifier: Apache-2.0
#include "engine/catalog/catalog.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/random.h"
#include "engine/catalog/catalog_codec.h"
#include "engine/catalog/catalog_commit.h"
#include "engine/catalog/catalog_header.h"
#include "engine/catalog/catalog_rows.h"
#include "engine/catalog/catalog_spaces.h"
#include "engine/catalog/migration.h"
#include "engine/catalog/records.h"
#include "engine/errors/messages.h"

namespace stator {
namespace {

// The spaces that one version of a table has and another has not.
std::vector<SpaceId> lost_spaces(const Table& before, const Table& after) {
  std::vector<SpaceId> lost = before.all_spaces();
  const std::vector<SpaceId> kept = after.all_spaces();
  std::erase_if(lost, [&](SpaceId space) { return std::ranges::count(kept, space) > 0; });
  return lost;
}

}  // namespace

const TablePtr* CatalogSnapshot::find(std::string_view name) const {
  if (name.starts_with("arn:")) {
    const std::size_t resource = name.find(":table/");
    if (resource == std::string_view::npos) return nullptr;
    name.remove_prefix(resource + std::string_view(":table/").size());
  }
  const auto found = tables.find(name);
  return found == tables.end() ? nullptr : &found->second;
}

Result<std::unique_ptr<Catalog>> Catalog::open(Store& store, JobRunner& jobs) {
  std::unique_ptr<Catalog> catalog(new Catalog(store, jobs));
  STATOR_ASSIGN_OR_RETURN(const CatalogHeader header, open_catalog_header(store));
  catalog->secret_ = header.secret;
  STATOR_RETURN_IF_ERROR(migrate_rows(store, header, jobs.report()));
  STATOR_RETURN_IF_ERROR(catalog->load());
  return catalog;
}

Result<void> Catalog::load() {
  CatalogSnapshot loaded;
  std::vector<SpaceId> dropped;
  std::map<SpaceId, std::string> counters;
  Result<void> read;
  const std::string begin = catalog_row_key(CatalogRow::kCounters).substr(0, kPartitionBytes);
  STATOR_ASSIGN_OR_RETURN(const auto view, store_.read_view());
  STATOR_RETURN_IF_ERROR(view->scan({.range = {.begin = begin, .end = prefix_end(begin)}},
                                    [&](std::string_view key, std::string_view value) {
                                      read = load_row(key.substr(kPartitionBytes), value, loaded,
                                                      dropped, counters);
                                      return read.has_value();
                                    }));
  STATOR_RETURN_IF_ERROR(std::move(read));
  for (const auto& [name, table] : loaded.tables) note_recording(table);
  publish(std::move(loaded));
  STATOR_RETURN_IF_ERROR(load_counters(counters));
  erase_later(dropped);
  return {};
}

Result<void> Catalog::load_row(std::string_view rest, std::string_view value,
                               CatalogSnapshot& loaded, std::vector<SpaceId>& dropped,
                               std::map<SpaceId, std::string>& counters) {
  const auto unknown = [] {
    return fail(Code::kCorruption,
                "unknown row in the catalog; damaged, or written by another version of Stator");
  };
  if (rest.empty()) return unknown();
  const std::string_view id = rest.substr(1);
  const bool is_space = id.size() == sizeof(SpaceId);
  switch (static_cast<CatalogRow>(rest[0])) {
    case CatalogRow::kHeader:
    case CatalogRow::kNextSpace:
      return id.empty() ? Result<void>() : unknown();
    case CatalogRow::kMigration:
      return unknown();  // it has ended
    case CatalogRow::kBackfill:
      return is_space ? Result<void>() : unknown();
    case CatalogRow::kDropped:
      if (!is_space) return unknown();
      dropped.push_back(static_cast<SpaceId>(read_big_endian(id)));
      return {};
    case CatalogRow::kCounters:
      if (!is_space) return unknown();
      counters.emplace(static_cast<SpaceId>(read_big_endian(id)), value);
      return {};
    case CatalogRow::kTable: {
      STATOR_ASSIGN_OR_RETURN(TableDefinition definition, decode_table(value));
      STATOR_ASSIGN_OR_RETURN(TablePtr table, Table::make(std::move(definition), secret_));
      loaded.tables.emplace(table->name(), std::move(table));
      return {};
    }
    case CatalogRow::kRecord:
      return is_record(id, value) ? load_record(rest, value, loaded) : unknown();
    case CatalogRow::kLog: {
      STATOR_ASSIGN_OR_RETURN(LogDefinition log, decode_log(value));
      const SpaceId space = log.space;
      loaded.logs.emplace(space, std::make_shared<const LogDefinition>(std::move(log)));
      return {};
    }
  }
  return unknown();
}

// The rows are gone before anything can be written, so that after a crash they are absent, not old.
Result<void> Catalog::load_counters(const std::map<SpaceId, std::string>& rows) {
  const auto current = snapshot();
  for (const auto& [name, table] : current->tables) {
    const std::vector<SpaceId> spaces = table->spaces();
    for (std::size_t i = 0; i < spaces.size(); ++i) {
      const auto row = rows.find(spaces[i]);
      if (row == rows.end() || row->second.size() != 16) {
        table->count_state()->is_needed = true;
        continue;
      }
      const std::string_view value = row->second;
      table->counters(i).set({.items = static_cast<int64_t>(read_big_endian(value.substr(0, 8))),
                              .bytes = static_cast<int64_t>(read_big_endian(value.substr(8)))});
    }
  }
  if (rows.empty()) return {};
  Batch batch;
  for (const auto& [space, value] : rows) {
    batch.erase(catalog_row_key(CatalogRow::kCounters, space));
  }
  return write_or_fail(store_, std::move(batch));
}

void Catalog::save_counters() {
  Batch batch;
  const auto current = snapshot();
  for (const auto& [name, table] : current->tables) {
    if (table->needs_count()) continue;
    const std::vector<SpaceId> spaces = table->spaces();
    for (std::size_t i = 0; i < spaces.size(); ++i) {
      const Counters::Totals counters = table->counters(i).totals();
      std::string value;
      append_big_endian(value, static_cast<uint64_t>(counters.items));
      append_big_endian(value, static_cast<uint64_t>(counters.bytes));
      batch.put(catalog_row_key(CatalogRow::kCounters, spaces[i]), value);
    }
  }
  // If that fails, the next start counts.
  if (!batch.empty()) static_cast<void>(write_and_wait(store_, std::move(batch)));
}

Result<TablePtr> Catalog::create(const CreateTableRequest& settings, int64_t now_ms) {
  const std::lock_guard lock(changes_);
  if (snapshot()->restoring.contains(settings.table)) {
    return fail(Code::kResourceInUse, messages::table_exists(settings.table));
  }
  STATOR_ASSIGN_OR_RETURN(Written written, insert(settings, now_ms));
  STATOR_ASSIGN_OR_RETURN(TablePtr table, Table::make(std::move(written.definition), secret_));
  note_recording(table);
  CatalogSnapshot next = *snapshot();
  next.tables.emplace(table->name(), table);
  if (written.log) next.logs.insert_or_assign(written.log->space, written.log);
  publish(std::move(next));
  return table;
}

Result<Catalog::Written> Catalog::insert(const CreateTableRequest& settings, int64_t now_ms) {
  const std::array<std::string, 2> keys = {catalog_row_key(CatalogRow::kTable, settings.table),
                                           catalog_row_key(CatalogRow::kNextSpace)};
  return commit_change(store_, keys, [&](GuardedRows rows, Batch& batch) -> Result<Written> {
    if (rows[0]) return fail(Code::kResourceInUse, messages::table_exists(settings.table));
    Spaces spaces(rows[1]);
    TableDefinition definition{.settings = settings, .id = random_uuid(), .created_ms = now_ms};
    definition.space = spaces.take();
    definition.local_spaces =
        spaces.take(settings.local_indexes ? settings.local_indexes->size() : 0);
    definition.global_spaces =
        spaces.take(settings.global_indexes ? settings.global_indexes->size() : 0);
    const auto new_space = [&] { return spaces.take(); };
    STATOR_ASSIGN_OR_RETURN(LogPtr log, plan_log(nullptr, definition, new_space, now_ms, batch));
    STATOR_RETURN_IF_ERROR(spaces.save(batch));

    // Before it is kept: a definition that cannot be used must never be read back.
    auto usable = Table::make(definition, secret_);
    if (!usable) return fail(Code::kValidation, std::move(usable).error().message);

    batch.put(keys[0], encode_table(definition));
    return Written{.definition = std::move(definition), .log = std::move(log)};
  });
}

Result<TableVersions> Catalog::update(std::string_view name, int64_t now_ms, Change change,
                                      Fill fill) {
  const std::lock_guard lock(changes_);
  CatalogSnapshot next = *snapshot();
  const TablePtr* found = next.find(name);
  if (found == nullptr) return fail(Code::kResourceNotFound, messages::table_not_found(name));
  TableVersions versions{.before = *found, .after = {}};
  STATOR_ASSIGN_OR_RETURN(Written written, replace(*versions.before, now_ms, change));
  STATOR_ASSIGN_OR_RETURN(
      versions.after, Table::make(std::move(written.definition), secret_, versions.before.get()));
  note_recording(versions.after);
  if (written.log) next.logs.insert_or_assign(written.log->space, written.log);
  versions.before->replaced_by(*versions.after);
  versions.before->when_unused(
      [this, table = versions.after->name(), lost = lost_spaces(*versions.before, *versions.after),
       added = lost_spaces(*versions.after, *versions.before), fill = std::move(fill)]() mutable {
        erase_later(lost);
        for (const SpaceId space : added) fill(table, space);
      });
  next.tables.find(versions.after->name())->second = versions.after;
  publish(std::move(next));
  return versions;
}

// Writes what `change` makes of the table's definition.
Result<Catalog::Written> Catalog::replace(const Table& table, int64_t now_ms, Change change) {
  const std::array<std::string, 2> keys = {catalog_row_key(CatalogRow::kTable, table.name()),
                                           catalog_row_key(CatalogRow::kNextSpace)};
  return commit_change(store_, keys, [&](GuardedRows rows, Batch& batch) -> Result<Written> {
    TableDefinition definition = table.definition();
    STATOR_RETURN_IF_ERROR(change(definition));
    Spaces spaces(rows[1]);
    const auto take_space = [&](SpaceId& space) {
      if (space != 0) return;
      space = spaces.take();
      definition.unfinished.push_back(space);
    };
    for (SpaceId& space : definition.global_spaces) take_space(space);
    if (definition.expiry) take_space(definition.expiry->space);
    const auto new_space = [&] { return spaces.take(); };
    STATOR_ASSIGN_OR_RETURN(LogPtr log,
                            plan_log(&table.definition(), definition, new_space, now_ms, batch));
    STATOR_RETURN_IF_ERROR(spaces.save(batch));
    auto usable = Table::make(definition, secret_);
    if (!usable) return fail(Code::kValidation, std::move(usable).error().message);
    const std::vector<SpaceId> lost = lost_spaces(table, **usable);
    std::erase_if(definition.unfinished,
                  [&](SpaceId space) { return std::ranges::count(lost, space) > 0; });

    for (const SpaceId space : lost) {
      batch.put(catalog_row_key(CatalogRow::kDropped, space), "");
    }
    for (const SpaceId space : table.definition().unfinished) {
      if (definition.is_unfinished(space)) continue;
      batch.erase(catalog_row_key(CatalogRow::kBackfill, space));
    }
    batch.put(keys[0], encode_table(definition));
    return Written{.definition = std::move(definition), .log = std::move(log)};
  });
}

Result<TablePtr> Catalog::drop(std::string_view name, int64_t now_ms, LastBackup last_backup) {
  const std::lock_guard lock(changes_);
  CatalogSnapshot next = *snapshot();
  const TablePtr* found = next.find(name);
  if (found == nullptr && next.restoring.contains(name)) {
    return fail(Code::kResourceInUse, messages::table_being_created(name));
  }
  if (found == nullptr) return fail(Code::kResourceNotFound, messages::table_not_found(name));
  TablePtr table = *found;
  if (table->definition().settings.deletion_protection.value_or(false)) {
    return fail(Code::kValidation, messages::kDeletionProtected);
  }
  const std::optional<NamedRecord> backup = last_backup(*table);
  std::vector<SpaceId> lost = table->all_spaces();
  if (backup) std::erase(lost, table->definition().space);
  STATOR_ASSIGN_OR_RETURN(const LogPtr log, erase(*table, lost, backup, now_ms));
  next.tables.erase(table->name());
  table->when_unused([this, spaces = std::move(lost)] { erase_later(spaces); });
  if (log) next.logs.insert_or_assign(log->space, log);
  publish(std::move(next));
  return table;
}

void Catalog::erase_later(const std::vector<SpaceId>& spaces) {
  for (const SpaceId space : spaces) erase_later(space);
}

void Catalog::erase_later(SpaceId space) {
  jobs_.add("erasure of space " + std::to_string(space),
            [this, space] { return erase_rows(space); });
}

Result<LogPtr> Catalog::erase(const Table& table, const std::vector<SpaceId>& lost,
                              const std::optional<NamedRecord>& backup, int64_t now_ms) {
  const std::array<std::string, 1> keys = {catalog_row_key(CatalogRow::kTable, table.name())};
  return commit_change(store_, keys, [&](GuardedRows, Batch& batch) -> Result<LogPtr> {
    batch.erase(keys[0]);
    batch.erase(settings_key(table.definition().space));
    if (backup) batch.put(backup->key, encode_item(backup->record));
    for (const SpaceId space : lost) batch.put(catalog_row_key(CatalogRow::kDropped, space), "");
    for (const SpaceId space : table.definition().unfinished)
      batch.erase(catalog_row_key(CatalogRow::kBackfill, space));
    return end_log(table, now_ms, batch);
  });
}

Result<void> Catalog::erase_rows(SpaceId space) const {
  if (is_held(space)) return {};
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

Result<TablePtr> find_table(const CatalogSnapshot& snapshot, std::string_view name) {
  const TablePtr* table = snapshot.find(name);
  if (table == nullptr) return fail(Code::kResourceNotFound, messages::kResourceNotFound);
  return *table;
}

}  // namespace stator
