// SPDX-License-Identifier: Apache-2.0
// Format 5 adds records of bulk put operations, so older data needs no change.
//
// Format 4 adds rows for the pins of jobs. They are computed from the records of the jobs.
//
// Format 3 changes the keys of index entries and of rows of time queues. Both are computed from the
// row's value, so a row under its current key has been moved. Rows stay in their space, so no space
// ids or definitions change. Repeating a part has no effect.
#include "engine/catalog/migration.h"

#include <chrono>
#include <map>
#include <utility>
#include <vector>

#include "engine/catalog/catalog_codec.h"
#include "engine/catalog/catalog_commit.h"
#include "engine/catalog/pins.h"
#include "engine/catalog/raise_format.h"
#include "engine/catalog/records.h"
#include "engine/rows/older_keys.h"

namespace stator {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kMovedRowsMax = 4096;
constexpr std::size_t kMovedBytesMax = 1UL << 20;
constexpr std::chrono::seconds kReportInterval{10};

// A space whose rows have other keys in the current format.
struct Part {
  std::string name;
  TablePtr table = {};           // null: the queue of tokens
  const Index* index = nullptr;  // null: a time queue
};
using Parts = std::map<SpaceId, Part>;

struct Row {
  std::string key;
  std::string value;
};

void add_parts(const TablePtr& table, Parts& parts) {
  const std::string name = "table '" + table->name() + "', ";
  for (const Index& index : table->indexes()) {
    parts[index.key.space] = {
        .name = name + "index '" + index.definition.name + "'", .table = table, .index = &index};
  }
  if (table->expiry() != nullptr) {
    parts[table->expiry()->space] = {.name = name + "TTL queue", .table = table};
  }
}

Result<Parts> find_parts(TransactStore& store, const Hash128& secret) {
  Parts parts;
  parts[kTokenExpirySpace] = {.name = "idempotency tokens"};
  const std::string tables = catalog_row_key(CatalogRow::kTable);
  const auto add = [&](std::string_view row) -> Result<void> {
    STATOR_ASSIGN_OR_RETURN(TableDefinition definition, decode_table(row));
    STATOR_ASSIGN_OR_RETURN(const TablePtr table, Table::make(std::move(definition), secret));
    add_parts(table, parts);
    return {};
  };
  Result<void> added;
  STATOR_RETURN_IF_ERROR(read_range(store, {.range = {.begin = tables, .end = prefix_end(tables)}},
                                    [&](std::string_view, std::string_view value) {
                                      added = add(value);
                                      return added.has_value();
                                    }));
  STATOR_RETURN_IF_ERROR(std::move(added));
  STATOR_ASSIGN_OR_RETURN(const auto restoring, Records(store).list(RecordKind::kRestore));
  for (const auto& [name, record] : restoring) {
    STATOR_ASSIGN_OR_RETURN(TableDefinition definition, table_in(record));
    STATOR_ASSIGN_OR_RETURN(const TablePtr table, Table::make(std::move(definition), secret));
    add_parts(table, parts);
  }
  return parts;
}

// Returns the row's key in the current format. Returns no value if the row is damaged.
std::optional<std::string> current_key(SpaceId space, const Part& part, const Row& row) {
  if (part.index != nullptr) {
    if (!validate_item(row.value)) return std::nullopt;
    return index_row_key(part.table->secret(), part.table->key(), part.index->key,
                         ItemView(row.value));
  }
  if (read_queue_row(row.key)) return row.key;
  const auto older = read_older_queue_row(row.key);
  if (!older) return std::nullopt;
  return queue_row_key(space, older->time, older->row_key);
}

class Migration {
 public:
  Migration(TransactStore& store, const JobRunner::Report& report, std::string position)
      : store_(store), report_(report), position_(std::move(position)) {}

  Result<void> run(const Parts& parts) {
    for (const auto& [space, part] : parts) STATOR_RETURN_IF_ERROR(move_rows(space, part));
    Batch batch;
    batch.erase(progress_key_);
    STATOR_RETURN_IF_ERROR(write_or_fail(store_, std::move(batch)));
    const auto seconds = std::chrono::round<std::chrono::seconds>(SteadyClock::now() - started_);
    say(LogLevel::kInfo,
        "migrated " + std::to_string(rows_) + " rows in " + std::to_string(seconds.count()) + " s");
    return {};
  }
  void say(LogLevel level, const std::string& line) const {
    if (report_) report_(level, line);
  }

 private:
  Result<void> move_rows(SpaceId space, const Part& part) {
    KeyRange range = space_range(space);
    if (position_ >= range.end) return {};
    if (position_ >= range.begin) range.begin = position_ + '\0';
    std::size_t damaged = 0;
    for (;;) {
      STATOR_ASSIGN_OR_RETURN(const std::vector<Row> rows, next_rows(range));
      if (rows.empty()) break;
      STATOR_RETURN_IF_ERROR(move_rows(space, part, rows, damaged));
      range.begin = rows.back().key + '\0';
    }
    if (damaged > 0) {
      say(LogLevel::kError, std::to_string(damaged) + " rows of " + part.name +
                                " are damaged and were not migrated; run 'stator verify'");
    }
    return {};
  }

  Result<std::vector<Row>> next_rows(const KeyRange& range) const {
    std::vector<Row> rows;
    std::size_t bytes = 0;
    STATOR_RETURN_IF_ERROR(read_range(store_, {.range = range, .expected_rows = kMovedRowsMax},
                                      [&](std::string_view key, std::string_view value) {
                                        rows.push_back({std::string(key), std::string(value)});
                                        bytes += key.size() + value.size();
                                        return rows.size() < kMovedRowsMax &&
                                               bytes < kMovedBytesMax;
                                      }));
    return rows;
  }

  Result<void> move_rows(SpaceId space, const Part& part, const std::vector<Row>& rows,
                         std::size_t& damaged) {
    Batch batch;
    for (const Row& row : rows) {
      const auto key = current_key(space, part, row);
      if (!key) ++damaged;
      if (!key || *key == row.key) continue;
      batch.erase(row.key);
      batch.put(*key, row.value);
      ++rows_;
    }
    if (batch.empty()) return {};
    batch.put(progress_key_, rows.back().key);
    STATOR_RETURN_IF_ERROR(write_or_fail(store_, std::move(batch)));
    if (SteadyClock::now() - reported_ >= kReportInterval) {
      say(LogLevel::kInfo, "migrated " + std::to_string(rows_) + " rows, now in " + part.name);
      reported_ = SteadyClock::now();
    }
    return {};
  }

  TransactStore& store_;
  const JobRunner::Report& report_;
  const std::string progress_key_ = catalog_row_key(CatalogRow::kMigration);
  const std::string position_;  // the last row that an earlier startup moved
  const SteadyClock::time_point started_ = SteadyClock::now();
  SteadyClock::time_point reported_ = started_;
  uint64_t rows_ = 0;
};

// The pins of all records, by space.
Result<std::map<SpaceId, Pins>> pins_of_records(TransactStore& store) {
  std::map<SpaceId, Pins> pins;
  for (const RecordKind kind : {RecordKind::kRestore, RecordKind::kExport}) {
    STATOR_ASSIGN_OR_RETURN(const auto records, Records(store).list(kind));
    for (const auto& [name, record] : records) {
      const auto history = history_of(record);
      if (!history) continue;
      const std::string key = record_key(kind, name);
      pins[history->space].records.emplace(pin_name(key), 0);
      if (history->log == 0) continue;
      pins[history->log].records.emplace(pin_name(key), history->commit_version);
    }
  }
  return pins;
}

// The rows that the commit of the new format writes.
Result<Batch> first_rows(TransactStore& store, uint64_t from, bool begins_moves) {
  Batch batch;
  if (from < kFirstFormatOfPins) {
    STATOR_ASSIGN_OR_RETURN(const auto pins, pins_of_records(store));
    for (const auto& [space, of_space] : pins) put_pins(batch, space, of_space);
  }
  if (begins_moves) batch.put(catalog_row_key(CatalogRow::kMigration), "");
  return batch;
}

}  // namespace

Result<void> migrate_rows(TransactStore& store, const CatalogHeader& header,
                          const JobRunner::Report& report) {
  std::string position;
  STATOR_ASSIGN_OR_RETURN(const bool is_begun,
                          read_value(store, catalog_row_key(CatalogRow::kMigration),
                                     [&](std::string_view value) { position = value; }));
  if (header.format == kCatalogFormat && !is_begun) return {};
  Parts parts;
  if (is_begun || header.format < kFirstFormatOfKeys) {
    STATOR_ASSIGN_OR_RETURN(parts, find_parts(store, header.secret));
  }
  if (header.format < kCatalogFormat) {
    STATOR_ASSIGN_OR_RETURN(const Batch rows,
                            first_rows(store, header.format, !parts.empty() && !is_begun));
    STATOR_RETURN_IF_ERROR(raise_format(store, kCatalogFormat, rows));
  }
  Migration migration(store, report, std::move(position));
  migration.say(LogLevel::kInfo, (is_begun ? "resuming the migration of the data to format "
                                           : "migrating the data to format ") +
                                     std::to_string(kCatalogFormat) +
                                     "; older versions of Stator refuse it from now on");
  return parts.empty() ? Result<void>() : migration.run(parts);
}

}  // namespace stator
