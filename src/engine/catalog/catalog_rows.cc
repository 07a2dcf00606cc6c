// SPDX-License-Identifier: Apache-2.0
#include "engine/catalog/catalog_rows.h"

namespace stator {

std::string catalogue_row_key(CatalogueRow row, std::string_view rest) {
  std::string key;
  append_big_endian(key, kCatalogueSpace);
  key.append(kPartitionBytes - key.size(), '\0');
  key.push_back(static_cast<char>(row));
  key.append(rest);
  return key;
}

std::string catalogue_row_key(CatalogueRow row, SpaceId space) {
  std::string id;
  append_big_endian(id, space);
  return catalogue_row_key(row, id);
}

}  // namespace stator
