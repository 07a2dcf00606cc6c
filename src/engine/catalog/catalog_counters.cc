// SPDX-License-Identifier: Apache-2.0
// Item and byte counts of the tables' spaces, in the catalog rows `c`.
//
// Several processes add to one row: each adds what it has counted since it last read the row, so
// none overwrites the counts of another one. A row is written with its space, or by the first
// process that has counted the whole space. A process that reads a row for the first time replaces
// its own counters by the row: the count that the row comes from includes most of its writes. A
// process that ends without saving loses the counts that it has not added yet. So the rows are
// approximate, and remain so until the table is dropped.
//
// A store of one process has the rows only between a clean shutdown and the next startup, which
// erases them. So after a crash there are none, and DescribeTable starts a count.
#include <utility>

#include "engine/catalog/catalog.h"
#include "engine/catalog/catalog_change.h"
#include "engine/catalog/catalog_rows.h"

namespace stator {
namespace {

using Totals = Counters::Totals;

constexpr std::size_t kTotalsBytes = 16;
constexpr std::size_t kTablesAtOnce = 64;  // in one transaction

std::string encode_totals(const Totals& totals) {
  std::string value;
  append_big_endian(value, static_cast<uint64_t>(totals.items));
  append_big_endian(value, static_cast<uint64_t>(totals.bytes));
  return value;
}

// Returns no value if the row is absent or damaged.
std::optional<Totals> decode_totals(const std::optional<std::string>& row) {
  if (!row || row->size() != kTotalsBytes) return std::nullopt;
  const std::string_view value = *row;
  return Totals{.items = static_cast<int64_t>(read_big_endian(value.substr(0, 8))),
                .bytes = static_cast<int64_t>(read_big_endian(value.substr(8)))};
}

// The counters of one space, and its row.
struct CounterPart {
  Counters* counters = nullptr;
  bool is_complete = false;        // the counters include all rows of the space
  Counters::Kept kept = {};        // at the start of the transaction
  std::optional<Totals> row = {};  // after the transaction
};

// Returns the new value of the row. `row` is the current value.
std::optional<Totals> row_after(const CounterPart& part, const std::optional<Totals>& row) {
  if (!row) return part.is_complete ? std::optional(part.kept.totals) : std::nullopt;
  if (!part.kept.stored) return row;
  Totals sum = *row;
  sum += part.kept.totals;
  sum -= *part.kept.stored;
  return sum;
}

}  // namespace

void Catalog::load_counters(const Table& table, const std::map<SpaceId, std::string>& rows) {
  const std::vector<SpaceId> spaces = table.spaces();
  bool complete = true;
  for (std::size_t i = 0; i < spaces.size(); ++i) {
    const Counters::Kept kept = table.counters(i).kept();
    if (kept.stored) continue;
    const auto found = rows.find(spaces[i]);
    const auto row = found == rows.end() ? std::nullopt : decode_totals(found->second);
    if (row) table.counters(i).set_stored(kept, *row);
    complete = complete && row;
  }
  if (complete) table.count_state()->is_needed = false;
}

// Erases the rows before the first write. After a crash they are absent, not stale.
Result<void> Catalog::take_counters(const std::map<SpaceId, std::string>& rows) {
  if (is_shared_ || rows.empty()) return {};
  Batch batch;
  for (const auto& [space, value] : rows) {
    batch.erase(catalog_row_key(CatalogRow::kCounters, space));
  }
  return write_or_fail(store_, std::move(batch));
}

// Writes rows of zeros for new spaces. So every process, including the first, adds to a row.
void Catalog::begin_counters(const std::vector<SpaceId>& spaces, Batch& batch) const {
  if (!is_shared_) return;
  for (const SpaceId space : spaces) {
    batch.put(catalog_row_key(CatalogRow::kCounters, space), encode_totals({}));
  }
}

void Catalog::counters_begun(const Table& table, const std::vector<SpaceId>& spaces) const {
  if (!is_shared_) return;
  std::map<SpaceId, std::string> rows;
  for (const SpaceId space : spaces) rows.emplace(space, encode_totals({}));
  load_counters(table, rows);
}

void Catalog::share_counters() {
  if (is_shared_) save_counters();
}

void Catalog::save_counters() {
  const std::lock_guard lock(saving_counters_);
  std::vector<TablePtr> tables;
  const auto current = snapshot();
  for (const auto& [name, table] : current->tables) {
    tables.push_back(table);
    if (tables.size() < kTablesAtOnce) continue;
    save_counters(tables);
    tables.clear();
  }
  save_counters(tables);
}

// Counts that could not be saved remain in memory for the next call.
void Catalog::save_counters(std::span<const TablePtr> tables) {
  std::vector<CounterPart> parts;
  std::vector<std::string> keys;
  std::vector<SchemaVersion> expected;
  for (const TablePtr& table : tables) {
    const std::vector<SpaceId> spaces = table->spaces();
    const auto schema = table->schema();
    expected.insert(expected.end(), schema.begin(), schema.end());
    for (std::size_t i = 0; i < spaces.size(); ++i) {
      keys.push_back(catalog_row_key(CatalogRow::kCounters, spaces[i]));
      parts.push_back({.counters = &table->counters(i),
                       .is_complete = !table->needs_count(),
                       .kept = table->counters(i).kept()});
    }
  }
  if (parts.empty()) return;
  const auto decide = [&](GuardedRows rows) {
    Batch batch;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto row = decode_totals(rows[i]);
      parts[i].row = row_after(parts[i], row);
      if (parts[i].row && parts[i].row != row) batch.put(keys[i], encode_totals(*parts[i].row));
    }
    return batch;
  };
  const auto outcome = transact_and_wait(store_, keys, decide, expected).outcome;
  // After an unknown outcome, losing counts is better than adding them twice.
  if (outcome != CommitOutcome::kCommitted && outcome != CommitOutcome::kUnknown) return;
  for (const CounterPart& part : parts) {
    if (part.row) part.counters->set_stored(part.kept, *part.row);
  }
  for (const TablePtr& table : tables) load_counters(*table, {});
}

}  // namespace stator
