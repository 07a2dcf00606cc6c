// SPDX-License-Identifier: Apache-2.0
// The catalog's header: the format of all that the engine stores, and the secret of its hashes.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/catalog/catalog_rows.h"
#include "storage/store.h"

namespace stator {

struct CatalogHeader {
  uint64_t format = 0;
  Hash128 secret = {};
};

// kCorruption for damaged bytes, and for a format that this version of Stator does not read.
Result<CatalogHeader> read_catalog_header(std::string_view value);
// In one commit, which is all that a migration to the next format needs so far. The store's errors.
Result<void> put_catalog_header(Store& store, const CatalogHeader& header);

}  // namespace stator
