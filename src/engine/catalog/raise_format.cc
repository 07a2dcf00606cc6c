// SPDX-License-Identifier: Apache-2.0
#include "engine/catalog/raise_format.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/catalog/catalog_change.h"
#include "engine/catalog/catalog_header.h"
#include "engine/errors/messages.h"

namespace stator {
namespace {

constexpr std::size_t kTablesAtOnce = 4000;  // PostgreSQL limits the keys of a commit

struct CatalogKeys {
  uint64_t version = 0;
  std::vector<std::string> tables;  // keys of their versions
  std::vector<std::string> leases;  // keys
};

// Returns the keys of the rows that have more than the letter.
Result<std::vector<std::string>> keys_of(TransactStore& store, CatalogRow row) {
  const std::string letter = catalog_row_key(row);
  std::vector<std::string> keys;
  STATOR_RETURN_IF_ERROR(read_range(store,
                                    {.range = {.begin = letter + '\0', .end = prefix_end(letter)}},
                                    [&](std::string_view key, std::string_view) {
                                      keys.emplace_back(key);
                                      return true;
                                    }));
  return keys;
}

Result<uint64_t> read_catalog_version(TransactStore& store) {
  std::optional<std::string> version;
  STATOR_RETURN_IF_ERROR(read_value(store, catalog_row_key(CatalogRow::kVersion),
                                    [&](std::string_view value) { version = value; }));
  return read_version(version);
}

// The version comes first: if a commit finds it unchanged, the tables are unchanged too.
Result<CatalogKeys> read_keys(TransactStore& store) {
  CatalogKeys catalog;
  STATOR_ASSIGN_OR_RETURN(catalog.version, read_catalog_version(store));
  STATOR_ASSIGN_OR_RETURN(catalog.tables, keys_of(store, CatalogRow::kVersion));
  STATOR_ASSIGN_OR_RETURN(catalog.leases, keys_of(store, CatalogRow::kLease));
  return catalog;
}

void free_lease(const std::string& key, const std::optional<std::string>& row, Batch& batch) {
  if (!row) return;
  auto lease = decode_lease(*row);
  if (!lease) return;
  lease->holder = LeaseRow().holder;
  batch.put(key, encode_lease(*lease));
}

// Returns false if another server has raised the format.
Result<bool> raise(TransactStore& store, uint64_t format, const Batch& more,
                   const CatalogKeys& catalog) {
  std::vector<std::string> keys = catalog.leases;
  const std::string header_key = catalog_row_key(CatalogRow::kHeader);
  keys.push_back(header_key);
  const auto plan = [&](GuardedRows rows, Batch& batch) -> Result<bool> {
    STATOR_ASSIGN_OR_RETURN(CatalogHeader header, read_catalog_header(rows.back().value_or("")));
    if (header.format >= format) return false;
    header.format = format;
    batch = more;
    batch.put(header_key, encode_catalog_header(header));
    for (std::size_t i = 0; i < std::min(catalog.tables.size(), kTablesAtOnce); ++i) {
      batch.put_schema_version(catalog.tables[i], catalog.version + 1);
    }
    for (std::size_t i = 0; i < catalog.leases.size(); ++i) {
      free_lease(catalog.leases[i], rows[i], batch);
    }
    return true;
  };
  return commit_catalog(store, catalog.version, std::move(keys), plan);
}

// Gives the tables that still exist new versions. The catalog gets one too, as another server of
// the newer format can have loaded these tables.
Result<void> change_versions(TransactStore& store, std::span<const std::string> tables) {
  STATOR_ASSIGN_OR_RETURN(const uint64_t version, read_catalog_version(store));
  return commit_catalog(store, version, {tables.begin(), tables.end()},
                        [&](GuardedRows rows, Batch& batch) -> Result<void> {
                          for (std::size_t i = 0; i < tables.size(); ++i) {
                            if (rows[i]) batch.put_schema_version(tables[i], version + 1);
                          }
                          return {};
                        });
}

// Frees also those that were acquired after raise() read the keys.
Result<void> free_leases(TransactStore& store) {
  STATOR_ASSIGN_OR_RETURN(const auto keys, keys_of(store, CatalogRow::kLease));
  return commit_change(store, keys, [&](GuardedRows rows, Batch& batch) -> Result<void> {
    for (std::size_t i = 0; i < keys.size(); ++i) free_lease(keys[i], rows[i], batch);
    return {};
  });
}

// Calls `attempt` until the catalog does not change in between.
template <class Attempt>
Result<void> repeated(Attempt attempt) {
  constexpr int kAttemptsMax = 20;
  for (int i = 0; i < kAttemptsMax; ++i) {
    Result<void> done = attempt();
    if (done || done.error().code != kBehind) return done;
  }
  return fail(Code::kThrottling, messages::kTooBusy);
}

}  // namespace

Result<void> raise_format(TransactStore& store, uint64_t format, const Batch& more) {
  CatalogKeys catalog;
  bool is_raised = false;
  STATOR_RETURN_IF_ERROR(repeated([&]() -> Result<void> {
    STATOR_ASSIGN_OR_RETURN(catalog, read_keys(store));
    STATOR_ASSIGN_OR_RETURN(is_raised, raise(store, format, more, catalog));
    return {};
  }));
  if (!is_raised) return {};
  std::span<const std::string> left = catalog.tables;
  for (left = left.subspan(std::min(left.size(), kTablesAtOnce)); !left.empty();) {
    const auto now = left.first(std::min(left.size(), kTablesAtOnce));
    STATOR_RETURN_IF_ERROR(repeated([&] { return change_versions(store, now); }));
    left = left.subspan(now.size());
  }
  return free_leases(store);
}

}  // namespace stator
