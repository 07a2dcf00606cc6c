// SPDX-License-Identifier: Apache-2.0
// Each change that this reads bumps the catalog's version. So parts that were read one after the
// other are of one state if each of them came with the same version.
#include "engine/catalog/stored_catalog.h"

#include <utility>

#include "api/admin/document.h"
#include "engine/catalog/catalog_codec.h"
#include "engine/catalog/catalog_rows.h"
#include "engine/catalog/records.h"
#include "engine/errors/messages.h"

namespace stator {
namespace {

constexpr int kReadsMax = 20;

Failure unknown_row() {
  return fail(Code::kCorruption,
              "unknown row in the catalog; damaged, or written by another version of Stator");
}

Result<void> read_record(std::string_view rest, std::string_view value, StoredCatalog& read) {
  const auto kind = static_cast<RecordKind>(rest[0]);
  if (kind == RecordKind::kSettings) return {};
  const Item record = decode_item(ItemView(value));
  if (const auto history = history_of(record)) read.held.push_back(*history);
  if (kind != RecordKind::kRestore) return {};
  STATOR_ASSIGN_OR_RETURN(TableDefinition definition, table_in(record));
  read.restoring.push_back(std::move(definition));
  return {};
}

// `rest` is the key behind the partition.
Result<void> read_catalog_row(std::string_view rest, const StoredRow& row, StoredCatalog& read) {
  if (rest.empty()) return unknown_row();
  const std::string_view id = rest.substr(1);
  const bool is_space = id.size() == sizeof(SpaceId);
  const auto space = static_cast<SpaceId>(is_space ? read_big_endian(id) : 0);
  switch (static_cast<CatalogRow>(rest[0])) {
    case CatalogRow::kHeader:
    case CatalogRow::kNextSpace:
      return id.empty() ? Result<void>() : unknown_row();
    case CatalogRow::kBackfill:
      return is_space ? Result<void>() : unknown_row();
    case CatalogRow::kVersion: {
      if (!is_space) return id.empty() ? Result<void>() : unknown_row();
      STATOR_ASSIGN_OR_RETURN(read.versions[space], read_version(row.value));
      return {};
    }
    case CatalogRow::kDropped:
      if (!is_space) return unknown_row();
      read.dropped.push_back(space);
      return {};
    case CatalogRow::kCounters:
      if (!is_space) return unknown_row();
      read.counters.emplace(space, row.value);
      return {};
    case CatalogRow::kTable: {
      STATOR_ASSIGN_OR_RETURN(TableDefinition definition, decode_table(row.value));
      read.tables.push_back(std::move(definition));
      return {};
    }
    case CatalogRow::kRecord:
      return is_record(id, row.value) ? read_record(id, row.value, read) : unknown_row();
    case CatalogRow::kLog: {
      STATOR_ASSIGN_OR_RETURN(LogDefinition log, decode_log(row.value));
      const SpaceId of = log.space;
      read.logs.emplace(of, std::make_shared<const LogDefinition>(std::move(log)));
      return {};
    }
  }
  return unknown_row();
}

// Absent if the catalog changed in between.
Result<std::optional<StoredCatalog>> try_to_read(TransactStore& store) {
  StoredCatalog read;
  const std::string version_key = catalog_row_key(CatalogRow::kVersion);
  const std::string begin = version_key.substr(0, kPartitionBytes);
  std::vector<RangeRead> left = {{.range = {.begin = begin, .end = prefix_end(begin)}}};
  for (bool is_first = true; !left.empty(); is_first = false) {
    STATOR_ASSIGN_OR_RETURN(
        ReadResult part,
        read_and_wait(
            store, {.keys = {version_key}, .ranges = std::exchange(left, {}), .one_state = true}));
    STATOR_ASSIGN_OR_RETURN(const uint64_t version, read_version(part.values[0]));
    if (!is_first && version != read.version) return std::optional<StoredCatalog>();
    read.version = version;
    for (const StoredRow& row : part.ranges[0]) {
      STATOR_RETURN_IF_ERROR(
          read_catalog_row(std::string_view(row.key).substr(kPartitionBytes), row, read));
    }
    if (part.rest) left = std::move(part.rest->ranges);
  }
  return std::optional(std::move(read));
}

}  // namespace

std::optional<HeldHistory> history_of(const Item& record) {
  if (!record.contains("Log")) return std::nullopt;
  return HeldHistory{.space = static_cast<SpaceId>(integer_of(record, "From")),
                     .log = static_cast<SpaceId>(integer_of(record, "Log")),
                     .commit_version = static_cast<uint64_t>(integer_of(record, "Stamp"))};
}

Result<StoredCatalog> read_catalog(TransactStore& store) {
  for (int attempt = 0; attempt < kReadsMax; ++attempt) {
    STATOR_ASSIGN_OR_RETURN(auto read, try_to_read(store));
    if (read) return std::move(*read);
  }
  return fail(Code::kThrottling, messages::kTooBusy);
}

Result<uint64_t> read_version(const std::optional<std::string>& row) {
  if (!row) return 0;
  if (row->size() != sizeof(uint64_t)) {
    return fail(Code::kCorruption, "a version in the catalog is damaged");
  }
  return read_big_endian(*row);
}

Result<std::optional<std::string>> read_row(TransactStore& store, std::string key) {
  STATOR_ASSIGN_OR_RETURN(ReadResult read, read_and_wait(store, {.keys = {std::move(key)}}));
  return std::move(read.values[0]);
}

}  // namespace stator
