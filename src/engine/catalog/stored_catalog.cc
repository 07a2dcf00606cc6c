// SPDX-License-Identifier: Apache-2.0
#include "engine/catalog/stored_catalog.h"

#include <utility>

#include "engine/catalog/catalog_codec.h"
#include "engine/catalog/catalog_rows.h"
#include "engine/catalog/job_lease.h"
#include "engine/catalog/records.h"
#include "engine/errors/messages.h"

namespace stator {
namespace {

Failure unknown_row() {
  return fail(Code::kCorruption,
              "unknown row in the catalog; damaged, or written by another version of Stator");
}

Result<uint64_t> decode_version(std::string_view value) {
  if (value.size() != sizeof(uint64_t)) {
    return fail(Code::kCorruption, "a version in the catalog is damaged");
  }
  return read_big_endian(value);
}

Result<void> read_record(std::string_view rest, std::string_view value, StoredCatalog& read) {
  const auto kind = static_cast<RecordKind>(rest[0]);
  if (kind != RecordKind::kRestore) return {};
  STATOR_ASSIGN_OR_RETURN(TableDefinition definition, table_in(decode_item(ItemView(value))));
  read.restoring.push_back(std::move(definition));
  return {};
}

// `rest`: the key after the partition.
Result<void> read_catalog_row(std::string_view rest, std::string_view value, StoredCatalog& read) {
  if (rest.empty()) return unknown_row();
  const std::string_view id = rest.substr(1);
  const bool is_space = id.size() == sizeof(SpaceId);
  const auto space = static_cast<SpaceId>(is_space ? read_big_endian(id) : 0);
  switch (static_cast<CatalogRow>(rest[0])) {
    case CatalogRow::kHeader:
    case CatalogRow::kNextSpace:
      return id.empty() ? Result<void>() : unknown_row();
    case CatalogRow::kMigration:
      return unknown_row();  // migration has ended
    case CatalogRow::kLease:
      return decode_lease(value) ? Result<void>() : unknown_row();
    case CatalogRow::kBackfill:
    case CatalogRow::kPins:
      return is_space ? Result<void>() : unknown_row();
    case CatalogRow::kVersion: {
      if (!is_space && !id.empty()) return unknown_row();
      STATOR_ASSIGN_OR_RETURN((is_space ? read.versions[space] : read.version),
                              decode_version(value));
      return {};
    }
    case CatalogRow::kDropped:
      if (!is_space) return unknown_row();
      read.dropped.push_back(space);
      return {};
    case CatalogRow::kCounters:
      if (!is_space) return unknown_row();
      read.counters.emplace(space, value);
      return {};
    case CatalogRow::kTable: {
      STATOR_ASSIGN_OR_RETURN(TableDefinition definition, decode_table(value));
      read.tables.push_back(std::move(definition));
      return {};
    }
    case CatalogRow::kRecord:
      return is_record(id, value) ? read_record(id, value, read) : unknown_row();
    case CatalogRow::kLog: {
      STATOR_ASSIGN_OR_RETURN(LogDefinition log, decode_log(value));
      const SpaceId of = log.space;
      read.logs.emplace(of, std::make_shared<const LogDefinition>(std::move(log)));
      return {};
    }
  }
  return unknown_row();
}

}  // namespace

Result<StoredCatalog> read_catalog(TransactStore& store) {
  StoredCatalog catalog;
  Result<void> read;
  const std::string begin = catalog_row_key(CatalogRow::kHeader).substr(0, kPartitionBytes);
  STATOR_RETURN_IF_ERROR(read_range(store, {.range = {.begin = begin, .end = prefix_end(begin)}},
                                    [&](std::string_view key, std::string_view value) {
                                      read = read_catalog_row(key.substr(kPartitionBytes), value,
                                                              catalog);
                                      return read.has_value();
                                    }));
  STATOR_RETURN_IF_ERROR(std::move(read));
  return catalog;
}

Result<uint64_t> read_version(const std::optional<std::string>& row) {
  return row ? decode_version(*row) : 0;
}

}  // namespace stator
