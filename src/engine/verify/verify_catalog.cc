// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "api/admin/document.h"
#include "base/hex.h"
#include "engine/catalog/catalog.h"
#include "engine/catalog/catalog_codec.h"
#include "engine/catalog/catalog_header.h"
#include "engine/catalog/catalog_rows.h"
#include "engine/catalog/job_lease.h"
#include "engine/catalog/records.h"
#include "engine/verify/verify_parts.h"

namespace stator {
namespace {

constexpr std::string_view kCatalogKind = "catalog";

class CatalogCheck {
 public:
  explicit CatalogCheck(Verification& verification) : verification_(verification) {}

  std::optional<CatalogContents> run() {
    if (!read_header()) return std::nullopt;
    const bool all_read = verification_.scan(
        space_range(kCatalogSpace), kCatalogKind, "the catalog",
        [this](std::string_view key, std::string_view value) { check_row(key, value); });
    if (!all_read) contents_.complete = false;
    for (const TablePtr& table : contents_.tables) {
      check_spaces(*table);
      check_recorded(*table);
    }
    for (const auto& [space, log] : contents_.logs) check_log(log);
    for (const auto& [name, history] : histories_) check_history(name, history);
    if (has_pins_) check_pins();
    for (const SpaceId space : contents_.dropped) check_given_out(space);
    for (const SpaceId space : contents_.restoring) check_given_out(space);
    for (const auto& [space, counters] : contents_.counters) check_counted(space);
    for (const SpaceId space : settings_) check_set(space);
    for (const SpaceId space : backfills_) check_unfinished(space);
    for (const SpaceId space : versions_) check_versioned(space);
    for (const std::string& job : leases_) check_leased(job);
    for (const std::string& name : outputs_) check_output(name);
    return std::move(contents_);
  }

 private:
  bool read_header() {
    const auto header = verification_.get(catalog_row_key(CatalogRow::kHeader), kCatalogKind);
    if (!header) {
      bool empty = true;
      verification_.scan({}, kCatalogKind, "the catalog",
                         [&](std::string_view, std::string_view) { empty = false; });
      if (!empty)
        verification_.add(kCatalogKind, "it has no header, so nothing else can be checked");
      return false;
    }
    const auto read = read_catalog_header(*header);
    if (!read) {
      verification_.add(kCatalogKind, read.error().message);
      return false;
    }
    contents_.secret = read->secret;
    contents_.has_older_keys = read->format < kFirstFormatOfKeys;
    has_pins_ = read->format >= kFirstFormatOfPins;
    return is_one_format();
  }

  // Returns false during a migration, when some rows have the keys of the older format.
  bool is_one_format() {
    if (!verification_.get(catalog_row_key(CatalogRow::kMigration), kCatalogKind)) {
      return true;
    }
    verification_.add(kCatalogKind, "the migration to format " + std::to_string(kCatalogFormat) +
                                        " is unfinished; start Stator on the data to finish it");
    return false;
  }

  void check_row(std::string_view key, std::string_view value) {
    const std::string prefix = catalog_row_key(CatalogRow::kHeader).substr(0, kPartitionBytes);
    if (!key.starts_with(prefix) || key.size() == kPartitionBytes) return damaged(key);
    const std::string_view rest = key.substr(kPartitionBytes + 1);
    switch (static_cast<CatalogRow>(key[kPartitionBytes])) {
      case CatalogRow::kHeader:
        return rest.empty() ? void() : damaged(key);
      case CatalogRow::kRecord:
        if (!is_record(rest, value)) return damaged(key);
        return check_record(key, static_cast<RecordKind>(rest[0]), decode_item(ItemView(value)));
      case CatalogRow::kNextSpace:
        if (!rest.empty() || value.size() != sizeof(SpaceId)) return damaged(key);
        next_space_ = static_cast<SpaceId>(read_big_endian(value));
        return;
      case CatalogRow::kTable:
        return check_table(rest, value);
      case CatalogRow::kLog:
        return check_log_row(key, rest, value);
      case CatalogRow::kDropped:
        if (rest.size() != sizeof(SpaceId) || !value.empty()) return damaged(key);
        contents_.dropped.insert(static_cast<SpaceId>(read_big_endian(rest)));
        return;
      case CatalogRow::kPins:
        return check_pins_row(key, rest, value);
      case CatalogRow::kMigration:
        break;  // reported by is_one_format()
      case CatalogRow::kBackfill:
        if (rest.size() != sizeof(SpaceId)) return damaged(key);
        backfills_.insert(static_cast<SpaceId>(read_big_endian(rest)));
        return;
      case CatalogRow::kLease:
        if (!decode_lease(value)) return damaged(key);
        leases_.emplace(key.substr(kPartitionBytes + 1));
        return;
      case CatalogRow::kVersion:
        if ((!rest.empty() && rest.size() != sizeof(SpaceId)) || value.size() != 8) {
          return damaged(key);
        }
        if (!rest.empty()) versions_.insert(static_cast<SpaceId>(read_big_endian(rest)));
        return;
      case CatalogRow::kCounters:
        if (rest.size() != sizeof(SpaceId) || value.size() != 16) return damaged(key);
        contents_.counters[static_cast<SpaceId>(read_big_endian(rest))] = {
            .items = static_cast<int64_t>(read_big_endian(value.substr(0, 8))),
            .bytes = static_cast<int64_t>(read_big_endian(value.substr(8)))};
        return;
    }
    damaged(key);
  }

  void damaged(std::string_view key) {
    contents_.complete = false;
    verification_.add(kCatalogKind,
                      "row " + hex(key) + " is damaged or of another version of Stator");
  }

  // A backup is checked as a table without indexes, because its copy contains only items.
  void check_record(std::string_view key, RecordKind kind, const Item& record) {
    const bool is_job = kind != RecordKind::kSettings && kind != RecordKind::kOutput;
    if (is_job && is_open_job(record)) {
      open_jobs_.emplace(key.substr(kPartitionBytes));
    }
    if (kind == RecordKind::kOutput) {
      outputs_.emplace(key.substr(kPartitionBytes + 2));
      return;
    }
    if (kind == RecordKind::kSettings) {
      settings_.insert(static_cast<SpaceId>(read_big_endian(key.substr(kPartitionBytes + 2))));
      return;
    }
    if (const auto history = history_of(record)) {
      histories_.emplace(pin_name(key), *history);
    }
    if (kind == RecordKind::kImport || kind == RecordKind::kExport || kind == RecordKind::kBulk) {
      return;
    }
    auto definition = table_in(record);
    if (!definition) return damaged(key);
    if (kind == RecordKind::kBackup) {
      CreateTableRequest& settings = definition->settings;
      settings.table += " in backup " + text_of(record, "Name");
      settings.local_indexes.reset();
      settings.global_indexes.reset();
      settings.vector_indexes.reset();
      *definition = TableDefinition{.settings = settings,
                                    .id = definition->id,
                                    .created_ms = definition->created_ms,
                                    .space = static_cast<SpaceId>(integer_of(record, "Space"))};
    }
    const auto table = Table::make(std::move(*definition), contents_.secret);
    if (!table) return damaged(key);
    if (kind == RecordKind::kBackup) {
      contents_.tables.push_back(*table);
      return;
    }
    for (const SpaceId space : (*table)->all_spaces()) contents_.restoring.insert(space);
  }

  // The history that a job reads must exist, even if the table has been dropped.
  void check_history(const std::string& name, const PinnedHistory& history) {
    if (!contents_.complete) return;
    const bool has_rows =
        live_.contains(history.space) || contents_.dropped.contains(history.space);
    const bool has_log = history.log == 0 || contents_.logs.contains(history.log);
    if (has_rows && has_log) return;
    const std::string read = job_of(name) + " reads space " + std::to_string(history.space);
    verification_.add(kCatalogKind, history.log == 0
                                        ? read + ", which is not there"
                                        : read + " and log " + std::to_string(history.log) +
                                              ", which are not there");
  }

  // Describes the job of a record; see pin_name().
  static std::string job_of(std::string_view name) {
    const std::string quoted = "'" + std::string(name.substr(1)) + "'";
    return name.starts_with(static_cast<char>(RecordKind::kRestore)) ? "the restore of " + quoted
                                                                     : "export " + quoted;
  }

  void check_pins_row(std::string_view key, std::string_view id, std::string_view value) {
    auto pins = decode_pins(std::string(value));
    if (!pins || id.size() != sizeof(SpaceId)) return damaged(key);
    pins_.emplace(static_cast<SpaceId>(read_big_endian(id)), std::move(*pins));
  }

  // Each job must pin the history that it reads, and there must be no other pins.
  void check_pins() {
    if (!contents_.complete) return;
    const auto add = [&](const std::string& name, const std::string& what, SpaceId space) {
      verification_.add(kCatalogKind, job_of(name) + what + std::to_string(space));
    };
    std::map<SpaceId, std::map<std::string, uint64_t, std::less<>>> expected;
    for (const auto& [name, history] : histories_) {
      expected[history.space][name] = 0;
      if (history.log != 0) expected[history.log][name] = history.commit_version;
    }
    for (const auto& [space, records] : expected) {
      const auto pins = pins_.find(space);
      for (const auto& [name, commit_version] : records) {
        const bool is_pinned = pins != pins_.end() && pins->second.records.contains(name) &&
                               pins->second.records.at(name) == commit_version;
        if (!is_pinned) add(name, " has not pinned what it reads of space ", space);
        if (pins == pins_.end() || commit_version == 0) continue;
        if (commit_version < pins->second.given_up_before) {
          add(name, " reads what was given up of space ", space);
        }
      }
    }
    for (const auto& [space, pins] : pins_) {
      for (const auto& [name, commit_version] : pins.records) {
        if (!expected[space].contains(name)) add(name, " does not exist, and pins space ", space);
      }
      check_given_out(space);
    }
  }

  void check_table(std::string_view name, std::string_view value) {
    const auto table = [&]() -> Result<TablePtr> {
      STATOR_ASSIGN_OR_RETURN(TableDefinition definition, decode_table(value));
      return Table::make(std::move(definition), contents_.secret);
    }();
    const std::string named = "table '" + std::string(name) + "': ";
    if (!table || (*table)->name() != name) {
      contents_.complete = false;
      verification_.add(kCatalogKind, named + (table ? "it is defined as '" + (*table)->name() + "'"
                                                     : table.error().message));
      return;
    }
    ++verification_.report().tables;
    contents_.tables.push_back(*table);
  }

  void check_log_row(std::string_view key, std::string_view id, std::string_view value) {
    auto log = decode_log(value);
    if (!log || id.size() != sizeof(SpaceId) || log->space != read_big_endian(id)) {
      return damaged(key);
    }
    contents_.logs.emplace(log->space, std::move(*log));
  }

  // A log must have its own space, and record changes only for a table that names it.
  void check_log(const LogDefinition& log) {
    const std::string named = "the change log of table '" + log.table + "': ";
    if (!live_.insert(log.space).second || contents_.dropped.contains(log.space)) {
      verification_.add(kCatalogKind,
                        named + "its space " + std::to_string(log.space) + " is another's too");
    }
    check_given_out(log.space);
    if (!log.is_recording() || !contents_.complete) return;
    const bool known = std::ranges::any_of(contents_.tables, [&](const TablePtr& table) {
      return table->log_space() == log.space && table->definition().id == log.table_id;
    });
    if (!known) verification_.add(kCatalogKind, named + "no table records there");
  }

  void check_recorded(const Table& table) {
    if (table.log_space() == 0 || !contents_.complete) return;
    const auto log = contents_.logs.find(table.log_space());
    if (log != contents_.logs.end() && log->second.table_id == table.definition().id) return;
    verification_.add(kCatalogKind, "table '" + table.name() + "': its change log is not there");
  }

  void check_spaces(const Table& table) {
    for (const SpaceId space : table.all_spaces()) {
      if (!live_.insert(space).second || contents_.dropped.contains(space)) {
        verification_.add(kCatalogKind, "table '" + table.name() + "': its space " +
                                            std::to_string(space) + " is another's too");
      }
      check_given_out(space);
    }
  }

  void check_given_out(SpaceId space) {
    if (space >= kFirstTableSpace && space < next_space_) return;
    verification_.add(kCatalogKind, "space " + std::to_string(space) + " was never given out");
  }

  void check_unfinished(SpaceId space) {
    const bool is_unfinished = std::ranges::any_of(contents_.tables, [&](const TablePtr& table) {
      return table->definition().is_unfinished(space);
    });
    if (is_unfinished || !contents_.complete) return;
    verification_.add(kCatalogKind,
                      "space " + std::to_string(space) +
                          " is being filled, though no table says that it is unfinished");
  }

  // A job erases its lease when it ends.
  void check_leased(const std::string& job) {
    if (open_jobs_.contains(job) || !contents_.complete) return;
    const bool is_backfill = std::ranges::any_of(contents_.tables, [&](const TablePtr& table) {
      return std::ranges::any_of(table->definition().unfinished, [&](SpaceId space) {
        return job == catalog_row_key(CatalogRow::kBackfill, space).substr(kPartitionBytes);
      });
    });
    if (is_backfill) return;
    verification_.add(kCatalogKind, "the lease of job " + hex(job) + " is of no job");
  }

  // Before a bulk operation ends, it writes or erases all rows of its report.
  void check_output(const std::string& name) {
    const std::string begin = record_key(RecordKind::kBulk, {}).substr(kPartitionBytes);
    const bool is_expected = std::ranges::any_of(open_jobs_, [&](const std::string& job) {
      return job.starts_with(begin) && name.starts_with(job.substr(begin.size()));
    });
    if (is_expected || !contents_.complete) return;
    verification_.add(kCatalogKind,
                      "output row " + hex(name) + " is of no bulk operation in progress");
  }

  void check_versioned(SpaceId space) {
    if (live_.contains(space) || contents_.restoring.contains(space) || !contents_.complete) return;
    verification_.add(kCatalogKind,
                      "space " + std::to_string(space) + " has a version, though no table owns it");
  }

  void check_counted(SpaceId space) {
    if (live_.contains(space) || !contents_.complete) return;
    verification_.add("counter", "space " + std::to_string(space) +
                                     " is counted, though no table and no index owns it");
  }

  void check_set(SpaceId space) {
    if (live_.contains(space) || !contents_.complete) return;
    verification_.add(kCatalogKind,
                      "space " + std::to_string(space) + " has settings, though no table owns it");
  }

  Verification& verification_;
  CatalogContents contents_;
  std::set<SpaceId> settings_;
  std::map<std::string, PinnedHistory, std::less<>> histories_;  // by pin_name()
  std::map<SpaceId, Pins> pins_;
  bool has_pins_ = false;
  SpaceId next_space_ = kFirstTableSpace;
  std::set<SpaceId> live_;
  std::set<SpaceId> backfills_;
  std::set<SpaceId> versions_;       // of tables
  std::set<std::string> leases_;     // keys without the partition, as in open_jobs_
  std::set<std::string> outputs_;    // names of report rows
  std::set<std::string> open_jobs_;  // keys of the jobs' records, without the partition
};

}  // namespace

std::optional<CatalogContents> verify_catalog(Verification& verification) {
  return CatalogCheck(verification).run();
}

}  // namespace stator
