// SPDX-License-Identifier: Apache-2.0
#include "engine/backups.h"

#include <algorithm>

#include "engine/admin_support.h"
#include "engine/catalogue_codec.h"
#include "engine/restore.h"
#include "engine/table_copy.h"

namespace stator {
namespace {

// BackupDetails in the API reference.
constexpr int64_t kLastBackupMs = 35LL * 24 * 3600 * 1000;
// Developer guide, point-in-time recovery: how the service names them.
constexpr std::string_view kLastBackupSuffix = "$DeletedTableBackup";

void resume_backup(Engine::Impl& engine, const std::string& key, const Item& record) {
  const auto space = static_cast<SpaceId>(integer_of(record, "Space"));
  const auto definition = table_in(record);
  if (!definition || !engine.store->drop_range(space_range(space))) return;
  const auto snapshot = engine.catalogue->snapshot();
  const TablePtr* table = snapshot->find(definition->settings.table);
  if (table == nullptr || (*table)->definition().id != definition->id) {
    static_cast<void>(engine.catalogue->release_space(key, space));
    return;
  }
  const auto view = engine.store->read_view();
  if (view) take_backup(engine, key, (*table)->definition().space, space, **view);
}

}  // namespace

std::string backup_arn(const Engine::Impl& engine, const Item& record, std::string_view id) {
  return table_arn(engine, text_of(record, "Table")) + "/backup/" + std::string(id);
}

Result<bool> is_being_restored(const Engine::Impl& engine, std::string_view arn) {
  STATOR_TRY(const auto restores, Records(*engine.store).list(RecordKind::kRestore));
  return std::ranges::any_of(
      restores, [&](const auto& restore) { return text_of(restore.second, "Backup") == arn; });
}

void take_backup(Engine::Impl& engine, const std::string& key, SpaceId from, SpaceId to,
                 ReadView& view) {
  TableHistory source;
  source.key.space = from;
  const auto copied = copy_rows(engine, view, {.from = std::move(source), .to = to},
                                [](Transaction&, const std::string&) {});
  if (!copied) return;
  static_cast<void>(Records(*engine.store).change(key, [&](Item& record) -> Result<void> {
    if (record.empty()) return {};
    record["Status"] = kBackupAvailable;
    record["Items"] = copied->items;
    record["Bytes"] = copied->bytes;
    return {};
  }));
}

Result<void> resume_copies(Engine::Impl& engine) {
  STATOR_TRY(auto backups, Records(*engine.store).list(RecordKind::kBackup));
  for (auto& [name, record] : backups) {
    if (text_of(record, "Status") == kBackupAvailable) continue;
    engine.jobs.post([&engine, key = record_key(RecordKind::kBackup, name),
                      kept = std::move(record)] { resume_backup(engine, key, kept); });
  }
  const auto snapshot = engine.catalogue->snapshot();
  for (const auto& [name, table] : snapshot->restoring) {
    start_restore(engine, name);
  }
  return {};
}

std::optional<NamedRecord> last_backup(Engine::Impl& engine, const Table& table, int64_t now_ms) {
  const TableDefinition& definition = table.definition();
  if (definition.recovery_ms == 0) return std::nullopt;
  const Counters& counters = table.counters(0);
  return NamedRecord{.key = record_key(RecordKind::kBackup, admin::new_job_id(engine)),
                     .record = {{"Name", table.name() + std::string(kLastBackupSuffix)},
                                {"Table", table.name()},
                                {"Definition", Binary{encode_table(definition)}},
                                {"Space", definition.space},
                                {"Status", kBackupAvailable},
                                {"CreatedMs", now_ms},
                                {"ExpiresMs", now_ms + kLastBackupMs},
                                {"Items", std::max<int64_t>(0, counters.items)},
                                {"Bytes", std::max<int64_t>(0, counters.bytes)}}};
}

void erase_expired_backups(Engine::Impl& engine) {
  const std::lock_guard lock(engine.backups);
  const auto backups = Records(*engine.store).list(RecordKind::kBackup);
  if (!backups) return;
  for (const auto& [id, record] : *backups) {
    if (integer_of(record, "ExpiresMs", INT64_MAX) > engine.now_ms()) continue;
    const auto in_use = is_being_restored(engine, backup_arn(engine, record, id));
    if (!in_use || *in_use) continue;
    static_cast<void>(engine.catalogue->release_space(
        record_key(RecordKind::kBackup, id), static_cast<SpaceId>(integer_of(record, "Space"))));
  }
}

}  // namespace stator
