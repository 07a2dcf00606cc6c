// SPDX-License-Identifier: Apache-2.0
#include "engine/catalog/catalog_header.h"

#include <algorithm>
#include <string>

#include "engine/catalog/catalog_commit.h"

namespace stator {
namespace {

constexpr std::size_t kFormatBytes = 4;

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

Result<void> put_catalog_header(Store& store, const CatalogHeader& header) {
  std::string value;
  append_big_endian(value, static_cast<uint32_t>(header.format));
  value.append(header.secret.begin(), header.secret.end());
  STATOR_TRY(const auto transaction, store.begin());
  transaction->put(catalog_row_key(CatalogRow::kHeader), value);
  return commit_or_fail(*transaction);
}

}  // namespace stator
