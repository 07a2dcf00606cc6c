// SPDX-License-Identifier: Apache-2.0
// Loads the catalog at startup, and again when another process has changed it.
#include <array>
#include <utility>

#include "engine/catalog/catalog.h"
#include "engine/catalog/catalog_change.h"
#include "engine/catalog/catalog_header.h"
#include "engine/catalog/catalog_rows.h"
#include "engine/catalog/migration.h"
#include "engine/errors/service_errors.h"

namespace stator {

Result<std::unique_ptr<Catalog>> Catalog::open(TransactStore& store, JobRunner& jobs) {
  std::unique_ptr<Catalog> catalog(new Catalog(store, jobs));
  STATOR_ASSIGN_OR_RETURN(const CatalogHeader header, open_catalog_header(store));
  catalog->secret_ = header.secret;
  STATOR_ASSIGN_OR_RETURN(catalog->version_row_,
                          store.schema_row(catalog_row_key(CatalogRow::kVersion)));
  STATOR_RETURN_IF_ERROR(migrate_rows(store, header, jobs.report()));
  STATOR_RETURN_IF_ERROR(catalog->load());
  return catalog;
}

Result<void> Catalog::load() {
  STATOR_ASSIGN_OR_RETURN(StoredCatalog stored, read_catalog(store_));
  const auto counters = stored.counters;
  const auto dropped = std::move(stored.dropped);
  STATOR_ASSIGN_OR_RETURN(const bool has_all_versions, give_versions(stored));
  if (is_shared_ || !has_all_versions) {
    STATOR_RETURN_IF_ERROR(refresh());
  } else {
    STATOR_ASSIGN_OR_RETURN(CatalogSnapshot loaded, compile(std::move(stored)));
    publish(std::move(loaded));
  }
  STATOR_RETURN_IF_ERROR(take_counters(counters));
  erase_later(dropped);
  return {};
}

// Adds version rows for tables of older versions of Stator. Then a version of 0 means that the
// table was dropped. Returns true if every table already had one.
Result<bool> Catalog::give_versions(const StoredCatalog& stored) {
  std::vector<SpaceId> without;
  for (const auto* tables : {&stored.tables, &stored.restoring}) {
    for (const TableDefinition& table : *tables) {
      if (!stored.versions.contains(table.space)) without.push_back(table.space);
    }
  }
  if (without.empty()) return true;
  auto given =
      commit_catalog(store_, stored.version, {}, [&](GuardedRows, Batch& batch) -> Result<void> {
        for (const SpaceId space : without) {
          batch.put_schema_version(version_key(space), stored.version + 1);
        }
        return {};
      });
  // Another process was loading the catalog too, and added them.
  if (!given && given.error().code != kBehind) return Failure(std::move(given).error());
  return false;
}

Result<Catalog::SnapshotPtr> Catalog::newest_snapshot() {
  if (!is_shared_) return snapshot();
  if (auto refreshed = refresh(); !refreshed) {
    return Failure(service_error(std::move(refreshed).error()));
  }
  return snapshot();
}

Result<void> Catalog::refresh() {
  // A change in this process is published before its lock is released.
  const std::lock_guard lock(changes_);
  return catch_up();
}

Result<void> Catalog::catch_up() {
  // Not kCorruption, after which jobs would record that they have failed.
  if (const auto reason = refusal()) return fail(Code::kUnavailable, *reason);
  STATOR_ASSIGN_OR_RETURN(const uint64_t version, store_.schema_version(*version_row_));
  if (version == snapshot()->version) return {};
  // The rows might not be durable yet. This commit succeeds only when the rows that it read are.
  const std::array<std::string, 1> keys = {version_row_->key()};
  const auto nothing = [](GuardedRows, Batch&) { return Result<void>(); };
  STATOR_RETURN_IF_ERROR(commit_change(store_, keys, nothing));
  auto stored = read_catalog(store_);
  // Rows of a newer format can be unreadable, so its error comes first.
  STATOR_RETURN_IF_ERROR(check_format());
  if (!stored) return failure_of(std::move(stored));
  STATOR_ASSIGN_OR_RETURN(CatalogSnapshot loaded, compile(*std::move(stored)));
  publish(std::move(loaded));
  return {};
}

// A newer version of Stator can have raised the format since the startup. It is never lowered.
Result<void> Catalog::check_format() {
  std::string stored;
  STATOR_RETURN_IF_ERROR(read_value(store_, catalog_row_key(CatalogRow::kHeader),
                                    [&](std::string_view value) { stored = value; }));
  const auto header = read_catalog_header(stored);
  if (header) return {};
  const std::string& reason = header.error().message;
  refusal_.set(std::make_shared<const std::string>(reason));
  if (jobs_.report()) jobs_.report()(LogLevel::kError, reason);
  return fail(Code::kUnavailable, reason);
}

Result<CatalogSnapshot> Catalog::compile(StoredCatalog stored) {
  CatalogSnapshot loaded{.version = stored.version, .logs = std::move(stored.logs)};
  const auto add = [&](std::vector<TableDefinition>& definitions, auto& to) -> Result<void> {
    for (TableDefinition& definition : definitions) {
      const uint64_t version = stored.versions[definition.space];
      STATOR_ASSIGN_OR_RETURN(TablePtr table, compile_table(std::move(definition), version));
      to.emplace(table->name(), std::move(table));
    }
    return {};
  };
  STATOR_RETURN_IF_ERROR(add(stored.tables, loaded.tables));
  STATOR_RETURN_IF_ERROR(add(stored.restoring, loaded.restoring));
  for (const auto& [name, table] : loaded.tables) load_counters(*table, stored.counters);
  return loaded;
}

Result<TablePtr> Catalog::compile_table(TableDefinition definition, uint64_t version) {
  const auto current = snapshot();
  TablePtr known;
  for (const auto* tables : {&current->tables, &current->restoring}) {
    const auto found = tables->find(definition.settings.table);
    if (found != tables->end() && found->second->definition().id == definition.id) {
      known = found->second;
    }
  }
  if (known && known->version() == version) return known;
  STATOR_ASSIGN_OR_RETURN(TablePtr table, make_table(std::move(definition), version, known.get()));
  note_recording(table);
  if (known) {
    known->replaced_by(*table);
  } else {
    table->count_state()->is_needed = true;
  }
  return table;
}

Result<std::shared_ptr<Table>> Catalog::make_table(TableDefinition definition, uint64_t version,
                                                   const Table* previous) const {
  STATOR_ASSIGN_OR_RETURN(auto table, Table::make(std::move(definition), secret_, previous));
  STATOR_ASSIGN_OR_RETURN(auto row, store_.schema_row(version_key(table->definition().space)));
  table->set_schema(std::move(row), version);
  return table;
}

}  // namespace stator
