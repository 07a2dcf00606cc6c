// SPDX-License-Identifier: Apache-2.0
#include "engine/catalog/catalog_header.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/random.h"
#include "engine/catalog/catalog_commit.h"
#include "engine/catalog/stored_catalog.h"

namespace stator {
namespace {

constexpr std::size_t kFormatBytes = 4;

Result<bool> is_empty(TransactStore& store) {
  bool empty = true;
  STATOR_RETURN_IF_ERROR(
      read_range(store, {.range = {}, .expected_rows = 1}, [&](std::string_view, std::string_view) {
        empty = false;
        return false;
      }));
  return empty;
}

}  // namespace

Result<CatalogHeader> read_catalog_header(std::string_view value) {
  CatalogHeader header;
  if (value.size() != kFormatBytes + header.secret.size()) {
    return fail(Code::kCorruption, "the catalog's header is damaged");
  }
  header.format = read_big_endian(value.substr(0, kFormatBytes));
  if (header.format < kOldestFormat || header.format > kCatalogFormat) {
    return fail(Code::kCorruption, "the data has format " + std::to_string(header.format) +
                                       "; this version of Stator reads formats " +
                                       std::to_string(kOldestFormat) + " to " +
                                       std::to_string(kCatalogFormat));
  }
  std::ranges::copy(value.substr(kFormatBytes), header.secret.begin());
  return header;
}

std::string encode_catalog_header(const CatalogHeader& header) {
  std::string value;
  append_big_endian(value, static_cast<uint32_t>(header.format));
  value.append(header.secret.begin(), header.secret.end());
  return value;
}

Result<CatalogHeader> open_catalog_header(TransactStore& store) {
  const std::array<std::string, 1> keys = {catalog_row_key(CatalogRow::kHeader)};
  std::string stored;
  STATOR_ASSIGN_OR_RETURN(const bool found, read_value(store, keys[0], [&](std::string_view value) {
                            stored = value;
                          }));
  if (found) return read_catalog_header(stored);

  STATOR_ASSIGN_OR_RETURN(const bool empty, is_empty(store));
  CatalogHeader fresh{.format = kCatalogFormat};
  std::ranges::copy(random_bytes(fresh.secret.size()), fresh.secret.begin());
  return commit_change(store, keys, [&](GuardedRows rows, Batch& batch) -> Result<CatalogHeader> {
    if (rows[0]) return read_catalog_header(*rows[0]);
    if (!empty) return fail(Code::kCorruption, "the data has rows, but no catalog header");
    batch.put(keys[0], encode_catalog_header(fresh));
    return fresh;
  });
}

}  // namespace stator
