// SPDX-License-Identifier: Apache-2.0
#include "engine/catalog/catalog_rows.h"

namespace stator {

std::string catalog_row_key(CatalogRow row, std::string_view rest) {
  std::string key;
  append_big_endian(key, kCatalogSpace);
  key.append(kPartitionBytes - key.size(), '\0');
  key.push_back(static_cast<char>(row));
  key.append(rest);
  return key;
}

std::string catalog_row_key(CatalogRow row, SpaceId space) {
  std::string id;
  append_big_endian(id, space);
  return catalog_row_key(row, id);
}

}  // namespace stator
