// SPDX-License-Identifier: Apache-2.0
#include "engine/catalog/last_backup.h"

#include "engine/catalog/catalog_codec.h"
#include "engine/catalog/records.h"

namespace stator {
namespace {

// API reference, BackupDetails.
constexpr int64_t kLastBackupMs = 35LL * 24 * 3600 * 1000;
// Developer guide, point-in-time recovery: suffix of the backup's name.
constexpr std::string_view kLastBackupSuffix = "$DeletedTableBackup";

}  // namespace

std::optional<NamedRecord> last_backup(const Table& table, const std::string& id, int64_t now_ms) {
  const TableDefinition& definition = table.definition();
  if (definition.recovery_ms == 0) return std::nullopt;
  const Counters::Totals counters = table.counters(0).totals();
  return NamedRecord{.key = record_key(RecordKind::kBackup, id),
                     .record = {{"Name", table.name() + std::string(kLastBackupSuffix)},
                                {"Table", table.name()},
                                {"Definition", Binary{encode_table(definition)}},
                                {"Space", definition.space},
                                {"Status", kBackupAvailable},
                                {"CreatedMs", now_ms},
                                {"ExpiresMs", now_ms + kLastBackupMs},
                                {"Items", counters.items},
                                {"Bytes", counters.bytes}}};
}

}  // namespace stator
